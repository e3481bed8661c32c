"""For each relation a curve from margin to probability: straight lines between knots, in log odds.

Each curve rises strictly, also beyond its ends. So a relation's facts have the same order by probability as
by margin, and no two of different margins are tied.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class ProbabilityCurves:
    """K curves of R knots each; small, immutable, and saved with the model.

    Args:
        margins: K × R, where the knots are; rising.
        log_odds: K × R, the log odds of the probability there; rising.

    Raises:
        ValueError: the two differ in shape, a curve has less than two knots, or does not rise.

    Example:
        >>> curves = ProbabilityCurves(((-1.0, 1.0),), ((-2.0, 2.0),))
        >>> curves.probabilities(torch.tensor([[0.0], [0.5]]))
        tensor([[0.5000],
                [0.7311]])
        >>> curves.margins_at(0.5)
        (0.0,)
    """

    margins: tuple[tuple[float, ...], ...]
    log_odds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        margins, log_odds = self._arrays()
        if margins.shape != log_odds.shape or margins.ndim != 2 or margins.shape[1] < 2:
            found = f"{list(margins.shape)} margins and {list(log_odds.shape)} log odds"
            raise ValueError(
                f"calibration: found {found}, expected both as [relations, knots], 2 knots or more"
            )
        rising = all((np.diff(values, axis=1) > 0).all() for values in (margins, log_odds))
        if not (rising and np.isfinite(margins).all() and np.isfinite(log_odds).all()):
            raise ValueError("calibration: found knots that do not rise, expected finite, rising numbers")

    @property
    def relations(self) -> int:
        """How many curves there are (K)."""
        return len(self.margins)

    def logits(self, margins: Tensor) -> Tensor:
        """The log odds of each relation, [P, K], from margins [P, K]."""
        if margins.ndim != 2 or margins.shape[1] != self.relations:
            raise ValueError(
                f"found margins {list(margins.shape)}, expected [pairs, {self.relations}], as calibrated"
            )
        raised = margins.float() if margins.element_size() < 4 else margins
        x, y = (
            torch.tensor(each, dtype=raised.dtype, device=raised.device)
            for each in (self.margins, self.log_odds)
        )
        slope = y.diff(dim=1) / x.diff(dim=1)  # [K, R - 1]
        by_relation = raised.T.contiguous()  # [K, P]
        # The lines at both ends go on: only the knots between them part one line from the next.
        line = torch.searchsorted(x[:, 1:-1].contiguous(), by_relation)  # [K, P], 0 to R - 2
        start, height = x.gather(1, line), y.gather(1, line)
        return (height + slope.gather(1, line) * (by_relation - start)).T

    def probabilities(self, margins: Tensor) -> Tensor:
        """The probability of each relation, [P, K], from margins [P, K]."""
        return self.logits(margins).sigmoid()

    def margins_at(self, probability: float) -> tuple[float, ...]:
        """The margin at which each curve reaches a probability, [K].

        Raises:
            ValueError: the probability is not between 0 and 1.
        """
        if not 0 < probability < 1:
            raise ValueError(f"line: found {probability}, expected a probability between 0 and 1")
        wanted = float(np.log(probability) - np.log1p(-probability))
        x, y = self._arrays()
        line = np.minimum((y[:, 1:-1] < wanted).sum(1), y.shape[1] - 2)  # [K], 0 to R - 2
        rows = np.arange(len(x))
        slope = (x[rows, line + 1] - x[rows, line]) / (y[rows, line + 1] - y[rows, line])
        return tuple((x[rows, line] + slope * (wanted - y[rows, line])).tolist())

    def to_json(self) -> dict[str, Any]:
        """The curves as JSON; `from_json` reads it."""
        return {name: [list(row) for row in getattr(self, name)] for name in ("margins", "log_odds")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ProbabilityCurves":
        """What `to_json` wrote."""
        return cls(
            *(tuple(tuple(map(float, row)) for row in value[name]) for name in ("margins", "log_odds"))
        )

    def _arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.margins, dtype=np.float64), np.array(self.log_odds, dtype=np.float64)
