"""ATLOP's adaptive-threshold loss, which takes every unlabelled pair for a negative."""

from torch import Tensor, inf
from torch.nn.functional import pad

from unnoted.risks.risk import Decision, Link, Risk, Settings, weighted_mean
from unnoted.risks.settings import check_keys


class AdaptiveThreshold(Risk):
    """The none class as a threshold (TH), learnt by two soft-maxes per pair; their sum, averaged over pairs.

    In the first, each labelled relation competes with TH and the other labelled ones; in the second, TH
    competes with all relations that are not labelled (Zhou et al., 2021).

    Example:
        >>> import torch
        >>> risk = AdaptiveThreshold()
        >>> risk(torch.zeros(1, 3), torch.tensor([[True, False]]))  # log 2 for each soft-max
        tensor(1.3863)
    """

    decision: Decision = "top-k"
    link: Link = "threshold-softmax"

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The weighted mean over pairs."""
        # The threshold is in both soft-maxes, so that neither is ever empty.
        labelled, unlabelled = pad(labels, (1, 0), value=True), pad(~labels, (1, 0), value=True)  # [P, K + 1]
        with_labelled = scores.where(labelled, -inf).logsumexp(1, keepdim=True)  # [P, 1]
        with_unlabelled = scores.where(unlabelled, -inf).logsumexp(1)  # [P]
        above = ((with_labelled - scores[:, 1:]) * labels).sum(1)  # [P]
        below = with_unlabelled - scores[:, 0]  # [P]
        return weighted_mean((weights * (above + below)).sum(), weights.sum())

    def settings(self) -> Settings:
        """All that is needed to make this risk again."""
        return {"kind": "adaptive-threshold"}

    @classmethod
    def from_settings(cls, settings: Settings) -> "AdaptiveThreshold":
        """The risk that `settings` described."""
        check_keys("risk", settings, ("kind",))
        return cls()
