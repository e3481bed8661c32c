"""The U-Net that segments an entity-by-entity map, for documents with any number of entities.

Documents of a batch have different numbers of entities. A document's values never depend on the empty cells
around it: **every map between two layers is 0 at empty cells**, which is what a convolution sees beyond an
edge, what a maximum of values that are not negative ignores, and what sums for the normalisation leave out.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, pad, relu

from unnoted.models.architectures.map_norms import GROUP, MAP_NORMS, MapNormalisation
from unnoted.models.architectures.upsampling import MAP_UPSAMPLINGS, MapUpsampling

SCALE = 4
"""The sides of a map are filled up to a multiple of this: it is halved twice."""


class UNet(nn.Module):
    """Two levels down, two levels up, with the map of each level on the way down joined on the way up.

    Args:
        channels: the channels of the image.
        width: the channels of the first level, a multiple of 16.
        output: the channels of the result.
        normalisation: after each convolution, one of `MAP_NORMS`.
        upsampling: on the way up, one of `MAP_UPSAMPLINGS`.

    Example:
        >>> unet = UNet(channels=3, width=16, output=5)
        >>> unet(torch.ones(2, 3, 6, 6), torch.ones(2, 1, 6, 6, dtype=torch.bool)).shape
        torch.Size([2, 5, 8, 8])
    """

    def __init__(
        self,
        channels: int,
        width: int,
        output: int,
        *,
        normalisation: MapNormalisation = "batch",
        upsampling: MapUpsampling = "bilinear",
    ) -> None:
        super().__init__()
        if width % (2 * GROUP):
            raise ValueError(f"found a U-Net {width} wide, expected a multiple of {2 * GROUP}")
        norm, up = MAP_NORMS[normalisation], MAP_UPSAMPLINGS[upsampling]
        self.first = UNetConvolutions(channels, width, norm)
        self.second = UNetConvolutions(width, 2 * width, norm)
        self.third = UNetConvolutions(2 * width, 2 * width, norm)
        self.up_to_second = up(2 * width)
        self.joined_second = UNetConvolutions(4 * width, width, norm)
        self.up_to_first = up(width)
        self.joined_first = UNetConvolutions(2 * width, width // 2, norm)
        self.output = nn.Conv2d(width // 2, output, 1)

    def forward(self, image: Tensor, mask: Tensor) -> Tensor:
        """The image [D, channels, E, E] and its cells in use, bool [D, 1, E, E], to [D, output, S, S].

        S is E filled up to a multiple of 4. The cells in use are a square at the top left of each map. What
        stands at the others is not defined.
        """
        entities = image.shape[2]
        missing = max(SCALE, entities + -entities % SCALE) - entities
        fine = pad(mask.to(image.dtype), (0, missing, 0, missing))  # [D, 1, S, S]
        middle = max_pool2d(fine, 2)  # in use if one of its four cells is
        coarse = max_pool2d(middle, 2)
        first = self.first(pad(image, (0, missing, 0, missing)) * fine, fine)  # [D, width, S, S]
        second = self.second(max_pool2d(first, 2), middle)  # [D, 2 width, S / 2, S / 2]
        third = self.third(max_pool2d(second, 2), coarse)  # [D, 2 width, S / 4, S / 4]
        raised = self.up_to_second(third, coarse) * middle
        joined = self.joined_second(torch.cat([second, raised], 1), middle)  # [D, width, S / 2, S / 2]
        raised = self.up_to_first(joined, middle) * fine
        joined = self.joined_first(torch.cat([first, raised], 1), fine)  # [D, width / 2, S, S]
        result: Tensor = self.output(joined)
        return result


class UNetConvolutions(nn.Module):
    """Twice: a 3 x 3 convolution, normalisation, and max(0, .). The result is 0 at cells not in use."""

    def __init__(self, channels: int, width: int, norm: type[nn.Module]) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, padding=1)
        self.first_norm = norm(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.second_norm = norm(width)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """Values [D, channels, S, S], 0 where the mask [D, 1, S, S] is, to [D, width, S, S]."""
        values = relu(self.first_norm(self.first(values), mask))
        return relu(self.second_norm(self.second(values), mask))
