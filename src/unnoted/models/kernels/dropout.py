"""Dropout that is cheap on a CPU; the same in distribution.

Drawing one random number for each value takes a fifth of a small encoder's training time on a CPU. Here eight
values share one 64-bit random number, one byte each, so that the rate is rounded to 1/256; what is kept
is scaled by the rounded rate, and so keeps its mean.
"""

import torch
from torch import Tensor, nn

HIGHEST_RATE = 255 / 256
"""A byte cannot say "always"; above this rate it is torch's own dropout."""


def random_bytes(shape: torch.Size) -> Tensor:
    """Independent uniform bytes.

    Example:
        >>> random_bytes(torch.Size([3, 5])).dtype
        torch.uint8
    """
    size = shape.numel()
    numbers = torch.empty((size + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    return numbers.view(torch.uint8)[:size].view(shape)


def dropped_bytes(rate: float) -> int:
    """How many of the 256 bytes mean "dropped", at a rate of at most `HIGHEST_RATE`: the lowest ones.

    Example:
        >>> dropped_bytes(0.1)
        26
    """
    return round(rate * 256)


def kept_share(dropped: int) -> float:
    """The share of values that is kept when so many of the 256 bytes mean "dropped".

    Example:
        >>> kept_share(64)
        0.75
    """
    return 1 - dropped / 256


def write_mask(noise: Tensor, dropped: int, out: Tensor) -> Tensor:
    """1 where a value is kept, else 0, in the type of `out`: a product with bools takes three times as long.

    Example:
        >>> write_mask(torch.tensor([0, 25, 26, 255], dtype=torch.uint8), 26, torch.empty(4))
        tensor([0., 0., 1., 1.])
    """
    return torch.ge(noise, dropped, out=out)


def plain_dropout(values: Tensor, noise: Tensor, rate: float) -> Tensor:
    """The plain twin of `FastDropout`: what it gives for these random bytes.

    Example:
        >>> plain_dropout(torch.ones(2), torch.tensor([0, 255], dtype=torch.uint8), 0.5)
        tensor([0., 2.])
    """
    dropped = dropped_bytes(rate)
    return values * (noise >= dropped) / kept_share(dropped)


class FastDropout(nn.Dropout):
    """Dropout by random bytes on a CPU; torch's own elsewhere.

    Example:
        >>> FastDropout(0.5).eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input with some values set to 0 and the others scaled, in training only."""
        if not (self.training and 0 < self.p <= HIGHEST_RATE and input.device.type == "cpu"):
            return super().forward(input)
        dropped = dropped_bytes(self.p)
        mask = write_mask(random_bytes(input.shape), dropped, torch.empty_like(input, requires_grad=False))
        return input * mask.div_(kept_share(dropped))


def use_fast_dropout(model: nn.Module) -> None:
    """Replace every dropout layer of a model; the model's weights and their names stay."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, FastDropout(child.p).train(child.training))
