"""The balanced soft-max, DocuNet's loss: labelled relations above 0, the others below, by two soft-maxes."""

from typing import ClassVar

from torch import Tensor, inf
from torch.nn.functional import pad

from unnoted.risks.decisions import Decision, Fixed
from unnoted.risks.links import Link
from unnoted.risks.pairwise import PairwiseRisk


class BalancedSoftmax(PairwiseRisk):
    """log(1 + Σ exp(−f_i)) over the labelled relations i + log(1 + Σ exp(f_j)) over the others j.

    This is averaged over pairs. Both 1s are exp(0), a threshold of 0 (Zhang et al., 2021). So it is akin to
    the adaptive threshold, with 0 in place of the none class, which is not used, and one term for all
    labelled relations in place of one for each: the relations that a pair gets most wrong teach, and the many
    that are easy do not outweigh them. With one relation it is the sigmoid cross-entropy.

    Example:
        >>> import torch
        >>> BalancedSoftmax()(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 for each kind
        tensor(1.3863)
    """

    decision: ClassVar[Decision] = Fixed(0.0)
    link: ClassVar[Link] = Link("balanced-softmax")

    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The two logarithms of every pair."""
        relations = scores[:, 1:]  # [P, K]
        labelled = pad((-relations).where(labels, -inf), (1, 0))  # [P, K + 1], the threshold first
        others = pad(relations.where(~labels, -inf), (1, 0))  # [P, K + 1]
        return labelled.logsumexp(1) + others.logsumexp(1)
