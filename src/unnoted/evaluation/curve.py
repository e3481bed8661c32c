"""Precision and recall at every threshold, and the area under them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unnoted.evaluation.score import Figures, harmonic_mean
from unnoted.io import open_output


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is reached by the predictions whose score is at least `threshold`."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """F1 at this threshold."""
        return harmonic_mean(self.precision, self.recall)

    def to_json(self) -> Figures:
        """The figures."""
        return {
            "threshold": self.threshold,
            "f1": self.f1,
            "precision": self.precision,
            "recall": self.recall,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A precision-recall curve: one point for each different score, the highest first.

    Recall is a share of *all* gold facts. Those that no prediction claims are never found, so the curve ends
    below a recall of 1, and what lies beyond its end adds nothing to the average precision.
    """

    thresholds: NDArray[np.float64]
    precisions: NDArray[np.float64]
    recalls: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.thresholds)

    def point(self, index: int) -> CurvePoint:
        """One point of the curve."""
        return CurvePoint(
            float(self.thresholds[index]), float(self.precisions[index]), float(self.recalls[index])
        )

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

    def thinned(self, points: int) -> tuple[tuple[float, float], ...]:
        """(recall, precision) at both ends, and between them at even steps of recall.

        Example:
            >>> curve = precision_recall_curve([0.9, 0.8, 0.7, 0.6], [True, True, False, True], gold=4)
            >>> curve.thinned(2), len(curve.thinned(100))
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
            for index in range(len(self)):
                point = self.point(index)
                stream.write(f"{point.threshold!r},{point.precision!r},{point.recall!r},{point.f1!r}\n")


def precision_recall_curve(scores: ArrayLike, correct: ArrayLike, gold: int) -> Curve:
    """The curve of scored predictions.

    Predictions of equal score come in together, so that their order changes nothing.

    Args:
        scores: the score of each distinct prediction; finite.
        correct: whether each is right.
        gold: how many facts there are to be found.

    Raises:
        ValueError: scores and marks differ in number, a score is not finite, or more are right than exist.

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
        raise ValueError(f"curve: found {values.shape} scores and {right.shape} marks, expected as many")
    if not np.isfinite(values).all():
        raise ValueError(f"curve: found the score {values[~np.isfinite(values)][0]}, expected finite ones")
    if right.sum() > gold:
        raise ValueError(f"curve: found {right.sum()} right predictions, expected at most {gold}")
    order = np.argsort(-values, kind="stable")
    values, right = values[order], right[order]
    last = np.append(values[1:] != values[:-1], True)[: len(values)]  # the last of each run of equals
    found = np.cumsum(right)[last]
    taken = np.arange(1, len(values) + 1)[last]
    return Curve(values[last], found / taken, found / max(gold, 1))
