"""Supervised losses, of ATLOP and of the paper's baselines: every unlabelled pair counts as a negative."""

import math
from typing import ClassVar

import torch
from torch import Tensor, inf, nn
from torch.nn.functional import logsigmoid, pad

from unnoted.losses.base import Loss, PairLoss, register_loss, to_working_precision, weighted_mean
from unnoted.losses.decoding import DecisionRule, Link


@register_loss("atlop")
class ATLOP(PairLoss):
    """The adaptive-thresholding loss: two softmaxes for each pair, their sum averaged over pairs.

    With P the labelled relations of a pair, N the others and TH the threshold class,

        - sum over r in P of log softmax_{P ∪ TH}(f)_r  -  log softmax_{N ∪ TH}(f)_TH.

    Reference:
        Zhou, Huang, Ma, Huang (2021): Document-level relation extraction with adaptive thresholding and
        localized context pooling. AAAI.

    Example:
        >>> loss = ATLOP()
        >>> loss(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 for each softmax
        tensor(1.3863)
    """

    decision: ClassVar[DecisionRule] = DecisionRule(top_k=4)
    link: ClassVar[Link] = Link("threshold-softmax")

    def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The two softmaxes of each pair, [P]."""
        # The threshold class is in both softmaxes, so that neither is ever empty.
        labelled = pad(labels, (1, 0), value=True)  # [P, K + 1]
        with_labelled = logits.where(labelled, -inf).logsumexp(1, keepdim=True)  # [P, 1]
        above = ((with_labelled - logits[:, 1:]) * labels).sum(1)  # [P]
        return above + threshold_over_unlabelled(logits, labels)


def threshold_over_unlabelled(logits: Tensor, labels: Tensor) -> Tensor:
    """The second softmax alone: -log of the share of TH among itself and the unlabelled relations, [P].

    Example:
        >>> threshold_over_unlabelled(torch.zeros(1, 4), torch.tensor([[True, True, True]]))  # TH is alone
        tensor([0.])
    """
    unlabelled = pad(~labels, (1, 0), value=True)  # [P, K + 1]
    return logits.where(unlabelled, -inf).logsumexp(1) - logits[:, 0]


@register_loss("cross-entropy")
class CrossEntropy(PairLoss):
    """Sigmoid cross-entropy, the loss of BiLSTM, GAIN, BRAN and PubMedBERT: each relation decided by itself.

    -log σ(f_i) for each labelled relation, -log σ(-f_i) for each other; the mean over relations and pairs.
    The threshold class is not used: a relation holds where σ(f_i) > 0.5, that is f_i > 0. It is the PN loss
    with the log-sigmoid surrogate, labelled priors, expected normalisation and no class weight, divided by
    the number of relations.

    Reference:
        Yao et al. (2019): DocRED: a large-scale document-level relation extraction dataset. ACL.

    Example:
        >>> CrossEntropy()(torch.tensor([[9.0, 0.0, 0.0]]), torch.tensor([[True, False]]))  # log 2
        tensor(0.6931)
    """

    decision: ClassVar[DecisionRule] = DecisionRule("zero")
    link: ClassVar[Link] = Link("sigmoid")

    def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean over the relations of each pair, [P]."""
        relations = logits[:, 1:]  # [P, K]
        return -logsigmoid(relations.where(labels, -relations)).mean(1)


@register_loss("balanced-softmax")
class BalancedSoftmax(PairLoss):
    """The balanced softmax, DocuNet's loss: the labels of a pair above 0, all other classes below.

    log(1 + Σ exp(-f_i)) over the labels i of a pair + log(1 + Σ exp(f_j)) over the other classes j, averaged
    over pairs. The threshold class is a class like the relations: the one label of a pair that has no other.
    Both 1s are exp(0), a threshold of 0. There is one term for all labelled relations, where ATLOP has one
    for each.

    Reference:
        Zhang et al. (2021): Document-level relation extraction as semantic segmentation. IJCAI.

    Example:
        >>> BalancedSoftmax()(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 + log 3
        tensor(1.7918)
    """

    decision: ClassVar[DecisionRule] = DecisionRule("zero", top_k=4)
    link: ClassVar[Link] = Link("balanced-softmax")

    def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The two logarithms of each pair, [P]."""
        labelled = torch.cat(
            [~labels.any(1, keepdim=True), labels], 1
        )  # [P, K + 1], the threshold class first
        labels_low = pad((-logits).where(labelled, -inf), (1, 0))  # [P, K + 2], the threshold 0 first
        others_high = pad(logits.where(~labelled, -inf), (1, 0))  # [P, K + 2]
        return labels_low.logsumexp(1) + others_high.logsumexp(1)


@register_loss("adaptive-focal")
class AdaptiveFocal(PairLoss):
    """KD-DocRE's adaptive focal loss: -log p_i · (1 + (1 - p_i)) for each label, and ATLOP's second softmax.

    p_i = σ(f_i - f_0) is a relation's share against the threshold class alone. So the labelled relations of a
    pair do not compete with each other, as they do under ATLOP's loss; and one that is hard to learn counts
    up to twice. The paper raises 1 - p_i to a power γ and publishes γ = 1; this is γ = 1, for which the link
    is known.

    Reference:
        Tan, He, Bing, Ng (2022): Document-level relation extraction with adaptive focal loss and knowledge
        distillation. Findings of ACL.

    Example:
        >>> AdaptiveFocal()(torch.zeros(1, 3), torch.tensor([[True, False]]))  # 1.5 log 2 + log 2
        tensor(1.7329)
    """

    decision: ClassVar[DecisionRule] = DecisionRule(top_k=4)
    link: ClassVar[Link] = Link("adaptive-focal")

    def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The labelled relations of each pair above the threshold class, and the others below it, [P]."""
        ranks = logits[:, 1:] - logits[:, :1]  # [P, K]
        hardness = 1 + (-ranks).sigmoid()  # 1 + (1 - p)
        above = (-logsigmoid(ranks) * hardness * labels).sum(1)  # [P]
        return above + threshold_over_unlabelled(logits, labels)


class Distillation(nn.Module):
    """The student's loss, plus `weight` times the mean squared difference of its logits from a teacher's.

    KD-DocRE's first stage on distantly labelled documents; fine-tuning after it minimises the student's loss
    alone. It is no `Loss`, because it needs a third thing besides logits and labels; the decoder of the model
    that it trains is that of `student`. Logits mean different things under different losses, so the teacher
    should have been trained by the student's loss. Where the student's decision rule does not use the
    threshold class, its logit was never trained and is not compared.

    Args:
        student: the loss on the labels.
        weight: of the difference, 0 or more; 1 as published.

    Reference:
        Tan, He, Bing, Ng (2022): Document-level relation extraction with adaptive focal loss and knowledge
        distillation. Findings of ACL.

    Example:
        >>> distillation = Distillation(AdaptiveFocal(), weight=0.5)
        >>> logits, labels = torch.zeros(1, 2), torch.tensor([[False]])
        >>> distillation(logits, labels, teacher=torch.ones(1, 2)) - distillation.student(logits, labels)
        tensor(0.5000)
    """

    def __init__(self, student: Loss, weight: float = 1.0) -> None:
        super().__init__()
        if not 0 <= weight < math.inf:
            raise ValueError(f"weight must be 0 or more and finite, not {weight}")
        self.student = student
        self.weight = weight

    def forward(
        self,
        logits: Tensor,
        labels: Tensor,
        weights: Tensor | None = None,
        negatives: Tensor | None = None,
        *,
        teacher: Tensor,
    ) -> Tensor:
        """The loss of one batch, a scalar; finite, as is its gradient, for every batch of finite logits.

        Args:
            logits: the student's, [P, K + 1], the threshold class first.
            labels: bool [P, K].
            weights: [P], how many pairs each one stands for, in both terms; None for 1.
            negatives: bool [P, K], the known negatives; None if there are none.
            teacher: the teacher's logits of the same pairs, [P, K + 1]; no gradient flows into them.
        """
        if teacher.shape != logits.shape:
            raise ValueError(f"the teacher's logits must be {list(logits.shape)}, not {list(teacher.shape)}")
        loss: Tensor = self.student(logits, labels, weights, negatives)
        compared = slice(0 if self.student.decoder.decision.uses_threshold_class else 1, None)
        own = to_working_precision(logits)
        difference = own - to_working_precision(teacher.detach()).to(own.dtype)  # [P, K + 1]
        per_pair = difference[:, compared].square().mean(1)  # [P]
        counted = own.new_ones(own.shape[0]) if weights is None else weights.to(own.dtype)
        return loss + self.weight * weighted_mean((counted * per_pair).sum(), counted.sum())
