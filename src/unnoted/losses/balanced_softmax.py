"""The balanced soft-max, DocuNet's loss: labels of a pair above 0, the others below, by two soft-maxes."""

from typing import ClassVar

import torch
from torch import Tensor, inf
from torch.nn.functional import pad

from unnoted.losses.decisions import Decision, FixedTopK
from unnoted.losses.links import Link
from unnoted.losses.pairwise import PairwiseLoss


class BalancedSoftmax(PairwiseLoss):
    """log(1 + Σ exp(−f_i)) over the labels i of a pair + log(1 + Σ exp(f_j)) over the other classes j.

    This is averaged over pairs. The none class is a class like the relations: the one label of a pair that
    has no other, as in DocuNet's program. Both 1s are exp(0), a threshold of 0 (Zhang et al., 2021). So it is
    akin to the adaptive threshold, with 0 in place of the none class, and one term for all labelled relations
    in place of one for each: the classes that a pair gets most wrong teach, and the many that are easy do not
    outweigh them. With one relation it is two sigmoid cross-entropies, of the relation and of the none class.

    Example:
        >>> BalancedSoftmax()(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 + log 3
        tensor(1.7918)
    """

    decision: ClassVar[Decision] = FixedTopK()
    link: ClassVar[Link] = Link("balanced-softmax")

    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The two logarithms of every pair."""
        labelled = torch.cat([~labels.any(1, keepdim=True), labels], 1)  # [P, K + 1], the none class first
        labels_low = pad((-scores).where(labelled, -inf), (1, 0))  # [P, K + 2], the threshold first
        others_high = pad(scores.where(~labelled, -inf), (1, 0))  # [P, K + 2]
        return labels_low.logsumexp(1) + others_high.logsumexp(1)
