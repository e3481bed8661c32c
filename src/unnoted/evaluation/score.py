"""Precision, recall and F1 from counts: the arithmetic of every figure in this room."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import TypeAlias

IGN_SLACK = 1e-5
"""What the official scorer adds to the predictions that are left when those known from train are ignored."""

Figures: TypeAlias = dict[str, int | float]
"""A score as plain data."""


def ratio(part: float, whole: float) -> float:
    """A share; 0 of nothing, so that an empty submission scores 0."""
    return part / whole if whole else 0.0


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall.

    Example:
        >>> harmonic_mean(0.5, 1.0), harmonic_mean(0.0, 0.0)
        (0.6666666666666666, 0.0)
    """
    return ratio(2 * precision * recall, precision + recall)


@dataclass(frozen=True, slots=True)
class Score:
    """How many were predicted, how many there are, and how many of the predicted are right.

    Example:
        >>> score = Score(correct=2, predicted=4, gold=8)
        >>> score.precision, score.recall, score.f1
        (0.5, 0.25, 0.3333333333333333)
        >>> Score(correct=0, predicted=0, gold=8).f1
        0.0
    """

    correct: int
    predicted: int
    gold: int

    @classmethod
    def of(cls, predicted: Collection[Hashable], gold: Collection[Hashable]) -> "Score":
        """The score of distinct predictions against distinct gold facts."""
        return cls(sum(item in gold for item in predicted), len(predicted), len(gold))

    @property
    def precision(self) -> float:
        """The share of the predicted that is right."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """The share of the gold that was found."""
        return ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        return harmonic_mean(self.precision, self.recall)

    def to_json(self) -> Figures:
        """The figures and the counts behind them."""
        figures: Figures = {"f1": self.f1, "precision": self.precision, "recall": self.recall}
        return figures | {"correct": self.correct, "predicted": self.predicted, "gold": self.gold}


@dataclass(frozen=True, slots=True)
class IgnScore:
    """A score that gives no credit in precision for facts that stand in the training data.

    As the official scorer has it, only the precision is corrected: the recall keeps the facts known from
    train, among the correct and among the gold.

    Args:
        score: the score before.
        correct_in_train: how many of its correct predictions are known from train.

    Example:
        >>> ign = IgnScore(Score(correct=3, predicted=5, gold=6), correct_in_train=1)
        >>> round(ign.precision, 4), ign.recall, round(ign.f1, 4)
        (0.5, 0.5, 0.5)
    """

    score: Score
    correct_in_train: int

    @property
    def precision(self) -> float:
        """The share that is right of the predictions that are not correct facts known from train."""
        known = self.correct_in_train
        return (self.score.correct - known) / (self.score.predicted - known + IGN_SLACK)

    @property
    def recall(self) -> float:
        """The recall before: facts known from train count."""
        return self.score.recall

    @property
    def f1(self) -> float:
        """Ign F1."""
        return harmonic_mean(self.precision, self.recall)

    def to_json(self) -> Figures:
        """The figures and the count behind them."""
        figures: Figures = {"f1": self.f1, "precision": self.precision, "recall": self.recall}
        return figures | {"correct_in_train": self.correct_in_train}
