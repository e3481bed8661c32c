"""Risks that are a mean over pairs of a loss of each pair alone, as supervised learning has them.

They take every unlabelled pair for a negative, so they have no priors; and they have no choices.
"""

from abc import abstractmethod
from typing import ClassVar, Self

from torch import Tensor

from unnoted.risks.risk import Risk, Settings, weighted_mean
from unnoted.risks.settings import check_keys


class PairwiseRisk(Risk):
    """The weighted mean over pairs of `of_pairs`.

    Attributes:
        kind: its name in settings.
    """

    kind: ClassVar[str]

    @abstractmethod
    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The loss of every pair [P], of scores in working precision [P, K + 1] and labels [P, K]."""

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The weighted mean over pairs."""
        return weighted_mean((weights * self.of_pairs(scores, labels)).sum(), weights.sum())

    def settings(self) -> Settings:
        """All that is needed to make this risk again."""
        return {"kind": self.kind}

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The risk that `settings` described."""
        check_keys("risk", settings, ("kind",))
        return cls()
