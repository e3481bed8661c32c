"""Precision and recall at every threshold, and how well calibrated scores are."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unnoted.evaluation.metrics import harmonic_mean
from unnoted.io import open_output

BINS = 15
"""Into how many bins facts are divided by their score, each with as many facts."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What the predictions whose score is at least `threshold` reach."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """F1 at this threshold."""
        return harmonic_mean(self.precision, self.recall)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A precision-recall curve: one point for each different score, the highest first.

    Recall is a fraction of *all* gold facts. Those that no prediction claims are never found, so the curve
    ends below a recall of 1, and what lies beyond its end adds nothing to the average precision.
    """

    thresholds: NDArray[np.float64]
    precisions: NDArray[np.float64]
    recalls: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.thresholds)

    def point(self, index: int) -> CurvePoint:
        """One point of the curve."""
        columns = self.thresholds, self.precisions, self.recalls
        return CurvePoint(*(float(column[index]) for column in columns))

    @property
    def average_precision(self) -> float:
        """The precisions, each weighted by the recall gained at its threshold; no interpolation."""
        return float(np.sum(np.diff(self.recalls, prepend=0.0) * self.precisions))

    @property
    def end(self) -> float:
        """The recall of all predictions together."""
        return float(self.recalls[-1]) if len(self) else 0.0

    @property
    def best(self) -> CurvePoint | None:
        """The point of highest F1: what a threshold tuned on the gold itself would reach. None if empty."""
        if not len(self):
            return None
        both = self.precisions + self.recalls
        f1 = np.divide(2 * self.precisions * self.recalls, both, out=np.zeros_like(both), where=both > 0)
        return self.point(int(np.argmax(f1)))

    def sampled(self, points: int) -> tuple[tuple[float, float], ...]:
        """(recall, precision) at both ends, and between them at even steps of recall.

        Example:
            >>> curve = precision_recall_curve([0.9, 0.8, 0.7, 0.6], [True, True, False, True], gold=4)
            >>> curve.sampled(2), len(curve.sampled(100))
            (((0.25, 1.0), (0.75, 0.75)), 4)
        """
        kept = np.arange(len(self))
        if len(self) > points:
            kept = np.searchsorted(self.recalls, np.linspace(self.recalls[0], self.recalls[-1], points))
            kept[0], kept[-1] = 0, len(self) - 1
        return tuple((float(self.recalls[i]), float(self.precisions[i])) for i in np.unique(kept).tolist())

    def write_csv(self, path: str | Path) -> None:
        """Write the points as CSV: threshold, precision, recall, f1."""
        with open_output(Path(path)) as stream:
            stream.write("threshold,precision,recall,f1\n")
            for point in map(self.point, range(len(self))):
                stream.write(f"{point.threshold!r},{point.precision!r},{point.recall!r},{point.f1!r}\n")

    def to_json(self) -> dict[str, Any]:
        """A summary, without the points."""
        best = self.best
        return {
            "average_precision": self.average_precision,
            "recall_at_end": self.end,
            "best": asdict(best) | {"f1": best.f1} if best else None,
        }


def precision_recall_curve(scores: ArrayLike, correct: ArrayLike, gold: int) -> Curve:
    """The curve of scored predictions; predictions of equal score form one point.

    Args:
        scores: the score of each distinct prediction; finite.
        correct: whether each is correct.
        gold: the number of gold facts.

    Raises:
        ValueError: scores and `correct` differ in number, a score is not finite, or more are correct than exist.

    Example:
        >>> curve = precision_recall_curve([0.9, 0.8, 0.7], [True, False, True], gold=4)
        >>> curve.precisions.round(3).tolist(), curve.recalls.tolist()
        ([1.0, 0.5, 0.667], [0.25, 0.25, 0.5])
        >>> round(curve.average_precision, 4)  # 0.25 · 1 + 0.25 · 2/3
        0.4167
    """
    values = np.asarray(scores, dtype=np.float64)
    right = np.asarray(correct, dtype=bool)
    if values.shape != right.shape or values.ndim != 1:
        raise ValueError(f"curve: {values.shape} scores do not match {right.shape} marks of correctness")
    if not np.isfinite(values).all():
        raise ValueError(f"curve: the score {values[~np.isfinite(values)][0]} is not finite")
    if right.sum() > gold:
        raise ValueError(f"curve: {right.sum()} predictions are correct, but there are only {gold} facts")
    order = np.argsort(-values, kind="stable")
    values, right = values[order], right[order]
    last = np.append(values[1:] != values[:-1], True)[: len(values)]  # the last of each run of equals
    found = np.cumsum(right)[last]
    taken = np.arange(1, len(values) + 1)[last]
    return Curve(values[last], found / taken, found / max(gold, 1))


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Facts of similar score.

    Attributes:
        score: their mean score.
        correct: the fraction of them that is true.
        facts: how many they are.
    """

    score: float
    correct: float
    facts: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """A reliability diagram: facts by their score, the lowest first, in bins of equally many.

    Attributes:
        bins: of the diagram.
        facts: how many facts there are.
        error: the expected calibration error: the mean over facts of |mean score − fraction correct| of their
            bin.
        mean: the mean score: the fraction that is expected to be true.
        correct: the fraction that is true.

    Reference: Guo et al., On Calibration of Modern Neural Networks, ICML 2017.
    """

    bins: tuple[ReliabilityBin, ...]
    facts: int
    error: float
    mean: float
    correct: float

    @classmethod
    def from_scores(cls, scores: ArrayLike, correct: ArrayLike, bins: int = BINS) -> "Reliability":
        """Divide facts into bins.

        Args:
            scores: the probability of each fact.
            correct: whether each is true.
            bins: how many; fewer where there are fewer facts.

        Example:
            >>> reliability = Reliability.from_scores([0.1, 0.3, 0.7, 0.9], [False, False, True, True], bins=2)
            >>> [(round(part.score, 3), part.correct, part.facts) for part in reliability.bins]
            [(0.2, 0.0, 2), (0.8, 1.0, 2)]
            >>> round(reliability.error, 3)
            0.2
        """
        values, true = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=bool)
        parts = [part for part in np.array_split(np.argsort(values, kind="stable"), bins) if len(part)]
        made = tuple(
            ReliabilityBin(float(values[part].mean()), float(true[part].mean()), len(part)) for part in parts
        )
        facts = len(values)
        error = sum(part.facts * abs(part.score - part.correct) for part in made)
        mean = sum(part.facts * part.score for part in made)
        return cls(made, facts, error / max(facts, 1), mean / max(facts, 1), int(true.sum()) / max(facts, 1))

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "error": self.error,
            "mean_score": self.mean,
            "correct": self.correct,
            "facts": self.facts,
            "bins": [asdict(part) for part in self.bins],
        }
