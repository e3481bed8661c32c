"""Decision rules: which relations a pair's scores state.

Scores are [P, K + 1] with the none class f_0 in column 0; a decision is bool [P, K].
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Decision(Protocol):
    """A rule from scores to decisions; small, immutable, and saved with the model by its name."""

    name: ClassVar[str]

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; `decision_from_json` reads it."""
        ...


@dataclass(frozen=True, slots=True)
class NoneClass:
    """A relation holds where its score is above the none class: f_i > f_0. The rule of the ranking losses.

    Example:
        >>> NoneClass()(torch.tensor([[0.5, 0.7, 0.1]]))
        tensor([[ True, False]])
    """

    name: ClassVar[str] = "none-class"

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        return scores[:, 1:] > scores[:, :1]

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name}


@dataclass(frozen=True, slots=True)
class Fixed:
    """A relation holds where its score is above a threshold: f_i > t. The rule of the losses without ranking.

    Args:
        threshold: one for all relations, or one for each (a tuple of K, as `tune_thresholds` gives it).

    Example:
        >>> scores = torch.tensor([[0.0, 0.7, 0.1]])
        >>> Fixed()(scores), Fixed((0.9, 0.0))(scores)
        (tensor([[True, True]]), tensor([[False,  True]]))
    """

    name: ClassVar[str] = "fixed"
    threshold: float | tuple[float, ...] = 0.0

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        if not isinstance(self.threshold, tuple):
            return scores[:, 1:] > self.threshold
        relations = scores.shape[1] - 1
        if len(self.threshold) != relations:
            raise ValueError(
                f"found {len(self.threshold)} thresholds, expected one for each of {relations} relations"
            )
        return scores[:, 1:] > torch.tensor(self.threshold, dtype=scores.dtype).to(
            scores.device, non_blocking=True
        )

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name, **asdict(self)}


@dataclass(frozen=True, slots=True)
class TopK:
    """A relation holds where it is above the none class and among the pair's `k` highest. ATLOP's rule.

    Example:
        >>> TopK(k=1)(torch.tensor([[0.0, 0.7, 0.9]]))
        tensor([[False,  True]])
    """

    name: ClassVar[str] = "top-k"
    k: int = 4

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"found k = {self.k}, expected at least 1")

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]. Ties at the k-th place are all kept."""
        relations = scores[:, 1:]
        lowest = relations.topk(min(self.k, relations.shape[1]), dim=1).values[:, -1:]
        return (relations >= lowest) & (relations > scores[:, :1])

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name, **asdict(self)}


DECISIONS: dict[str, Callable[..., Decision]] = {
    NoneClass.name: NoneClass,
    Fixed.name: Fixed,
    TopK.name: TopK,
}
"""Every decision rule by its name in configurations."""

DECISION_OF_RISK: dict[str, Decision] = {
    "none-class": NoneClass(),
    "zero": Fixed(0.0),
    "top-k": TopK(),
}
"""The rule that belongs to a risk, by the name that the risk gives it."""


def decision_from_json(value: Mapping[str, Any]) -> Decision:
    """The decision rule that `to_json` wrote.

    Example:
        >>> decision_from_json({"rule": "top-k", "k": 2})
        TopK(k=2)
    """
    settings = dict(value)
    name = settings.pop("rule", None)
    if name not in DECISIONS:
        raise ValueError(f"found decision rule {name!r}, expected one of {', '.join(map(repr, DECISIONS))}")
    if isinstance(settings.get("threshold"), list):
        settings["threshold"] = tuple(settings["threshold"])
    try:
        return DECISIONS[name](**settings)
    except TypeError as error:
        raise ValueError(f"decision rule {name!r}: {error}") from None
