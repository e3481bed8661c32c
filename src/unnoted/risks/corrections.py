"""Non-negative corrections: what to do with a class whose negative part was estimated below 0.

The part is a difference of two means and estimates something that cannot be negative. Left alone, a flexible
model drives it down without end (Kiryo et al., 2017).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor


class Correction(Protocol):
    """The positive and negative parts of each class [K] to its risk [K]."""

    name: ClassVar[str]

    def __call__(self, positive: Tensor, negative: Tensor) -> Tensor:
        """The risk of every class."""


@dataclass(frozen=True)
class Uncorrected:
    """The plain sum, which is unbiased (Eq. 5 and 10).

    Example:
        >>> import torch
        >>> Uncorrected()(torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0]))
        tensor([3., 1.])
    """

    name: ClassVar[str] = "none"

    def __call__(self, positive: Tensor, negative: Tensor) -> Tensor:
        """The risk of every class."""
        return positive + negative


@dataclass(frozen=True)
class Clamp:
    """The negative part is never below 0 (Eq. 6 and 11); where it would be, the positives alone teach.

    Example:
        >>> import torch
        >>> Clamp()(torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0]))
        tensor([3., 2.])
    """

    name: ClassVar[str] = "clamp"

    def __call__(self, positive: Tensor, negative: Tensor) -> Tensor:
        """The risk of every class."""
        return positive + negative.clamp(min=0)


@dataclass(frozen=True)
class Flip:
    """Where the negative part is below 0, minus that part is the whole risk of the class.

    A step then undoes the over-fitting and does nothing else. This is how the paper's figures were made.

    Example:
        >>> import torch
        >>> Flip()(torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0]))
        tensor([3., 1.])
    """

    name: ClassVar[str] = "flip"

    def __call__(self, positive: Tensor, negative: Tensor) -> Tensor:
        """The risk of every class."""
        return (-negative).where(negative < 0, positive + negative)


FLIP = Flip()

CORRECTIONS: Mapping[str, Correction] = {"none": Uncorrected(), "clamp": Clamp(), "flip": FLIP}
"""Every correction by name."""
