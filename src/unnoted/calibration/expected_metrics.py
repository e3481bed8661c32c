"""Precision, recall and F1 that a decision threshold is expected to give, without complete labels.

Among scored pairs whose probabilities are calibrated, the number of true facts above a threshold is the sum
of their probabilities. So the metrics are known before any complete label is:

    precision = true above / predicted,   recall = true above / true,
    F1 = 2 · true above / (predicted + true)

**The threshold of the best F1 is half of the best F1.** Let F be the best expected F1 of any set of facts,
and G the expected number of true facts. For every set S, 2 Σ_S p / (|S| + G) ≤ F, so Σ_S (2 p − F) ≤ F G, and
the best set has equality. The sum is largest for the set of exactly those facts with 2 p > F. So no other
set, and no thresholds per relation, are expected to do better than p > F / 2 for all.

G also counts facts that no threshold finds: those of pairs that are no candidates. The more there are of
them, the lower the best F1, and its threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

THRESHOLD_LOGITS = np.linspace(12.0, -9.0, 211)
"""The log odds of the thresholds whose outcome is kept, the highest first; between them it is interpolated."""

Array = NDArray[np.float64]


class TargetUnreachableError(ValueError):
    """No threshold is expected to reach a precision or recall."""


@dataclass(frozen=True, slots=True)
class ExpectedFacts:
    """For falling thresholds, what is expected of each candidate pair of similar documents.

    Args:
        predicted: how many facts a pair has above each of `THRESHOLD_LOGITS`.
        true: how many of them hold.
        total: how many facts hold in all, for each candidate pair.

    Example:
        >>> expected = ExpectedFacts.from_probabilities(np.array([0.9, 0.6, 0.1]), np.ones(3), pairs=10)
        >>> round(expected.total, 3), round(expected.best_f1, 3)  # 2 · (0.9 + 0.6) / (2 + 1.6)
        (0.16, 0.833)
        >>> round(expected.best_threshold, 3)
        0.417
    """

    predicted: tuple[float, ...]
    true: tuple[float, ...]
    total: float

    @classmethod
    def from_probabilities(
        cls, probability: Array, count: Array, pairs: float, facts_elsewhere: float = 0.0
    ) -> "ExpectedFacts":
        """From probabilities, how many facts have each, and of how many pairs.

        Args:
            probability: of any shape.
            count: of a shape that broadcasts to it.
            pairs: how many candidate pairs they are of.
            facts_elsewhere: how many true facts the documents have between pairs that are no candidates.
        """
        flat, weight = probability.ravel(), np.broadcast_to(count, probability.shape).ravel() / pairs
        order = np.argsort(-flat, kind="stable")
        predicted, true = (np.append(0.0, np.cumsum(each[order])) for each in (weight, weight * flat))
        # How many facts lie above each threshold.
        above = np.searchsorted(-flat[order], -sigmoid(THRESHOLD_LOGITS), side="left")
        total = float(true[-1]) + facts_elsewhere / pairs
        return cls(tuple(predicted[above].tolist()), tuple(true[above].tolist()), total)

    @property
    def best_f1(self) -> float:
        """The best expected F1."""
        both = np.array(self.predicted) + self.total
        return float(np.max(2 * np.array(self.true) / both)) if self.total else 0.0

    @property
    def best_threshold(self) -> float:
        """The probability above which facts are predicted for the best expected F1: half of it."""
        return max(self.best_f1 / 2, float(sigmoid(THRESHOLD_LOGITS[-1:])[0]))

    def metrics_at(self, threshold: float) -> dict[str, float]:
        """Expected precision, recall and F1 of the facts above a probability."""
        threshold = min(max(threshold, 1e-12), 1 - 1e-12)
        log_odds = np.log(threshold) - np.log1p(-threshold)
        predicted, true = (
            float(np.interp(-log_odds, -THRESHOLD_LOGITS, each)) for each in (self.predicted, self.true)
        )
        return {
            "precision": true / predicted if predicted else 0.0,
            "recall": true / self.total if self.total else 0.0,
            "f1": 2 * true / (predicted + self.total) if predicted + self.total else 0.0,
        }

    def precision_by_hundredths(self) -> list[float | None]:
        """The expected precision at the thresholds 0, 0.01, ..., 0.99; None where no fact is expected."""
        found = [self.metrics_at(number / 100) for number in range(100)]
        return [round(each["precision"], 3) if each["recall"] else None for each in found]

    def threshold_at_precision(self, target: float) -> float:
        """The lowest threshold that is expected to reach a precision.

        Raises:
            TargetUnreachableError: not even the most probable facts reach it.
            ValueError: the target does not lie between 0 and 1.
        """
        _check("target_precision", target)
        predicted = np.array(self.predicted)
        precision = np.divide(self.true, predicted, out=np.zeros_like(predicted), where=predicted > 0)
        reached = np.flatnonzero(precision >= target)
        if not len(reached):
            _unreachable("target_precision", target, precision.max())
        return self._between(int(reached[-1]), precision, target)

    def threshold_at_recall(self, target: float) -> float:
        """The highest threshold that is expected to reach a recall; raises as `threshold_at_precision`."""
        _check("target_recall", target)
        recall = np.array(self.true) / (self.total or 1.0)
        if recall[-1] < target:
            _unreachable("target_recall", target, recall[-1])
        first = int(np.argmax(recall >= target))
        if not first:
            return float(sigmoid(THRESHOLD_LOGITS[:1])[0])
        return self._between(first - 1, recall, target)

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON; `from_json` reads it."""
        return {"predicted": list(self.predicted), "true": list(self.true), "total": self.total}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ExpectedFacts":
        """What `to_json` wrote.

        Raises:
            ValueError: it has another number of thresholds.
        """
        predicted, true = (tuple(map(float, value[name])) for name in ("predicted", "true"))
        if not len(predicted) == len(true) == len(THRESHOLD_LOGITS):
            raise ValueError(f"expected metrics must have {len(THRESHOLD_LOGITS)} thresholds")
        return cls(predicted, true, float(value["total"]))

    def _between(self, index: int, metric: Array, target: float) -> float:
        """The threshold between one that is kept and the next at which a metric is the target."""
        following = min(index + 1, len(THRESHOLD_LOGITS) - 1)
        change = metric[following] - metric[index]
        part = (target - metric[index]) / change if change else 0.0
        start, end = THRESHOLD_LOGITS[[index, following]]
        return float(sigmoid(np.array(start + part * (end - start))))


def sigmoid(log_odds: Array) -> Array:
    """The probability of log odds, however large they are."""
    result: Array = 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
    return result


def _unreachable(name: str, target: float, highest: float) -> NoReturn:
    reachable = np.floor(highest * 1000) / 1000  # rounded down, so that asking for it does not fail again
    raise TargetUnreachableError(
        f"{name} {target:g} is out of reach: this model's highest is {reachable:.3f}"
    )


def _check(name: str, target: float) -> None:
    if not 0 < target < 1:
        raise ValueError(f"{name} must lie between 0 and 1, not at {target:g}")
