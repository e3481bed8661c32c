"""What a line on the probability is expected to give: how many facts it states, how many of them are true.

Out of scored pairs whose probabilities are calibrated, the number of true facts above a line is the sum of
their probabilities. So precision, recall and F1 are known before any complete label is:

    precision = true above / stated,   recall = true above / true in all,
    F1 = 2 · true above / (stated + true in all)

**The line of the best F1 is half of the best F1.** Let F be the best F1 of any set of facts, and G the true
facts in all. For every set S, 2 Σ_S p / (|S| + G) ≤ F, so Σ_S (2 p − F) ≤ F G, and the best set has equality.
The sum is largest for the set of exactly those facts with 2 p > F. So no other set, and no other lines for
single relations, are expected to do better than p > F / 2 for all.

G counts facts that no line can state, too: those of pairs that are no candidates. The more there are of them,
the lower the best F1, and its line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS = np.linspace(12.0, -9.0, 211)
"""The log odds of the lines whose outcome is kept, the highest first; between them it is interpolated."""


class Unreachable(ValueError):
    """A precision or recall that no line is expected to have."""


@dataclass(frozen=True, slots=True)
class ExpectedFacts:
    """For lines at falling probabilities, what is expected of each candidate pair of similar documents.

    Args:
        stated: how many facts a pair has at or above each of `LEVELS`.
        true: how many of them hold.
        total: how many facts hold in all, for each candidate pair.

    Example:
        >>> expected = ExpectedFacts.of(np.array([0.9, 0.6, 0.1]), np.ones(3), pairs=10)
        >>> round(expected.total, 3), round(expected.best_f1, 3)  # 2 · (0.9 + 0.6) / (2 + 1.6)
        (0.16, 0.833)
        >>> round(expected.f1_line, 3)
        0.417
    """

    stated: tuple[float, ...]
    true: tuple[float, ...]
    total: float

    @classmethod
    def of(
        cls,
        probability: NDArray[np.float64],
        count: NDArray[np.float64],
        pairs: float,
        elsewhere: float = 0.0,
    ) -> "ExpectedFacts":
        """From probabilities, how many facts have each, and of how many pairs.

        Args:
            probability: of any shape.
            count: of the same shape, or one that fits it.
            pairs: how many candidate pairs they are of.
            elsewhere: how many true facts the same documents have between pairs that are no candidates.
        """
        flat, weight = probability.ravel(), np.broadcast_to(count, probability.shape).ravel() / pairs
        order = np.argsort(-flat, kind="stable")
        stated, true = (np.append(0.0, np.cumsum(each[order])) for each in (weight, weight * flat))
        above = np.searchsorted(-flat[order], -_probability(LEVELS), side="right")  # of each level
        total = float(true[-1]) + elsewhere / pairs
        return cls(tuple(stated[above].tolist()), tuple(true[above].tolist()), total)

    @property
    def best_f1(self) -> float:
        """The F1 that is expected at its best."""
        both = np.array(self.stated) + self.total
        return float(np.max(2 * np.array(self.true) / both)) if self.total else 0.0

    @property
    def f1_line(self) -> float:
        """The probability above which facts are stated for the best expected F1: half of it."""
        return max(self.best_f1 / 2, float(_probability(LEVELS[-1:])[0]))

    def figures_at(self, line: float) -> dict[str, float]:
        """Expected precision, recall and F1 of the facts above a probability."""
        place = np.interp(-_log_odds(line), -LEVELS, np.arange(len(LEVELS)))
        stated, true = (
            float(np.interp(place, np.arange(len(LEVELS)), each)) for each in (self.stated, self.true)
        )
        return {
            "precision": true / stated if stated else 0.0,
            "recall": true / self.total if self.total else 0.0,
            "f1": 2 * true / (stated + self.total) if stated + self.total else 0.0,
        }

    def line_of_precision(self, target: float) -> float:
        """The lowest probability above which facts are expected to have a precision.

        Raises:
            Unreachable: not even the surest facts have it.
            ValueError: the target is no share.
        """
        _check("target precision", target)
        stated = np.array(self.stated)
        precision = np.divide(self.true, stated, out=np.zeros_like(stated), where=stated > 0)
        fit = np.flatnonzero(precision >= target)
        if not len(fit):
            raise Unreachable(
                f"target precision: found {target:g}, expected at most {_down(precision.max()):.3f}, that of "
                "the facts that this model is surest of"
            )
        return self._between(int(fit[-1]), precision, target)

    def line_of_recall(self, target: float) -> float:
        """The highest probability above which facts are expected to have a recall.

        Raises:
            Unreachable: a line at the lowest probability that is kept misses more.
            ValueError: the target is no share.
        """
        _check("target recall", target)
        recall = np.array(self.true) / (self.total or 1.0)
        if recall[-1] < target:
            raise Unreachable(
                f"target recall: found {target:g}, expected at most {_down(recall[-1]):.3f}, that of all "
                f"facts of a probability of at least {_probability(LEVELS[-1:])[0]:.1g}"
            )
        first = int(np.argmax(recall >= target))
        return self._between(first - 1, recall, target) if first else float(_probability(LEVELS[:1])[0])

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; `from_json` reads it."""
        return {"stated": list(self.stated), "true": list(self.true), "total": self.total}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ExpectedFacts":
        """What `to_json` wrote.

        Raises:
            ValueError: it has another number of levels.
        """
        stated, true = (tuple(map(float, value[name])) for name in ("stated", "true"))
        if not len(stated) == len(true) == len(LEVELS):
            raise ValueError(
                f"expected facts: found {len(stated)} and {len(true)} levels, expected {len(LEVELS)}"
            )
        return cls(stated, true, float(value["total"]))

    def _between(self, level: int, figure: NDArray[np.float64], target: float) -> float:
        """The line between a level and the next one at which a figure is the target."""
        following = min(level + 1, len(LEVELS) - 1)
        change = figure[following] - figure[level]
        part = (target - figure[level]) / change if change else 0.0
        return float(_probability(np.array(LEVELS[level] + part * (LEVELS[following] - LEVELS[level]))))


def _probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 1 / (1 + np.exp(-log_odds))
    return result


def _log_odds(probability: float) -> float:
    return float(np.log(probability) - np.log1p(-probability))


def _down(share: float) -> float:
    """Rounded so that asking for it does not fail again."""
    return float(np.floor(share * 1000) / 1000)


def _check(name: str, target: float) -> None:
    if not 0 < target < 1:
        raise ValueError(f"{name}: found {target:g}, expected a share between 0 and 1")
