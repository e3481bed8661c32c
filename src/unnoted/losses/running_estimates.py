"""A running estimate of the negative part of every class, over so many batches as its rarity asks for.

The negative part of a class is a difference of two means, over its unlabelled and over its labelled pairs.
Both are kept as quotients of sums that decay together: by exp(−n / 20) where n labelled pairs of the class
were to be expected. So a class is judged by about its last 20 labelled pairs, whether these are two batches
or 500.
"""

import torch
from torch import Tensor, nn

from unnoted.losses.base import weighted_mean

POSITIVES = 20.0
"""How many labelled pairs of a class the estimate reaches back."""


class RunningEstimates(nn.Module):
    """The losses "if negative" of labelled and unlabelled pairs, summed over recent batches.

    The sums are a buffer: they move with the loss, and a checkpoint holds them. Nothing asks the device for a
    value.

    Args:
        relations: how many classes there are (K).
        positives: how many labelled pairs of a class the estimate reaches back.

    Example:
        >>> estimates = RunningEstimates(relations=1)
        >>> one = torch.ones(1)
        >>> estimates.see(2 * one, 4 * one, 1 * one, 1 * one, expected=one)
        >>> estimates.means()  # of unlabelled and of labelled pairs
        (tensor([0.5000]), tensor([1.]))
    """

    sums: Tensor

    def __init__(self, relations: int, positives: float = POSITIVES) -> None:
        super().__init__()
        self.positives = positives
        self.register_buffer("sums", torch.zeros(4, relations))

    def forget(self) -> None:
        """Begin anew."""
        self.sums.zero_()

    @torch.no_grad()
    def see(
        self,
        unlabelled_loss: Tensor,
        unlabelled_weight: Tensor,
        labelled_loss: Tensor,
        labelled_weight: Tensor,
        expected: Tensor,
    ) -> None:
        """Add a batch: losses and weights of its pairs, and how many labelled ones to expect, [K] each."""
        batch = torch.stack([unlabelled_loss, unlabelled_weight, labelled_loss, labelled_weight])  # [4, K]
        self.sums.mul_(torch.exp(-expected / self.positives).to(self.sums)).add_(batch.to(self.sums))

    def means(self) -> tuple[Tensor, Tensor]:
        """The mean losses of unlabelled and of labelled pairs, [K] each; 0 where none were seen."""
        unlabelled_loss, unlabelled_weight, labelled_loss, labelled_weight = self.sums.unbind()
        return weighted_mean(unlabelled_loss, unlabelled_weight), weighted_mean(
            labelled_loss, labelled_weight
        )
