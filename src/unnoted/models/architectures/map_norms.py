"""Normalisation of maps [D, C, S, S] over their cells in use, with a scale and a shift for each channel.

Documents of a batch have different numbers of entities, so a map has cells that belong to no pair. They take
no part in mean and variance, and are 0 afterwards.
"""

from typing import Literal

import torch
from torch import Tensor, nn

MapNormalisation = Literal["batch", "group"]

EPSILON = 1e-5
"""Keeps the result finite where all values are equal."""

GROUP = 8
"""How many channels `MaskedGroupNorm` normalises together."""

MOMENTUM = 0.1
"""The share of a batch in the running averages of `MaskedBatchNorm`."""


class MaskedBatchNorm(nn.Module):
    """Batch normalisation: each channel over all cells in use of the batch, as DocuNet's program has it.

    In training mode a document's values depend on those that share its batch. In evaluation mode they do not:
    the running averages of the training are used.

    Example:
        >>> norm = MaskedBatchNorm(1)
        >>> values = torch.tensor([1.0, 3.0, 9.0]).view(1, 1, 1, 3)
        >>> norm(values, torch.tensor([1.0, 1.0, 0.0]).view(1, 1, 1, 3)).detach().round(decimals=2).flatten()
        tensor([-1.,  1.,  0.])
        >>> norm.running_mean.item(), norm.running_variance.item()  # 0.1 of the batch's 2 and 2, unbiased
        (0.20000000298023224, 1.100000023841858)
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))
        self.register_buffer("running_mean", torch.zeros(channels, 1, 1))
        self.register_buffer("running_variance", torch.ones(channels, 1, 1))

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """[D, C, S, S] in float32 at least; 0 where the mask [D, 1, S, S] is."""
        dtype = torch.promote_types(values.dtype, torch.float32)
        values, mask = values.to(dtype), mask.to(dtype)
        mean, variance = self.running_mean, self.running_variance  # [C, 1, 1] each
        if self.training:
            count = mask.sum()
            mean = (values * mask).sum((0, 2, 3)).view_as(mean) / count.clamp(min=1)
            deviation = (values - mean) * mask  # [D, C, S, S]
            variance = deviation.square().sum((0, 2, 3)).view_as(variance) / count.clamp(min=1)
            self._remember(mean.detach(), variance.detach(), count)
        scaled: Tensor = (values - mean) * (torch.rsqrt(variance + EPSILON) * self.weight) + self.bias
        return scaled * mask

    def _remember(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        """Move the running averages towards a batch; a single cell says nothing of the variance."""
        share = MOMENTUM * (count > 1).to(count.dtype)
        unbiased = variance * count / (count - 1).clamp(min=1)
        self.running_mean += share * (mean - self.running_mean)
        self.running_variance += share * (unbiased - self.running_variance)


class MaskedGroupNorm(nn.Module):
    """Normalises groups of 8 channels of one document over its cells in use: for batches of one document.

    A document's values never depend on its batch, in training either. Over single channels, a map with one
    cell in use would always become 0.

    Example:
        >>> norm = MaskedGroupNorm(8)
        >>> values = torch.arange(16.0).view(1, 8, 1, 2)
        >>> norm(values, torch.tensor([1.0, 0.0]).view(1, 1, 1, 2))[0, :, 0].T.detach().round(decimals=2)
        tensor([[-1.5300, -1.0900, -0.6500, -0.2200,  0.2200,  0.6500,  1.0900,  1.5300],
                [ 0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000]])
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """[D, C, S, S] in float32 at least; 0 where the mask [D, 1, S, S] is."""
        dtype = torch.promote_types(values.dtype, torch.float32)
        mask = mask.to(dtype)
        documents, channels, *side = values.shape
        groups = values.to(dtype).view(documents, channels // GROUP, GROUP, *side)  # [D, C / 8, 8, S, S]
        used = mask.unsqueeze(1)  # [D, 1, 1, S, S]
        count = used.sum((3, 4), keepdim=True).clamp(min=1) * GROUP  # [D, 1, 1, 1, 1]
        centred = (groups - (groups * used).sum((2, 3, 4), keepdim=True) / count) * used
        variance = centred.square().sum((2, 3, 4), keepdim=True) / count
        normal = (centred * torch.rsqrt(variance + EPSILON)).flatten(1, 2)  # [D, C, S, S]
        scaled: Tensor = (normal * self.weight + self.bias) * mask
        return scaled


MAP_NORMS: dict[MapNormalisation, type[nn.Module]] = {"batch": MaskedBatchNorm, "group": MaskedGroupNorm}
"""By name; each is made from the number of channels and called with a map and its cells in use."""
