"""What a batch's scores are held against: its labels alone, or its labels and a teacher's scores."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from torch import Tensor

from unnoted.losses import Distillation, Loss
from unnoted.models.batch import Batch
from unnoted.training.distil import Teacher


class Objective(Protocol):
    """A number to be minimised, of a batch and the scores of its pairs."""

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The number, a scalar, of scores [P, K + 1]."""
        ...


class FromLabels:
    """A loss on the labels of a batch.

    Args:
        loss: the loss.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The loss of scores [P, K + 1]."""
        loss: Tensor = self.loss(scores, batch.labels(), batch.pair_weight, batch.negatives())
        return loss


class FromTeacher:
    """A loss on the labels of a batch, and the difference from a teacher's scores of the same pairs.

    Args:
        loss: the loss on the labels.
        teacher: on the device of the batches.
        precision: makes a context in which the teacher computes; the student's forward pass is in half
            precision by itself where that was asked for.
    """

    def __init__(
        self, loss: Loss, teacher: Teacher, precision: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self.teacher = teacher
        self._loss = Distillation(loss, teacher.weight)
        self._precision = precision

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The loss of scores [P, K + 1]."""
        with self._precision():
            known = self.teacher.scores(batch)
        labels, negatives = batch.labels(), batch.negatives()
        loss: Tensor = self._loss(scores, labels, batch.pair_weight, negatives, teacher=known)
        return loss
