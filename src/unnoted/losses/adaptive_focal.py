"""The adaptive focal loss of KD-DocRE: each labelled relation against the threshold, hard ones weighted."""

from typing import ClassVar

from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.adaptive_threshold import threshold_over_unlabelled
from unnoted.losses.decisions import Decision, TopK
from unnoted.losses.links import Link
from unnoted.losses.pairwise import PairwiseLoss


class AdaptiveFocal(PairwiseLoss):
    """−log p_i · (1 + (1 − p_i)) for each labelled relation, and the adaptive threshold's second soft-max.

    p_i = σ(f_i − f_0) is a relation's share against the threshold alone. So labelled relations of one pair do
    not compete with each other, as they do under the adaptive threshold; and one that is hard to learn (rare,
    mostly) counts up to twice (Tan et al., 2022). They raise 1 − p_i to a power γ and publish γ = 1; this is
    γ = 1, for which the link is known too.

    Example:
        >>> import torch
        >>> AdaptiveFocal()(torch.zeros(1, 3), torch.tensor([[True, False]]))  # 1.5 log 2 + log 2
        tensor(1.7329)
    """

    decision: ClassVar[Decision] = TopK()
    link: ClassVar[Link] = Link("adaptive-focal")

    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The labelled relations of every pair above the threshold, and the others below it."""
        ranks = scores[:, 1:] - scores[:, :1]  # [P, K]
        hardness = 1 + (-ranks).sigmoid()  # 1 + (1 − p)
        above = (-logsigmoid(ranks) * hardness * labels).sum(1)  # [P]
        return above + threshold_over_unlabelled(scores, labels)
