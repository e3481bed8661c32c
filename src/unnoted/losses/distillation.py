"""Distillation: a student learns from labels and from a teacher's scores."""

import math

from torch import Tensor, nn

from unnoted.losses.base import Loss, weighted_mean, working


class Distillation(nn.Module):
    """The student's loss, plus `weight` times the mean squared difference of its scores from a teacher's.

    KD-DocRE's first stage on distantly labelled documents; fine-tuning after it minimises the student's loss
    alone (Tan et al., 2022). It is no `Loss`, because it needs a third thing besides scores and labels; the
    decision rule, link and priors of the model that it trains are those of `student`. Scores mean different
    things under different losses, so the teacher should have been trained by the student's loss.

    Where the student's rule does not read the none class, its score was never trained and is not compared.

    Args:
        student: the loss on the labels.
        weight: of the difference, 0 or more; 1 as published.

    Example:
        >>> import torch
        >>> from unnoted.losses.adaptive_focal import AdaptiveFocal
        >>> distillation = Distillation(AdaptiveFocal(), weight=0.5)
        >>> scores, labels = torch.zeros(1, 2), torch.tensor([[False]])
        >>> distillation(scores, labels, teacher=torch.ones(1, 2)) - distillation.student(scores, labels)
        tensor(0.5000)
    """

    def __init__(self, student: Loss, weight: float = 1.0) -> None:
        super().__init__()
        if not 0 <= weight < math.inf:
            raise ValueError(f"found weight {weight}, expected a finite number, 0 or more")
        self.student = student
        self.weight = weight

    def forward(
        self,
        scores: Tensor,
        labels: Tensor,
        weights: Tensor | None = None,
        negatives: Tensor | None = None,
        *,
        teacher: Tensor,
    ) -> Tensor:
        """The loss of one batch, a scalar; finite, as is its gradient, for every batch of finite scores.

        Args:
            scores: the student's, [P, K + 1], the none class first.
            labels: bool [P, K].
            weights: [P], for how many pairs each one stands, in both terms; None for 1.
            negatives: bool [P, K], the known negatives; None if there are none.
            teacher: the teacher's scores of the same pairs, [P, K + 1]; no gradient flows into them.
        """
        if teacher.shape != scores.shape:
            raise ValueError(f"found teacher {list(teacher.shape)}, expected {list(scores.shape)}")
        loss: Tensor = self.student(scores, labels, weights, negatives)
        compared = slice(0 if self.student.decoder.decision.reads_none_class else 1, None)
        own = working(scores)
        difference = own - working(teacher.detach()).to(own.dtype)  # [P, K + 1]
        of_pairs = difference[:, compared].square().mean(1)  # [P]
        counted = own.new_ones(own.shape[0]) if weights is None else weights.to(own.dtype)
        return loss + self.weight * weighted_mean((counted * of_pairs).sum(), counted.sum())
