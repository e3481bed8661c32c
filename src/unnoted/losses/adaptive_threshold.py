"""ATLOP's adaptive-threshold loss, which takes every unlabelled pair for a negative."""

from typing import ClassVar

from torch import Tensor, inf
from torch.nn.functional import pad

from unnoted.losses.decisions import Decision, TopK
from unnoted.losses.links import Link
from unnoted.losses.pairwise import PairwiseLoss


class AdaptiveThreshold(PairwiseLoss):
    """The none class as a threshold (TH), learnt by two soft-maxes per pair; their sum, averaged over pairs.

    In the first, each labelled relation competes with TH and the other labelled ones; in the second, TH
    competes with all relations that are not labelled (Zhou et al., 2021).

    Example:
        >>> import torch
        >>> loss = AdaptiveThreshold()
        >>> loss(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 for each soft-max
        tensor(1.3863)
    """

    decision: ClassVar[Decision] = TopK()
    link: ClassVar[Link] = Link("threshold-softmax")

    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The two soft-maxes of every pair."""
        # The threshold is in both soft-maxes, so that neither is ever empty.
        labelled = pad(labels, (1, 0), value=True)  # [P, K + 1]
        with_labelled = scores.where(labelled, -inf).logsumexp(1, keepdim=True)  # [P, 1]
        above = ((with_labelled - scores[:, 1:]) * labels).sum(1)  # [P]
        return above + threshold_over_unlabelled(scores, labels)


def threshold_over_unlabelled(scores: Tensor, labels: Tensor) -> Tensor:
    """The second soft-max alone: −log of the share of TH among itself and the unlabelled relations, [P].

    Example:
        >>> import torch
        >>> threshold_over_unlabelled(torch.zeros(1, 4), torch.tensor([[True, True, True]]))  # TH is alone
        tensor([0.])
    """
    unlabelled = pad(~labels, (1, 0), value=True)  # [P, K + 1]
    return scores.where(unlabelled, -inf).logsumexp(1) - scores[:, 0]
