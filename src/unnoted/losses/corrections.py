"""Non-negative corrections: what to do with a class whose negative part was estimated below 0.

The part is a difference of two means and estimates something that cannot be negative. Left alone, a flexible
model drives it down without end (Kiryo et al., 2017).

In a small batch the difference is mostly noise: at the optimum it is 0 on average, so that half of the
batches lie below. `Running` therefore looks at a running estimate over many batches; see `running_estimates`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor


class Correction(Protocol):
    """The positive and negative parts of each class [K] to its loss [K].

    Attributes:
        name: in settings.
        is_running: whether it judges by an estimate over many batches, which `judged` then has.
    """

    name: ClassVar[str]
    is_running: ClassVar[bool]

    def __call__(self, positive: Tensor, negative: Tensor, judged: Tensor | None = None) -> Tensor:
        """The loss of every class.

        Args:
            positive: [K], the positive part in this batch.
            negative: [K], the negative part in this batch.
            judged: [K], an estimate of the negative part over many batches; None for this batch alone.
        """


@dataclass(frozen=True)
class Uncorrected:
    """The plain sum, which is unbiased (Eq. 5 and 10).

    Example:
        >>> import torch
        >>> Uncorrected()(torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0]))
        tensor([3., 1.])
    """

    name: ClassVar[str] = "none"
    is_running: ClassVar[bool] = False

    def __call__(self, positive: Tensor, negative: Tensor, judged: Tensor | None = None) -> Tensor:
        """The loss of every class."""
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
    is_running: ClassVar[bool] = False

    def __call__(self, positive: Tensor, negative: Tensor, judged: Tensor | None = None) -> Tensor:
        """The loss of every class."""
        return positive + negative.clamp(min=0)


@dataclass(frozen=True)
class Flip:
    """Where the negative part is below 0, minus that part is the whole loss of the class.

    A step then undoes the over-fitting and does nothing else. This is how the paper's figures were made.

    Example:
        >>> import torch
        >>> Flip()(torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0]))
        tensor([3., 1.])
    """

    name: ClassVar[str] = "flip"
    is_running: ClassVar[bool] = False

    def __call__(self, positive: Tensor, negative: Tensor, judged: Tensor | None = None) -> Tensor:
        """The loss of every class."""
        return (-negative).where(negative < 0, positive + negative)


@dataclass(frozen=True)
class Running:
    """A class has no negative part while its running estimate is below 0; then its positives alone teach.

    Where the estimate is 0 or more, the part counts as it is in this batch, also below 0. So whether a class
    is corrected hardly depends on the noise of the batch that is corrected, and small batches stay unbiased.

    Example:
        >>> import torch
        >>> positive, negative = torch.tensor([2.0, 2.0]), torch.tensor([1.0, -1.0])
        >>> Running()(positive, negative, judged=torch.tensor([-0.1, 0.1]))
        tensor([2., 1.])
    """

    name: ClassVar[str] = "running"
    is_running: ClassVar[bool] = True

    def __call__(self, positive: Tensor, negative: Tensor, judged: Tensor | None = None) -> Tensor:
        """The loss of every class."""
        below = (negative if judged is None else judged) < 0
        return positive + negative.masked_fill(below, 0.0)


FLIP = Flip()

CORRECTIONS: Mapping[str, Correction] = {
    "none": Uncorrected(),
    "clamp": Clamp(),
    "flip": FLIP,
    "running": Running(),
}
"""Every correction by name."""
