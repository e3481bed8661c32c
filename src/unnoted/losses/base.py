"""What every loss is: scores and labels in, one number out; it never sees the model."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from unnoted.losses.decoder import ScoreDecoder
from unnoted.losses.views import Views, WantedViews

LARGEST_SCORE = 1e9
"""Scores are cut off here, far beyond what a model gives, so that squares and their sums stay finite."""

SMALLEST_WEIGHT = 1e-12
"""A weight of pairs, counted or expected, that is taken for none."""


class Loss(nn.Module, ABC):
    """A number to minimise, of the scores of P pairs and of what was labelled."""

    @property
    @abstractmethod
    def decoder(self) -> ScoreDecoder:
        """What the scores mean that this loss has trained."""

    def forward(
        self,
        scores: Tensor,
        labels: Tensor,
        weights: Tensor | None = None,
        negatives: Tensor | None = None,
    ) -> Tensor:
        """The loss of one batch, a scalar; finite, as is its gradient, for every batch of finite scores.

        Args:
            scores: [P, K + 1], the none class first. Half precision is raised to float32; only a gradient
                that float16 cannot hold comes back infinite, which is what loss scaling waits for.
            labels: bool [P, K], the facts that were noted. What was not noted is unlabelled.
            weights: [P], for how many pairs each one stands; every sum and count over pairs is weighted.
                So a sample of the unlabelled pairs, each weighted by 1 / share, leaves all means unchanged.
            negatives: bool [P, K], the known negatives, none of them labelled; None if there are none.
        """
        if scores.ndim != 2 or labels.shape != (scores.shape[0], scores.shape[1] - 1):
            found = f"scores {list(scores.shape)} and labels {list(labels.shape)}"
            raise ValueError(f"found {found}, expected [pairs, relations + 1] and [pairs, relations]")
        if weights is not None and weights.shape != scores.shape[:1]:
            raise ValueError(f"found weights {list(weights.shape)}, expected [{scores.shape[0]}]")
        scores = working(scores)
        weights = scores.new_ones(scores.shape[0]) if weights is None else weights.to(scores.dtype)
        if negatives is None:
            return self.of_batch(scores, labels.bool(), weights)
        if negatives.shape != labels.shape:
            raise ValueError(f"found negatives {list(negatives.shape)}, expected {list(labels.shape)}")
        return self.of_reviewed_batch(scores, labels.bool(), weights, negatives.bool())

    @property
    def adds_up(self) -> bool:
        """Whether the loss of a batch, times its pairs, is a sum over pairs whatever shares the batch."""
        return False

    @property
    def needs_cosines(self) -> bool:
        """Whether the scores have to be cosines."""
        return False

    @property
    def wanted_views(self) -> WantedViews | None:
        """Which further views of labelled pairs `with_views` is to be given in training; None for none."""
        return None

    def with_views(
        self, scores: Tensor, labels: Tensor, weights: Tensor, views: Views, negatives: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch, as `forward`, that also learns from the views that it wanted."""
        raise NotImplementedError(f"{type(self).__name__} wants no views")

    def forget(self) -> None:
        """Forget what was seen of earlier batches, if anything was kept: a new training begins."""

    @abstractmethod
    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The loss of scores in working precision [P, K + 1], labels [P, K] and weights [P]."""

    def of_reviewed_batch(self, scores: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor) -> Tensor:
        """The loss of a batch in which known negatives [P, K] were told from what is merely unlabelled.

        Unless a loss says otherwise it is `of_batch`: right for one that takes every unlabelled pair for a
        negative anyway.
        """
        return self.of_batch(scores, labels, weights)


def working(scores: Tensor) -> Tensor:
    """Scores as losses compute with them: half precision raised to float32, cut off at `LARGEST_SCORE`.

    Example:
        >>> import torch
        >>> working(torch.tensor([1.0, 1e30], dtype=torch.bfloat16))
        tensor([1.0000e+00, 1.0000e+09])
    """
    raised = scores.float() if scores.element_size() < 4 else scores
    return raised.clamp(-LARGEST_SCORE, LARGEST_SCORE)


def weighted_mean(total: Tensor, weight: Tensor) -> Tensor:
    """A sum divided by its weight, and 0 where there is no weight: an absent class has no loss.

    Example:
        >>> import torch
        >>> weighted_mean(torch.tensor([6.0, 0.0]), torch.tensor([3.0, 0.0]))
        tensor([2., 0.])
    """
    # The divisor of the branch not taken must not be 0 either: its gradient would be NaN.
    return (total / weight.clamp(min=SMALLEST_WEIGHT)).where(weight > SMALLEST_WEIGHT, 0.0)
