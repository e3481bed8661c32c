"""The likelihood of the labels, given how often, and how selectively, true facts are labelled."""

from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.calibration.propensity import PROPENSITY_SLOPE, labelling_log_odds
from unnoted.losses.base import (
    Loss,
    RelationConstants,
    check_relations,
    register_loss,
    sum_over_processes,
    weighted_mean,
)
from unnoted.losses.decoding import DecisionRule, Link, ScoreDecoder, logits_above_threshold_class
from unnoted.priors import Priors

HIGHEST_LOG_ODDS = 40.0
"""Log odds that stand for a label frequency of 1: complete labels."""


@register_loss("label-likelihood")
class LabelLikelihood(Loss):
    """The negative log-likelihood of the labels: the mean over pairs of these terms.

        - sum over labelled i of log q_i  -  sum over the others of log(1 - q_i),    q_i = c(f) Δ.

    f = f_i - f_0 is the log odds that relation i holds for a pair, Δ = σ(f), and c(f) the labelling
    propensity (`calibration.propensity`), whose mean is the label frequency π_l / π. With complete labels c = 1,
    and this is cross-entropy. With c < 1 an unlabelled pair costs at most -log(1 - c(f)), however sure the
    model is that the relation holds. Nothing can fall below 0, so no correction is needed, and a relation
    that is absent from a batch has its usual terms there.

    A known negative costs -log(1 - Δ): what does not hold is never labelled, however its pair came to be
    looked at (docs/concepts/losses.md).

    Args:
        priors: the labelled and overall prior of every class, in the order of the logits. A relation of prior
            0 has c = 1: every pair counts against it.
        propensity_slope: s, how much more often evident facts are labelled than others; with 0 the labels are
            a fair sample of the true facts (selected completely at random).

    Example:
        >>> loss = LabelLikelihood(Priors(("spouse",), labelled=(0.1,), overall=(0.2,)), propensity_slope=0)
        >>> certain = torch.tensor([[0.0, 200.0]])  # holds for sure, but only every other fact is labelled
        >>> loss(certain, torch.tensor([[True]])), loss(certain, torch.tensor([[False]]))
        (tensor(0.6931), tensor(0.6931))
        >>> loss(certain, torch.tensor([[False]]), negatives=torch.tensor([[True]]))  # a person said no
        tensor(200.)
    """

    def __init__(
        self, priors: Priors, propensity_slope: Annotated[float, Field(ge=0)] = PROPENSITY_SLOPE
    ) -> None:
        super().__init__()
        self.priors = priors
        self.propensity_slope = propensity_slope
        labelled, overall = np.array(priors.labelled), np.array(priors.overall)
        frequency = np.divide(labelled, overall, out=np.ones_like(overall), where=overall > 0)
        with np.errstate(divide="ignore"):
            log_odds = np.log(frequency) - np.log1p(-frequency)
        self._frequency = RelationConstants(
            log_odds.clip(-HIGHEST_LOG_ODDS, HIGHEST_LOG_ODDS)
        )  # [K], log odds of c

    @property
    def decoder(self) -> ScoreDecoder:
        """How logits that this loss has trained are decoded."""
        return ScoreDecoder(DecisionRule(), Link("sigmoid-ranking"), self.priors)

    def batch_loss(self, logits: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor | None) -> Tensor:
        """The weighted mean over pairs."""
        check_relations(labels, self.priors)
        log_odds = logits_above_threshold_class(logits)  # f, [P, K]
        facts = weights.unsqueeze(1) * log_odds.sigmoid()
        if negatives is not None:
            facts = facts.masked_fill(negatives, 0.0)
        labelling = labelling_log_odds(
            log_odds, facts, self._frequency.like(logits), self.propensity_slope,
            total=lambda values: sum_over_processes(values.sum()),
        )  # fmt: skip
        # 1 - c Δ = (1 - c) + c (1 - Δ): a sum, in which nothing is lost to rounding.
        unlabelled = torch.logaddexp(logsigmoid(-labelling), logsigmoid(labelling) + logsigmoid(-log_odds))
        if negatives is not None:
            unlabelled = logsigmoid(-log_odds).where(negatives, unlabelled)
        labelled = logsigmoid(labelling) + logsigmoid(log_odds)
        losses = -labelled.where(labels, unlabelled).sum(1)  # [P]
        return weighted_mean((weights * losses).sum(), weights.sum())
