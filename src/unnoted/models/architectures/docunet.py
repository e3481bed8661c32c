"""DocuNet: a U-Net over the entity-by-entity map, relations as the segmentation of an image.

All ordered pairs of a document, with a few channels W_3 c + b of their localized context c for each, are an
image with one cell a pair. A U-Net gives each cell a vector y that has seen its neighbourhood, and

    z_h = tanh(W_h [h; y] + b_h),      z_t = tanh(W_t [t; y] + b_t),

scored by a grouped bilinear. Documents of a batch have different numbers of entities. A document's values
never depend on the empty cells around it: **every map between two layers is 0 at empty cells**, which is what
a convolution sees beyond an edge, what a maximum of values that are not negative ignores, and what sums for
the normalisation leave out. As in the authors' program, the image is made from contexts, normalisation is
over the batch, and maps are raised bilinearly.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, max_pool2d, pad, relu

from unnoted.models.architectures.atlop import pool_contexts
from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import GroupedBilinear
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import pad_entities, pool_entities

SCALE = 4
"""The sides of a map are padded to a multiple of this: it is halved twice."""

EPSILON = 1e-5
"""Keeps a normalised map finite where all values are equal."""

MOMENTUM = 0.1
"""The share of a batch in the running averages of the batch normalisation."""


class DocuNetPairEncoder(PairEncoder):
    """DocuNet's pair encoder: embeddings of head and tail with what the U-Net says of the pair.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of the embeddings of head and tail.
        channels: how many channels the image has.
        unet_width: the channels of the U-Net's first level, even; the lower levels have twice as many.
        unet_output: the size of y.

    Reference:
        Zhang, Chen, Xie, Deng, Tan, Chen, Huang, Si, Chen (2021): Document-level relation extraction as
        semantic segmentation. IJCAI.
    """

    map_layers = ("channels", "unet")  # DocuNet's program counts what makes the image too

    def __init__(
        self,
        hidden_size: int,
        pair_dim: int,
        *,
        channels: int = 3,
        unet_width: int = 256,
        unet_output: int = 256,
    ) -> None:
        super().__init__()
        self.parts = [hidden_size, unet_output]
        self.channels = nn.Linear(hidden_size, channels)
        self.unet = UNet(channels, unet_width, unet_output)
        self.head_projection = nn.Linear(hidden_size + unet_output, pair_dim)
        self.tail_projection = nn.Linear(hidden_size + unet_output, pair_dim)

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, Tensor]:
        """What the U-Net makes of the maps, [D, S, S, output], and the entities' states [N, d]."""
        image, mask = self._image(encoded, batch)
        seen = self.unet(image, mask)  # [D, output, S, S]
        return seen.permute(0, 2, 3, 1), pool_entities(encoded.states, batch)

    def _image(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, Tensor]:
        """The image [D, channels, E, E], and its cells in use, bool [D, 1, E, E]."""
        contexts = pool_contexts(encoded, batch, diagonal=True)
        projected = self.channels(contexts.values)  # [C, channels]
        slot = torch.arange(batch.entities, device=batch.device)  # [E]
        count = contexts.entities[batch.entity_document].unsqueeze(1)  # [N, 1]
        # Cells without a tail read any context: they are not in use.
        rows = contexts.rows(
            batch.entity_document.unsqueeze(1), batch.entity_slot.unsqueeze(1), torch.minimum(slot, count - 1)
        )  # [N, E]
        cells = projected.index_select(0, rows.flatten()).unflatten(0, rows.shape)  # [N, E, channels]
        mask = pad_entities(slot < count, batch)  # [D, E, E]
        return pad_entities(cells, batch).permute(0, 3, 1, 2), mask.unsqueeze(1)

    def encode_pairs(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, pair_dim] each."""
        seen, states = shared
        head, tail, side = batch.head[rows], batch.tail[rows], seen.shape[1]
        row = (batch.pair_document[rows] * side + batch.entity_slot[head]) * side + batch.entity_slot[tail]
        pair = seen.flatten(0, 2).index_select(0, row)  # [p, output]
        return (
            self._embed(self.head_projection, states, head, pair),
            self._embed(self.tail_projection, states, tail, pair),
        )

    def _embed(self, projection: nn.Linear, states: Tensor, entity: Tensor, pair: Tensor) -> Tensor:
        """tanh(W [e; y] + b), with the part of W for e used once for each entity."""
        entity_weight, pair_weight = torch.split(projection.weight, self.parts, 1)
        projected = linear(states, entity_weight, projection.bias).index_select(0, entity)  # [p, pair_dim]
        return torch.tanh(projected + linear(pair, pair_weight))


class UNet(nn.Module):
    """Two levels down, two levels up, with the map of each level on the way down joined on the way up."""

    def __init__(self, channels: int, width: int, output: int) -> None:
        super().__init__()
        self.first = Convolutions(channels, width)
        self.second = Convolutions(width, 2 * width)
        self.third = Convolutions(2 * width, 2 * width)
        self.joined_second = Convolutions(4 * width, width)
        self.joined_first = Convolutions(2 * width, width // 2)
        self.output = nn.Conv2d(width // 2, output, 1)

    def forward(self, image: Tensor, mask: Tensor) -> Tensor:
        """The image [D, channels, E, E] and its cells in use, bool [D, 1, E, E], to [D, output, S, S].

        S is E padded to a multiple of 4. The cells in use are a square at the top left of each map. What
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
        raised = upsample(third, coarse) * middle
        joined = self.joined_second(torch.cat([second, raised], 1), middle)  # [D, width, S / 2, S / 2]
        raised = upsample(joined, middle) * fine
        joined = self.joined_first(torch.cat([first, raised], 1), fine)  # [D, width / 2, S, S]
        result: Tensor = self.output(joined)
        return result


class Convolutions(nn.Module):
    """Twice: a 3 x 3 convolution, normalisation, and max(0, .). The result is 0 at cells not in use."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, padding=1)
        self.first_norm = MaskedBatchNorm(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.second_norm = MaskedBatchNorm(width)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """Values [D, channels, S, S], 0 where the mask [D, 1, S, S] is, to [D, width, S, S]."""
        values = relu(self.first_norm(self.first(values), mask))
        return relu(self.second_norm(self.second(values), mask))


class MaskedBatchNorm(nn.Module):
    """Batch normalisation of maps: each channel over all cells in use of the batch.

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
            self._update_averages(mean.detach(), variance.detach(), count)
        scaled: Tensor = (values - mean) * (torch.rsqrt(variance + EPSILON) * self.weight) + self.bias
        return scaled * mask

    def _update_averages(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        """Move the running averages towards a batch; a single cell says nothing of the variance."""
        share = MOMENTUM * (count > 1).to(count.dtype)
        unbiased = variance * count / (count - 1).clamp(min=1)
        self.running_mean += share * (mean - self.running_mean)
        self.running_variance += share * (unbiased - self.running_variance)


def upsample(values: Tensor, mask: Tensor) -> Tensor:
    """Maps of twice the side, interpolated bilinearly with the corners of both maps on each other.

    Of k cells in use on a side it makes 2 k; cell i of these lies at i (k - 1) / (2 k - 1) among the k. So a
    document's own size says where its cells come from, not that of the largest document of its batch.

    Args:
        values: [D, C, s, s], 0 at empty cells.
        mask: [D, 1, s, s], the cells in use, a square at the top left of each map.

    Returns:
        [D, C, 2 s, 2 s]; what it has at empty cells is not defined.

    Example:
        >>> values = torch.tensor([[0.0, 3.0], [6.0, 9.0]]).view(1, 1, 2, 2)
        >>> upsample(values, torch.ones(1, 1, 2, 2))[0, 0].round(decimals=4)
        tensor([[0., 1., 2., 3.],
                [2., 3., 4., 5.],
                [4., 5., 6., 7.],
                [6., 7., 8., 9.]])
    """
    side = values.shape[2]
    used = mask[:, 0, :, 0].to(values.dtype).sum(1).view(-1, 1, 1)  # [D, 1, 1]
    source = torch.arange(side, dtype=values.dtype, device=values.device)  # [s]
    target = torch.arange(2 * side, dtype=values.dtype, device=values.device).unsqueeze(1)  # [2 s, 1]
    place = target * (used - 1) / (2 * used - 1)  # [D, 2 s, 1]
    share = (1 - (place - source).abs()).clamp(min=0).unsqueeze(1)  # [D, 1, 2 s, s]
    return share @ values @ share.transpose(2, 3)


@register_architecture("docunet")
def docunet(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """A U-Net over the entity-by-entity map, scored by a grouped bilinear (Zhang et al., 2021)."""
    head = GroupedBilinear(sizes.pair_dim, sizes.num_labels, sizes.block_size)
    return DocuNetPairEncoder(sizes.hidden_size, sizes.pair_dim), head
