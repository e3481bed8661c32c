"""The likelihood of the labels themselves: how probable it is that just these facts were noted.

A relation that holds is noted with the chance c = π_l / π, whatever the pair. So a pair is labelled with it
with the probability c Δ, and not with 1 - c Δ, where Δ = σ(f_i - f_0) is the probability that it holds. What
is minimised is the mean over pairs of

    - sum over labelled i of log Δ_i  -  sum over the others of log(1 - c_i Δ_i),

the negative log likelihood but for a constant. With complete labels c = 1, and this is cross-entropy. With
c < 1 a pair that was not labelled costs at most -log(1 - c), however sure the model is that the relation
holds: silence is a weak objection. Nothing can fall below 0, so no correction is needed, and a mean over the
pairs of a batch is unbiased however few positives the batch has.

A known negative is more than silence. That a relation was not noted *and* does not hold has the probability
1 - Δ, because what does not hold is never noted. So it costs -log(1 - Δ), however its pair came to be looked
at (docs/concepts/known-negatives.md).
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.priors import Priors
from unnoted.risks.decisions import NoneClass, above_none
from unnoted.risks.links import Link
from unnoted.risks.meaning import ScoreMeaning
from unnoted.risks.risk import Risk, weighted_mean


class LabelLikelihood(Risk):
    """The negative log likelihood of what was noted, given how often a fact is noted.

    A relation of prior 0 has c = 1: every pair counts against it.

    Args:
        priors: the labelled and overall prior of every class; the order is that of the score columns.

    Example:
        >>> risk = LabelLikelihood(Priors(("spouse",), labelled=(0.1,), overall=(0.2,)))
        >>> certain = torch.tensor([[0.0, 200.0]])  # holds for sure, but only every other fact is noted
        >>> risk(certain, torch.tensor([[True]])), risk(certain, torch.tensor([[False]]))
        (tensor(0.), tensor(0.6931))
        >>> risk(certain, torch.tensor([[False]]), negatives=torch.tensor([[True]]))  # a person said no
        tensor(200.)
    """

    def __init__(self, priors: Priors) -> None:
        super().__init__()
        self.priors = priors
        labelled, overall = np.array(priors.labelled), np.array(priors.overall)
        noted = np.divide(labelled, overall, out=np.ones_like(overall), where=overall > 0)
        # log c is -inf where nothing is noted, log(1 - c) where everything is: each leaves the other alone.
        with np.errstate(divide="ignore"):
            self._logs = torch.from_numpy(np.stack([np.log(noted), np.log1p(-noted)]))  # [2, K]

    @property
    def meaning(self) -> ScoreMeaning:
        """What the scores mean that this risk has trained."""
        return ScoreMeaning(NoneClass(), Link("sigmoid-ranking"), self.priors)

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The weighted mean over pairs."""
        return self._mean(scores, labels, weights, None)

    def of_reviewed_batch(self, scores: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor) -> Tensor:
        """The weighted mean over pairs, in which known negatives are certain."""
        return self._mean(scores, labels, weights, negatives)

    def _mean(self, scores: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor | None) -> Tensor:
        if labels.shape[1] != len(self.priors.relations):
            found, expected = labels.shape[1], len(self.priors.relations)
            raise ValueError(f"found labels of {found} relations, expected the {expected} of the priors")
        above = above_none(scores)  # [P, K]
        noted, missed = self._logs.to(scores.dtype).to(scores.device).unbind()  # [K] each
        # 1 - c σ(f) = (1 - c) + c σ(-f): a sum, in which nothing is lost to rounding.
        silent = torch.logaddexp(missed.expand_as(above), noted + logsigmoid(-above))
        if negatives is not None:
            silent = logsigmoid(-above).where(negatives, silent)
        losses = -logsigmoid(above).where(labels, silent).sum(1)  # [P]
        return weighted_mean((weights * losses).sum(), weights.sum())
