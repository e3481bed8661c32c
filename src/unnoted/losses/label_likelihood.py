"""The likelihood of the labels: how probable it is that just these facts were labelled.

Let f = f_i - f_0 be the log odds that relation i holds for a pair, Δ = σ(f), and c(f) the propensity, the
probability that such a fact was labelled (`priors.propensity`; its mean is π_l / π). Then the pair is
labelled with the probability q = c(f) Δ. What is minimised is the mean over pairs of

    - sum over labelled i of log q_i  -  sum over the others of log(1 - q_i),

the negative log likelihood. With complete labels c = 1, and this is cross-entropy. With c < 1 an unlabelled
pair costs at most -log(1 - c(f)), however sure the model is that the relation holds. Nothing can fall below
0, so no correction is needed, and a relation that is absent from a batch has its usual terms there.

A known negative is more than an unlabelled pair. That a relation was not labelled *and* does not hold has
the probability 1 - Δ, because what does not hold is never labelled. So it costs -log(1 - Δ), however its
pair came to be looked at (docs/concepts/known-negatives.md).
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.base import Loss, weighted_mean
from unnoted.losses.decisions import NoneClass, logits_above_threshold_class
from unnoted.losses.decoder import ScoreDecoder
from unnoted.losses.links import Link
from unnoted.priors import Priors
from unnoted.priors.propensity import PROPENSITY_SLOPE, labelling_log_odds

HIGHEST = 40.0
"""Log odds that stand for a label frequency of 1: complete labels."""


class LabelLikelihood(Loss):
    """The negative log likelihood of the labels, given how often a fact is labelled.

    A relation of prior 0 has c = 1: every pair counts against it.

    Args:
        priors: the labelled and overall prior of every class; the order is that of the score columns.
        propensity_slope: s, how much more often evident facts are labelled than others; with 0 labels are a
            fair sample of the true facts.

    Example:
        >>> loss = LabelLikelihood(Priors(("spouse",), labelled=(0.1,), overall=(0.2,)), propensity_slope=0)
        >>> certain = torch.tensor([[0.0, 200.0]])  # holds for sure, but only every other fact is labelled
        >>> loss(certain, torch.tensor([[True]])), loss(certain, torch.tensor([[False]]))
        (tensor(0.6931), tensor(0.6931))
        >>> loss(certain, torch.tensor([[False]]), negatives=torch.tensor([[True]]))  # a person said no
        tensor(200.)
    """

    def __init__(self, priors: Priors, propensity_slope: float = PROPENSITY_SLOPE) -> None:
        super().__init__()
        self.priors = priors
        self.propensity_slope = propensity_slope
        labelled, overall = np.array(priors.labelled), np.array(priors.overall)
        frequency = np.divide(labelled, overall, out=np.ones_like(overall), where=overall > 0)
        with np.errstate(divide="ignore"):
            log_odds = np.log(frequency) - np.log1p(-frequency)
        self._frequency = torch.from_numpy(log_odds.clip(-HIGHEST, HIGHEST))  # [K], log odds of c

    @property
    def decoder(self) -> ScoreDecoder:
        """What the scores mean that this loss has trained."""
        return ScoreDecoder(NoneClass(), Link("sigmoid-ranking"), self.priors)

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
        log_odds = logits_above_threshold_class(scores)  # f, [P, K]
        facts = weights.unsqueeze(1) * log_odds.sigmoid()
        if negatives is not None:
            facts = facts.masked_fill(negatives, 0.0)
        frequency = self._frequency.to(scores.device, scores.dtype)
        labelling = labelling_log_odds(log_odds, facts, frequency, self.propensity_slope)
        # 1 - c Δ = (1 - c) + c (1 - Δ): a sum, in which nothing is lost to rounding.
        unlabelled = torch.logaddexp(logsigmoid(-labelling), logsigmoid(labelling) + logsigmoid(-log_odds))
        if negatives is not None:
            unlabelled = logsigmoid(-log_odds).where(negatives, unlabelled)
        labelled = logsigmoid(labelling) + logsigmoid(log_odds)
        losses = -labelled.where(labels, unlabelled).sum(1)  # [P]
        return weighted_mean((weights * losses).sum(), weights.sum())
