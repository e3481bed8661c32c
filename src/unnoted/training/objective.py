"""What a batch's scores are held against: its labels alone, or its labels and a teacher's scores."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from torch import Tensor

from unnoted.losses import Distillation, Risk
from unnoted.models.features import Batch
from unnoted.training.distil import Teacher


class Objective(Protocol):
    """A number to be minimised, of a batch and the scores of its pairs."""

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The number, a scalar, of scores [P, K + 1]."""
        ...


class FromLabels:
    """A risk on the labels of a batch.

    Args:
        risk: the risk.
    """

    def __init__(self, risk: Risk) -> None:
        self.risk = risk

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The risk of scores [P, K + 1]."""
        risk: Tensor = self.risk(scores, batch.labels(), batch.pair_weight, batch.negatives())
        return risk


class FromTeacher:
    """A risk on the labels of a batch, and the difference from a teacher's scores of the same pairs.

    Args:
        risk: the risk on the labels.
        teacher: on the device of the batches.
        precision: makes a context in which the teacher computes; the student's forward pass is in half
            precision by itself where that was asked for.
    """

    def __init__(
        self, risk: Risk, teacher: Teacher, precision: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self.teacher = teacher
        self._risk = Distillation(risk, teacher.weight)
        self._precision = precision

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The risk of scores [P, K + 1]."""
        with self._precision():
            known = self.teacher.scores(batch)
        labels, negatives = batch.labels(), batch.negatives()
        risk: Tensor = self._risk(scores, labels, batch.pair_weight, negatives, teacher=known)
        return risk


class CountedByPairs:
    """Another objective, in which a batch counts by the pairs that it stands for.

    A risk divides by the pairs of its batch. Times these pairs, and divided by the pairs of an average batch,
    it is a part of one sum over all pairs: each pair counts alike, and by its weight.

    Args:
        objective: the other one.
        pairs_a_batch: how many pairs a batch has on average.
    """

    def __init__(self, objective: Objective, pairs_a_batch: float) -> None:
        self._objective = objective
        self._pairs_a_batch = pairs_a_batch

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The risk of scores [P, K + 1]."""
        return self._objective(scores, batch) * (batch.pair_weight.sum() / self._pairs_a_batch)
