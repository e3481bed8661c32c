"""A U-Net over the entity-by-entity map (DocuNet): relations as the segmentation of an image.

The localized contexts of all ordered pairs of a document, projected to a few channels, are an image with one
cell a pair. A U-Net gives each cell a vector y that has seen its neighbourhood, and

    z_h = tanh(W_h [h; y] + b_h),      z_t = tanh(W_t [t; y] + b_t).

Documents of a batch have different numbers of entities. A document's values never depend on the empty cells
around it: **every map between two layers is 0 at empty cells**, which is what a convolution sees beyond an
edge, what a maximum of values that are not negative ignores, and what sums for the normalisation leave out.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, max_pool2d, pad, relu

from unnoted.encoders import Encoded
from unnoted.features.batch import Batch
from unnoted.pairs.entity_map import at_pairs, context_cells, contexts, in_slots, tail_mask
from unnoted.pairs.localized_context import entity_states
from unnoted.pairs.pieces import PairsInPieces

GROUP = 8
"""How many channels are normalised together."""

SCALE = 4
"""The sides of a map are filled up to a multiple of this: it is halved twice."""


class UNetPairs(PairsInPieces):
    """The pair representation of DocuNet, from contexts.

    Args:
        width: the size of a token's state (d).
        embedding: the size of the embeddings of head and tail.
        channels: how many channels the contexts are projected to.
        unet_width: the channels of the U-Net's first level, a multiple of 16; the lower levels have twice as
            many.
        unet_output: the size of y.

    Reference:
        Zhang, Chen, Xie, Deng, Tan, Chen, Huang, Si, Chen (2021): Document-level relation extraction as
        semantic segmentation.

    Example:
        >>> pairs = UNetPairs(width=8, embedding=6, unet_width=16, unet_output=4)
        >>> pairs.head_projection
        Linear(in_features=12, out_features=6, bias=True)
    """

    map_layers: ClassVar[tuple[str, ...]] = ("channels", "unet")
    """Its layers over the map, which `map_learning_rate` is for; DocuNet's program counts what makes the
    image too."""

    def __init__(
        self, width: int, embedding: int, *, channels: int = 3, unet_width: int = 256, unet_output: int = 256
    ) -> None:
        super().__init__()
        self.parts = [width, unet_output]
        self.channels = nn.Linear(width, channels)
        self.unet = UNet(channels, unet_width, unet_output)
        self.head_projection = nn.Linear(width + unet_output, embedding)
        self.tail_projection = nn.Linear(width + unet_output, embedding)

    def shared(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """What the U-Net makes of the maps, [D, S, S, output], and the entities' states [N, d]."""
        mask = tail_mask(batch)  # [N, E]
        cells = self.channels(contexts(encoded, batch)).index_select(0, context_cells(batch))
        image = in_slots(cells.view(*mask.shape, self.channels.out_features), batch)  # [D, E, E, channels]
        seen = self.unet(image.permute(0, 3, 1, 2), in_slots(mask, batch).unsqueeze(1))  # [D, output, S, S]
        return seen.permute(0, 2, 3, 1), entity_states(encoded, batch)

    def embed(self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, embedding] each."""
        seen, states = shared
        pair = at_pairs(seen, batch, rows)  # [p, output]
        return (
            self._embed(self.head_projection, states, batch.head[rows], pair),
            self._embed(self.tail_projection, states, batch.tail[rows], pair),
        )

    def _embed(self, projection: nn.Linear, states: Tensor, entity: Tensor, pair: Tensor) -> Tensor:
        """tanh(W [e; y] + b), with the part of W for e used once for each entity."""
        entity_weight, pair_weight = torch.split(projection.weight, self.parts, 1)
        projected = linear(states, entity_weight, projection.bias).index_select(0, entity)  # [P, embedding]
        return torch.tanh(projected + linear(pair, pair_weight))


class UNet(nn.Module):
    """Two levels down, two levels up, with the map of each level on the way down joined on the way up.

    Args:
        channels: the channels of the image.
        width: the channels of the first level, a multiple of 16.
        output: the channels of the result.

    Example:
        >>> unet = UNet(channels=3, width=16, output=5)
        >>> unet(torch.ones(2, 3, 6, 6), torch.ones(2, 1, 6, 6, dtype=torch.bool)).shape
        torch.Size([2, 5, 8, 8])
    """

    def __init__(self, channels: int, width: int, output: int) -> None:
        super().__init__()
        if width % (2 * GROUP):
            raise ValueError(f"found a U-Net {width} wide, expected a multiple of {2 * GROUP}")
        self.first = UNetConvolutions(channels, width)
        self.second = UNetConvolutions(width, 2 * width)
        self.third = UNetConvolutions(2 * width, 2 * width)
        self.up_to_second = nn.ConvTranspose2d(2 * width, 2 * width, 2, stride=2)
        self.joined_second = UNetConvolutions(4 * width, width)
        self.up_to_first = nn.ConvTranspose2d(width, width, 2, stride=2)
        self.joined_first = UNetConvolutions(2 * width, width // 2)
        self.output = nn.Conv2d(width // 2, output, 1)

    def forward(self, image: Tensor, mask: Tensor) -> Tensor:
        """The image [D, channels, E, E] and its cells in use, bool [D, 1, E, E], to [D, output, S, S].

        S is E filled up to a multiple of 4. What stands at the cells not in use is not defined.
        """
        entities = image.shape[2]
        missing = max(SCALE, entities + -entities % SCALE) - entities
        fine = pad(mask.to(image.dtype), (0, missing, 0, missing))  # [D, 1, S, S]
        middle = max_pool2d(fine, 2)  # in use if one of its four cells is
        coarse = max_pool2d(middle, 2)
        first = self.first(pad(image, (0, missing, 0, missing)) * fine, fine)  # [D, width, S, S]
        second = self.second(max_pool2d(first, 2), middle)  # [D, 2 width, S / 2, S / 2]
        third = self.third(max_pool2d(second, 2), coarse)  # [D, 2 width, S / 4, S / 4]
        raised = self.up_to_second(third) * middle
        joined = self.joined_second(torch.cat([second, raised], 1), middle)  # [D, width, S / 2, S / 2]
        raised = self.up_to_first(joined) * fine
        joined = self.joined_first(torch.cat([first, raised], 1), fine)  # [D, width / 2, S, S]
        result: Tensor = self.output(joined)
        return result


class UNetConvolutions(nn.Module):
    """Twice: a 3 x 3 convolution, normalisation, and max(0, .). The result is 0 at cells not in use."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, padding=1)
        self.first_norm = MaskedGroupNorm(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.second_norm = MaskedGroupNorm(width)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """Values [D, channels, S, S], 0 where the mask [D, 1, S, S] is, to [D, width, S, S]."""
        values = relu(self.first_norm(self.first(values), mask))
        return relu(self.second_norm(self.second(values), mask))


class MaskedGroupNorm(nn.Module):
    """Normalises groups of 8 channels of one document over its cells in use.

    Batch normalisation would make a document's scores depend on its batch; over single channels, a map with
    one cell in use would always become 0.

    Example:
        >>> norm = MaskedGroupNorm(8)
        >>> values = torch.arange(16.0).view(1, 8, 1, 2)
        >>> norm(values, torch.tensor([1.0, 0.0]).view(1, 1, 1, 2))[0, :, 0].T.detach().round(decimals=2)
        tensor([[-1.5300, -1.0900, -0.6500, -0.2200,  0.2200,  0.6500,  1.0900,  1.5300],
                [ 0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000,  0.0000]])
    """

    EPSILON = 1e-5

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
        normal = (centred * torch.rsqrt(variance + self.EPSILON)).flatten(1, 2)  # [D, C, S, S]
        scaled: Tensor = (normal * self.weight + self.bias) * mask
        return scaled
