"""From a map of half the side to the full one, for a U-Net's way up.

Each is called with maps [D, C, s, s] that are 0 at empty cells and their cells in use [D, 1, s, s], a square
at the top left of each map, and gives [D, C, 2 s, 2 s]. What it gives for empty cells is not defined.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import conv_transpose2d

MapUpsampling = Literal["bilinear", "deconvolution"]


class BilinearUpsampling(nn.Module):
    """Interpolates between cells, the corners of both maps on each other: what DocuNet's program does.

    Of k cells in use on a side it makes 2 k; cell i of these lies at i (k - 1) / (2 k - 1) among the k. So a
    document's own size says where its cells come from, not that of the largest document of its batch.

    Example:
        >>> up = BilinearUpsampling(channels=1)
        >>> values = torch.tensor([[0.0, 3.0], [6.0, 9.0]]).view(1, 1, 2, 2)
        >>> up(values, torch.ones(1, 1, 2, 2))[0, 0].round(decimals=4)
        tensor([[0., 1., 2., 3.],
                [2., 3., 4., 5.],
                [4., 5., 6., 7.],
                [6., 7., 8., 9.]])
    """

    def __init__(self, channels: int) -> None:
        super().__init__()

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """[D, C, s, s] to [D, C, 2 s, 2 s]."""
        side = values.shape[2]
        used = mask[:, 0, :, 0].to(values.dtype).sum(1).view(-1, 1, 1)  # [D, 1, 1]
        source = torch.arange(side, dtype=values.dtype, device=values.device)  # [s]
        target = torch.arange(2 * side, dtype=values.dtype, device=values.device).unsqueeze(1)  # [2 s, 1]
        place = target * (used - 1) / (2 * used - 1)  # [D, 2 s, 1]
        share = (1 - (place - source).abs()).clamp(min=0).unsqueeze(1)  # [D, 1, 2 s, s]
        return share @ values @ share.transpose(2, 3)


class Deconvolution(nn.Module):
    """A transposed convolution: each cell becomes 2 x 2 by four matrices, as DocuNet's paper says.

    Example:
        >>> Deconvolution(channels=4)(torch.ones(1, 4, 3, 3), torch.ones(1, 1, 3, 3)).shape
        torch.Size([1, 4, 6, 6])
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        made = nn.ConvTranspose2d(channels, channels, 2, stride=2)
        self.weight, self.bias = made.weight, made.bias

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """[D, C, s, s] to [D, C, 2 s, 2 s]."""
        return conv_transpose2d(values, self.weight, self.bias, stride=2)


MAP_UPSAMPLINGS: dict[MapUpsampling, type[nn.Module]] = {
    "bilinear": BilinearUpsampling,
    "deconvolution": Deconvolution,
}
"""By name; each is made from the number of channels."""
