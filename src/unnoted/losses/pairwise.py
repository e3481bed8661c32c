"""Risks that are a mean over pairs of a loss of each pair alone, as supervised learning has them.

They take every unlabelled pair for a negative, so they need no priors.
"""

from abc import abstractmethod
from typing import ClassVar

from torch import Tensor

from unnoted.losses.base import Loss, weighted_mean
from unnoted.losses.decisions import Decision
from unnoted.losses.decoder import ScoreDecoder
from unnoted.losses.links import Link


class PairwiseLoss(Loss):
    """The weighted mean over pairs of `of_pairs`.

    Attributes:
        decision: the rule by which its scores predict relations.
        link: the probability that its scores show.
    """

    decision: ClassVar[Decision]
    link: ClassVar[Link]

    @property
    def decoder(self) -> ScoreDecoder:
        """What the scores mean that this loss has trained."""
        return ScoreDecoder(self.decision, self.link)

    @property
    def adds_up(self) -> bool:
        """Whether the loss of a batch, times its pairs, is a sum over pairs: it is."""
        return True

    @abstractmethod
    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The loss of every pair [P], of scores in working precision [P, K + 1] and labels [P, K]."""

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The weighted mean over pairs."""
        return weighted_mean((weights * self.of_pairs(scores, labels)).sum(), weights.sum())
