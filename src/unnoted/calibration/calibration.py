"""A calibration: from decision margins to probabilities, with the decision threshold; saved with the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unnoted.calibration.expected_metrics import ExpectedFacts


@dataclass(frozen=True, slots=True)
class Calibration:
    """One rising, piecewise-linear curve from decision margins to log odds, for all relations.

    The curve rises strictly, also beyond its ends, so that probabilities have the order of the margins and no
    new ties.

    Args:
        margins: of the R knots, rising.
        log_odds: at the knots, rising.
        expected: what decision thresholds are expected to give in documents like those it was fitted on.
        threshold: facts above this probability are predicted.
        propensity_slope: s of the labelling propensity (`calibration.propensity`) that the labels were fitted with.

    Example:
        >>> expected = ExpectedFacts.from_probabilities(np.array([0.9, 0.6, 0.1]), np.ones(3), pairs=10)
        >>> calibration = Calibration((-1.0, 1.0), (-2.0, 2.0), expected, threshold=0.5)
        >>> calibration.probabilities(torch.tensor([0.0, 0.5]))
        tensor([0.5000, 0.7311])
        >>> calibration.margin_at(0.5)
        0.0
    """

    margins: tuple[float, ...]
    log_odds: tuple[float, ...]
    expected: ExpectedFacts
    threshold: float
    propensity_slope: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ValueError(f"decision_threshold must lie between 0 and 1, not at {self.threshold}")
        margins, log_odds = (np.array(values) for values in (self.margins, self.log_odds))
        if margins.shape != log_odds.shape or len(margins) < 2:
            raise ValueError(f"a curve needs two knots or more; these are {self.margins} and {self.log_odds}")
        if not ((np.diff(margins) > 0).all() and (np.diff(log_odds) > 0).all()):
            raise ValueError("the knots of a calibration curve must rise")

    def curve(self, margins: Tensor) -> Tensor:
        """Log odds of margins, of any shape."""
        x, y = (
            torch.tensor(v, dtype=margins.dtype, device=margins.device) for v in (self.margins, self.log_odds)
        )
        piece = torch.searchsorted(x[1:-1].contiguous(), margins.contiguous())
        return y[piece] + (y.diff() / x.diff())[piece] * (margins - x[piece])

    def probabilities(self, margins: Tensor) -> Tensor:
        """Calibrated probabilities of margins, of any shape."""
        return self.curve(margins).sigmoid()

    def margin_at(self, probability: float) -> float:
        """The margin whose calibrated probability is this one."""
        if not 0 < probability < 1:
            raise ValueError(f"a probability must lie between 0 and 1, not at {probability}")
        wanted = float(np.log(probability) - np.log1p(-probability))
        x, y = np.array(self.margins), np.array(self.log_odds)
        piece = int(np.searchsorted(y[1:-1], wanted))
        return float(x[piece] + (x[piece + 1] - x[piece]) / (y[piece + 1] - y[piece]) * (wanted - y[piece]))

    @property
    def margin_threshold(self) -> float:
        """The margin above which facts are predicted."""
        return self.margin_at(self.threshold)

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON; `from_json` reads it."""
        return {
            "margins": list(self.margins),
            "log_odds": list(self.log_odds),
            "expected": self.expected.to_json(),
            "threshold": self.threshold,
            "propensity_slope": self.propensity_slope,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Calibration":
        """What `to_json` wrote."""
        return cls(
            tuple(map(float, value["margins"])),
            tuple(map(float, value["log_odds"])),
            ExpectedFacts.from_json(value["expected"]),
            float(value["threshold"]),
            float(value["propensity_slope"]),
        )
