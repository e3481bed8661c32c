"""Axial attention over the entity-by-entity map (KD-DocRE): a pair sees those that share its head or tail.

The embeddings of head and tail of localized context pooling, for all ordered pairs of a document, become one
vector g for each pair by a grouped bilinear. In each of a few layers a pair (h, t) attends to its row, the
pairs (h, .), and to its column, the pairs (., t), so that a relation over a third entity can be read off:

    x <- norm(W (x + row attention(x) + column attention(x)) + b),      pair = g + x after the last layer.

All layers work on rows [N, E, c] (see `entity_map`): one row of cells for each entity of the batch, as a
sequence of its own. A column is the row of the transposed map. Cells without a tail are no keys, so what
stands there is never seen.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from unnoted.encoders import Encoded
from unnoted.features.batch import Batch
from unnoted.pairs.entity_map import (
    context_cells,
    contexts,
    in_slots,
    pair_cells,
    tail_mask,
    transposition,
)
from unnoted.pairs.grouped_bilinear import GroupedBilinear
from unnoted.pairs.localized_context import entity_states

CELLS_KEPT = 2**13
"""With more cells than this (N x E), each layer is recomputed in the backward pass instead of kept."""


class AxialPairs(nn.Module):
    """The pair representation of KD-DocRE: one vector for each pair, to be scored by a linear layer.

    Args:
        width: the size of a token's state (d).
        embedding: the size of the embeddings of head and tail, a multiple of `block`.
        map_width: the size of a pair's vector, a multiple of `heads`; by default that of a token's state.
        layers: how many layers of axial attention.
        heads: the attention heads of each.
        block: the size of a block of the grouped bilinear.

    Reference:
        Tan, He, Bing, Ng (2022): Document-level relation extraction with adaptive focal loss and knowledge
        distillation.

    Example:
        >>> pairs = AxialPairs(width=16, embedding=8, layers=2, heads=4, block=4)
        >>> pairs.map_width, len(pairs.layers)
        (16, 2)
    """

    def __init__(
        self,
        width: int,
        embedding: int,
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
        self.bilinear = GroupedBilinear(embedding, self.map_width, block)
        self.layers = nn.ModuleList(AxialLayer(self.map_width, heads) for _ in range(layers))

    def forward(self, encoded: Encoded, batch: Batch) -> tuple[Tensor]:
        """The vector of every pair, [P, map_width], as a tuple of one."""
        head, tail = self._embed(encoded, batch)  # [N, E, embedding] each
        features = self.bilinear(head.flatten(0, 1), tail.flatten(0, 1))  # [N * E, map_width]
        mask, transposed = tail_mask(batch), transposition(batch)
        recompute = len(features) > CELLS_KEPT and torch.is_grad_enabled()
        cells = features.view(*mask.shape, self.map_width)  # [N, E, map_width]
        for layer in self.layers:
            if recompute:
                cells = checkpoint(layer, cells, mask, transposed, use_reentrant=False)
            else:
                cells = layer(cells, mask, transposed)
        return ((features + cells.flatten(0, 1)).index_select(0, pair_cells(batch)),)

    def _embed(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """tanh(W [e; c] + b) for head and tail of every cell, with each part of W used where it is cheap."""
        states = entity_states(encoded, batch)  # [N, d]
        head_weight, head_context_weight = torch.split(self.head_projection.weight, self.width, 1)
        tail_weight, tail_context_weight = torch.split(self.tail_projection.weight, self.width, 1)
        weight = torch.cat([head_context_weight, tail_context_weight])  # [2 embedding, d]
        projected = linear(contexts(encoded, batch), weight).index_select(0, context_cells(batch))
        projected = projected.view(len(states), batch.entities, len(weight))  # [N, E, 2 embedding]
        head_context, tail_context = projected.chunk(2, 2)
        head = linear(states, head_weight, self.head_projection.bias).unsqueeze(1)  # [N, 1, embedding]
        tail = in_slots(linear(states, tail_weight, self.tail_projection.bias), batch)  # [D, E, embedding]
        tail = tail.index_select(0, batch.entity_document)  # [N, E, embedding]
        return torch.tanh(head + head_context), torch.tanh(tail + tail_context)


class AxialLayer(nn.Module):
    """Attention along rows and along columns, added to the cells; then a linear layer and normalisation.

    Example:
        >>> layer = AxialLayer(width=8, heads=2)
        >>> cells, mask = torch.ones(3, 3, 8), torch.ones(3, 3, dtype=torch.bool)  # one document, 3 entities
        >>> transposed = torch.arange(9).view(3, 3).t().flatten()
        >>> layer(cells, mask, transposed).shape
        torch.Size([3, 3, 8])
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.rows = RowAttention(width, heads)
        self.columns = RowAttention(width, heads)
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, cells: Tensor, mask: Tensor, transposed: Tensor) -> Tensor:
        """The cells [N, E, width] after one layer; `mask` bool [N, E], `transposed` as of `transposition`."""
        columns = cells.flatten(0, 1).index_select(0, transposed).view_as(cells)
        columns = self.columns(columns, mask).flatten(0, 1).index_select(0, transposed)
        refined: Tensor = self.norm(self.linear(cells + self.rows(cells, mask) + columns.view_as(cells)))
        return refined


class RowAttention(nn.Module):
    """Multi-head attention within each row: queries, keys and values without bias, the result with one."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width)

    def forward(self, cells: Tensor, mask: Tensor) -> Tensor:
        """[N, E, width] to [N, E, width]; where the mask, bool [N, E], is False, there is no key."""
        entities, slots, width = cells.shape
        projected = self.projection(cells).view(entities, slots, 3, self.heads, width // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # [N, heads, E, width / heads] each
        attended = scaled_dot_product_attention(query, key, value, mask[:, None, None])
        result: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return result
