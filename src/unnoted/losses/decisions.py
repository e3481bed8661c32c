"""Decision rules: which relations are predicted for a pair, given its scores.

Scores are [P, K + 1] with the none class f_0 in column 0; a decision is bool [P, K].
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor


class Decision(Protocol):
    """A rule from scores to decisions; small, immutable, and saved with the model by its name.

    Attributes:
        name: of the rule in a saved model.
        reads_none_class: whether the score of the none class means anything under this rule.
        is_tunable: whether thresholds tuned on development documents can take its place.
        limit: how many relations of a pair are predicted at most; None for any number.
    """

    name: ClassVar[str]
    reads_none_class: ClassVar[bool]
    is_tunable: ClassVar[bool]

    @property
    def limit(self) -> int | None:
        """How many relations of a pair are predicted at most."""
        ...

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        ...

    def margins(self, scores: Tensor) -> Tensor:
        """How far each score [P, K] lies above what the rule asks of it."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; `decision_from_json` reads it."""
        ...


def logits_above_threshold_class(scores: Tensor) -> Tensor:
    """How far each relation scores above the none class, [P, K + 1] to [P, K]."""
    return scores[:, 1:] - scores[:, :1]


@dataclass(frozen=True, slots=True)
class NoneClass:
    """A relation is predicted where it scores above the none class, f_i > f_0: the rule of ranking losses.

    Example:
        >>> NoneClass()(torch.tensor([[0.5, 0.7, 0.1]]))
        tensor([[ True, False]])
    """

    name: ClassVar[str] = "none-class"
    reads_none_class: ClassVar[bool] = True
    is_tunable: ClassVar[bool] = False
    limit: ClassVar[int | None] = None

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        return scores[:, 1:] > scores[:, :1]

    def margins(self, scores: Tensor) -> Tensor:
        """f_i - f_0, [P, K]."""
        return logits_above_threshold_class(scores)

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name}


@dataclass(frozen=True, slots=True)
class Fixed:
    """A relation is predicted where it scores above a threshold, f_i > t: the rule of losses without ranking.

    Args:
        threshold: one for all relations, or one for each (a tuple of K, as `tune_thresholds` gives it).

    Example:
        >>> scores = torch.tensor([[0.0, 0.7, 0.1]])
        >>> Fixed()(scores), Fixed((0.9, 0.0))(scores)
        (tensor([[True, True]]), tensor([[False,  True]]))
    """

    name: ClassVar[str] = "fixed"
    reads_none_class: ClassVar[bool] = False
    is_tunable: ClassVar[bool] = True
    limit: ClassVar[int | None] = None
    threshold: float | tuple[float, ...] = 0.0

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]."""
        return scores[:, 1:] > self._thresholds(scores)

    def margins(self, scores: Tensor) -> Tensor:
        """f_i - t, [P, K]."""
        return scores[:, 1:] - self._thresholds(scores)

    def _thresholds(self, scores: Tensor) -> Tensor | float:
        """The threshold, or [K] of them."""
        if not isinstance(self.threshold, tuple):
            return self.threshold
        relations = scores.shape[1] - 1
        if len(self.threshold) != relations:
            raise ValueError(
                f"found {len(self.threshold)} thresholds, expected one for each of {relations} relations"
            )
        return torch.tensor(self.threshold, dtype=scores.dtype).to(scores.device, non_blocking=True)

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name, **asdict(self)}


@dataclass(frozen=True, slots=True)
class TopK:
    """A relation is predicted where it is above the none class and among the pair's `k` best: ATLOP's rule.

    Example:
        >>> TopK(k=1)(torch.tensor([[0.0, 0.7, 0.9]]))
        tensor([[False,  True]])
    """

    name: ClassVar[str] = "top-k"
    reads_none_class: ClassVar[bool] = True
    is_tunable: ClassVar[bool] = False
    k: int = 4

    def __post_init__(self) -> None:
        _check_limit(self.k)

    @property
    def limit(self) -> int:
        """`k`."""
        return self.k

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]. Ties at the k-th place are all kept."""
        # A relation above the none class is among the k best relations if it is among the k best classes.
        return _among_best(scores, self.k) & NoneClass()(scores)

    def margins(self, scores: Tensor) -> Tensor:
        """f_i - f_0, [P, K]."""
        return logits_above_threshold_class(scores)

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name, **asdict(self)}


@dataclass(frozen=True, slots=True)
class FixedTopK:
    """A relation is predicted where it is above a threshold and among the pair's `k` best: DocuNet's rule.

    The none class, which DocuNet trains as one more label, is one of the classes that are ranked.

    Args:
        threshold: one for all relations, or one for each (a tuple of K).
        k: how many classes of a pair are kept at most.

    Example:
        >>> FixedTopK(k=2)(torch.tensor([[0.5, 0.7, 0.9, 0.1], [-0.5, 0.7, -0.9, 0.1]]))
        tensor([[ True,  True, False],
                [ True, False,  True]])
    """

    name: ClassVar[str] = "fixed-top-k"
    reads_none_class: ClassVar[bool] = True
    is_tunable: ClassVar[bool] = True
    threshold: float | tuple[float, ...] = 0.0
    k: int = 4

    def __post_init__(self) -> None:
        _check_limit(self.k)

    @property
    def limit(self) -> int:
        """`k`."""
        return self.k

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]. Ties at the k-th place are all kept."""
        return _among_best(scores, self.k) & Fixed(self.threshold)(scores)

    def margins(self, scores: Tensor) -> Tensor:
        """f_i - t, [P, K]."""
        return Fixed(self.threshold).margins(scores)

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": self.name, **asdict(self)}


def with_thresholds(rule: Decision, thresholds: tuple[float, ...]) -> Decision:
    """A tunable rule with a threshold for each relation; a limit of relations for each pair stays.

    Example:
        >>> with_thresholds(Fixed(), (0.5, 1.0)), with_thresholds(FixedTopK(k=3), (0.5, 1.0))
        (Fixed(threshold=(0.5, 1.0)), FixedTopK(threshold=(0.5, 1.0), k=3))
    """
    return replace(rule, threshold=thresholds) if isinstance(rule, FixedTopK) else Fixed(thresholds)


def _check_limit(k: int) -> None:
    if k < 1:
        raise ValueError(f"found k = {k}, expected at least 1")


def _among_best(scores: Tensor, k: int) -> Tensor:
    """Which relations are among the k best classes of their pair, [P, K + 1] to bool [P, K]."""
    lowest = scores.topk(min(k, scores.shape[1]), dim=1).values[:, -1:]
    return scores[:, 1:] >= lowest


DECISIONS: dict[str, Callable[..., Decision]] = {
    NoneClass.name: NoneClass,
    Fixed.name: Fixed,
    TopK.name: TopK,
    FixedTopK.name: FixedTopK,
}
"""Every decision rule by its name in saved models."""


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
