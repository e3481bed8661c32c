"""Axial attention over the entity-by-entity map (KD-DocRE): a pair sees those that share its head or tail.

The embeddings of head and tail of localized context pooling, for all ordered pairs of a document, become one
vector g for each pair by a grouped bilinear. In each of a few layers a pair (h, t) attends to its row, the
pairs (h, .), and to its column, the pairs (., t), so that a relation over a third entity can be read off:

    x <- norm(W (x + row attention(x) + column attention(x)) + b),      pair = g + x after the last layer.

What a layer does to each cell by itself is done to a list of cells. For attention they are put into rows
[N, E, c] (see `entity_map`): one row for each entity of the batch, as a sequence of its own. A column is the
row of the transposed map. Cells without a tail are no keys, so what stands there is never seen.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from unnoted.models.architectures.entity_map import (
    context_cells,
    contexts,
    pair_cells,
    tail_mask,
    transposition,
)
from unnoted.models.architectures.localized_context import entity_states
from unnoted.models.architectures.pieces import PairsInPieces
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded

CELLS_KEPT = 2**13
"""With more cells than this, each layer is recomputed in the backward pass instead of kept."""

COUNTED_ON = ("cpu",)
"""Kinds of devices on which cells without a tail are left out. Elsewhere they are worked on and not used: to
learn how many there are would make the CPU wait."""


class Places(NamedTuple):
    """Where C listed cells stand in rows, or columns as rows, of N x E places.

    Attributes:
        source: int64 [N * E], the listed cell that comes to each place; any where none belongs.
        place: int64 [C], the place that each listed cell comes to.
    """

    source: Tensor
    place: Tensor


class Cells(NamedTuple):
    """The cells that are worked on, C of them.

    Attributes:
        number: int64 [C], their places in rows.
        mask: bool [N, E], the places that have a tail.
        rows: where they stand in rows.
        columns: where they stand in columns, that is in the rows of the transposed map.
    """

    number: Tensor
    mask: Tensor
    rows: Places
    columns: Places

    @classmethod
    def of(cls, batch: Batch) -> "Cells":
        """Those that have a tail, or all, by the batch's device (`COUNTED_ON`)."""
        mask, transposed = tail_mask(batch), transposition(batch)
        every = torch.arange(mask.numel(), device=batch.device)  # [N * E]
        number = mask.flatten().nonzero().squeeze(1) if batch.device.type in COUNTED_ON else every
        listed = torch.zeros_like(every).index_copy(0, number, every[: len(number)])
        rows = Places(listed, number)
        return cls(number, mask, rows, Places(listed[transposed], transposed[number]))


class AxialPairs(PairsInPieces):
    """The pair representation of KD-DocRE: one vector for each pair, to be scored by a linear layer.

    Args:
        width: the size of a token's state (d).
        embedding: the size of the embeddings of head and tail, a multiple of `block`; as published, that of
            a token's state. Most of the time goes with its product with `map_width`.
        bilinear: makes the bilinear layer that joins head and tail from their size, `map_width` and `block`
            (`unnoted.models.scores.GroupedBilinear`).
        map_width: the size of a pair's vector, a multiple of `heads`; by default that of a token's state.
        layers: how many layers of axial attention.
        heads: the attention heads of each.
        block: the size of a block of the grouped bilinear.

    Reference:
        Tan, He, Bing, Ng (2022): Document-level relation extraction with adaptive focal loss and knowledge
        distillation.

    Example:
        >>> from unnoted.models.scores import GroupedBilinear
        >>> pairs = AxialPairs(16, 8, GroupedBilinear, layers=2, heads=4, block=4)
        >>> pairs.map_width, len(pairs.layers)
        (16, 2)
    """

    map_layers: ClassVar[tuple[str, ...]] = ("layers",)
    """Its layers over the map, which `map_learning_rate` is for."""

    def __init__(
        self,
        width: int,
        embedding: int,
        bilinear: Callable[[int, int, int], nn.Module],
        *,
        map_width: int | None = None,
        layers: int = 6,
        heads: int = 8,
        block: int = 64,
    ) -> None:
        super().__init__()
        self.width = width
        self.map_width = width if map_width is None else map_width
        if self.map_width % heads:
            raise ValueError(f"found pairs {self.map_width} wide, expected a multiple of the {heads} heads")
        self.head_projection = nn.Linear(2 * width, embedding)
        self.tail_projection = nn.Linear(2 * width, embedding)
        self.bilinear = bilinear(embedding, self.map_width, block)
        self.layers = nn.ModuleList(AxialLayer(self.map_width, heads) for _ in range(layers))

    def shared(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vectors of all cells, [C, map_width], and the cell of each pair, int64 [P]."""
        cells = Cells.of(batch)
        features = self.bilinear(*self._embed(encoded, batch, cells))  # [C, map_width]
        recompute = len(features) > CELLS_KEPT and torch.is_grad_enabled()
        refined = features
        for layer in self.layers:
            if recompute:
                refined = checkpoint(layer, refined, cells, use_reentrant=False)
            else:
                refined = layer(refined, cells)
        return features + refined, cells.rows.source[pair_cells(batch)]

    def embed(self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor) -> tuple[Tensor]:
        """The vectors of some pairs, [p, map_width], as a tuple of one."""
        return (shared[0].index_select(0, shared[1][rows]),)

    def _embed(self, encoded: Encoded, batch: Batch, cells: Cells) -> tuple[Tensor, Tensor]:
        """tanh(W [e; c] + b) for head and tail of every cell, with each part of W used where it is cheap."""
        states = entity_states(encoded, batch)  # [N, d]
        head_weight, head_context_weight = torch.split(self.head_projection.weight, self.width, 1)
        tail_weight, tail_context_weight = torch.split(self.tail_projection.weight, self.width, 1)
        weight = torch.cat([head_context_weight, tail_context_weight])  # [2 embedding, d]
        context = context_cells(batch)[cells.number]  # [C]
        projected = linear(contexts(encoded, batch), weight).index_select(0, context)
        head_context, tail_context = projected.chunk(2, 1)  # [C, embedding] each
        head, tail = (place // max(1, batch.entities) for place in (cells.rows.place, cells.columns.place))
        from_head = linear(states, head_weight, self.head_projection.bias).index_select(0, head)
        from_tail = linear(states, tail_weight, self.tail_projection.bias).index_select(0, tail)
        return torch.tanh(from_head + head_context), torch.tanh(from_tail + tail_context)


class AxialLayer(nn.Module):
    """Attention along rows and along columns, added to the cells; then a linear layer and normalisation."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.rows = RowAttention(width, heads)
        self.columns = RowAttention(width, heads)
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, values: Tensor, cells: Cells) -> Tensor:
        """The values of the cells [C, width] after one layer."""
        rows = self.rows(values, cells.rows, cells.mask)
        columns = self.columns(values, cells.columns, cells.mask)
        refined: Tensor = self.norm(self.linear(values + rows + columns))
        return refined


class RowAttention(nn.Module):
    """Multi-head attention within each row: queries, keys and values without bias, the result with one.

    Example:
        >>> attention, every = RowAttention(width=8, heads=2), torch.arange(9)
        >>> mask = torch.ones(3, 3, dtype=torch.bool)  # one document, 3 entities
        >>> attention(torch.ones(9, 8), Places(every, every), mask).shape
        torch.Size([9, 8])
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width)

    def forward(self, values: Tensor, places: Places, mask: Tensor) -> Tensor:
        """[C, width] to [C, width]; where the mask, bool [N, E], is False, there is no key."""
        projected = self.projection(values).index_select(0, places.source)  # [N * E, 3 width]
        size = values.shape[1] // self.heads
        query, key, value = projected.view(*mask.shape, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(query, key, value, mask[:, None, None])  # [N, heads, E, size]
        attended = attended.transpose(1, 2).flatten(2).flatten(0, 1)  # [N * E, width]
        result: Tensor = self.output(attended.index_select(0, places.place))
        return result
