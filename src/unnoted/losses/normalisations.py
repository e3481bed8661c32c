"""Batch normalisations: what makes the sums over labelled and unlabelled pairs into means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor


class Normalisation(Protocol):
    """Counts in the batch to divisors (labelled [K], unlabelled [K]).

    Attributes:
        name: in settings.
        adds_up: whether a batch's loss, times its pairs, is a sum over pairs whatever shares the batch.
    """

    name: ClassVar[str]
    adds_up: ClassVar[bool]

    def __call__(self, labelled: Tensor, unlabelled: Tensor, prior: Tensor) -> tuple[Tensor, Tensor]:
        """The two divisors of every class.

        Args:
            labelled: [K], the weight of the pairs labelled with the class.
            unlabelled: [K], the weight of the pairs that are not.
            prior: [K], the labelled prior π_l.
        """


@dataclass(frozen=True)
class PerBatch:
    """By the pairs that are in the batch, as the paper does.

    A class that is absent from a batch has no positive term there. Most classes are absent from most batches,
    so this shrinks the positive terms of a rare class by its chance of being present.

    Example:
        >>> import torch
        >>> PerBatch()(torch.tensor([2.0]), torch.tensor([6.0]), torch.tensor([0.5]))
        (tensor([2.]), tensor([6.]))
    """

    name: ClassVar[str] = "per-batch"
    adds_up: ClassVar[bool] = False

    def __call__(self, labelled: Tensor, unlabelled: Tensor, prior: Tensor) -> tuple[Tensor, Tensor]:
        """The two divisors of every class."""
        return labelled, unlabelled


@dataclass(frozen=True)
class Expected:
    """By the pairs to be expected in a batch of N: N π_l and N (1 − π_l).

    A class that is rarely present then counts the more where it is, and the mean over batches is unbiased.

    Example:
        >>> import torch
        >>> Expected()(torch.tensor([2.0]), torch.tensor([6.0]), torch.tensor([0.5]))
        (tensor([4.]), tensor([4.]))
    """

    name: ClassVar[str] = "expected"
    adds_up: ClassVar[bool] = True

    def __call__(self, labelled: Tensor, unlabelled: Tensor, prior: Tensor) -> tuple[Tensor, Tensor]:
        """The two divisors of every class."""
        pairs = labelled + unlabelled
        return pairs * prior, pairs * (1 - prior)


PER_BATCH = PerBatch()

NORMALISATIONS: Mapping[str, Normalisation] = {"per-batch": PER_BATCH, "expected": Expected()}
"""Every batch normalisation by name."""
