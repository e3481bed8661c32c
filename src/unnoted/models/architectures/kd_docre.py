"""KD-DocRE: axial attention, where a pair sees the pairs that share its head or its tail.

The embeddings of head and tail of localized context pooling, for all ordered pairs of a document, become one
vector g for each pair by a grouped bilinear. In each of a few layers a pair (h, t) attends to its row, the
pairs (h, .), and to its column, the pairs (., t), so that a relation over a third entity can be read off:

    x <- norm(W (x + row attention(x) + column attention(x)) + b),      pair = g + x after the last layer,

scored by a linear layer. What a layer does to each cell by itself is done to the list of the C cells of all
documents. For attention they are put into rows [N, E]: one row for each entity of the batch, as a sequence of
its own. A column is a row of the transposed map. Places without a tail are no keys.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from unnoted.models.architectures.atlop import PairContexts, pool_contexts
from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import GroupedBilinear, LinearHead
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import pool_entities

CELLS_KEPT = 2**13
"""With more cells than this, each layer is recomputed in the backward pass instead of kept."""


class Cells(NamedTuple):
    """The C ordered pairs of entities of all documents, each entity with itself included.

    Attributes:
        head: int64 [C], row of the entity.
        tail: int64 [C], row of the entity.
        pair: int64 [P], the cell of each candidate pair.
        place: int64 [C], where each cell stands among the N x E places of rows.
        transposed: int64 [C], the cell of tail and head.
        mask: bool [N, E], the places that have a tail.
    """

    head: Tensor
    tail: Tensor
    pair: Tensor
    place: Tensor
    transposed: Tensor
    mask: Tensor

    @classmethod
    def from_batch(cls, batch: Batch, entities: Tensor) -> "Cells":
        """Of a batch, and how many entities each document has, int64 [D]."""
        total = sum(count**2 for count in batch.entity_counts)
        count = entities[batch.entity_document]  # [N], the cells of each head
        start = count.cumsum(0) - count  # [N]
        number = torch.arange(len(count), device=batch.device)
        head = torch.repeat_interleave(number, count, output_size=total)  # [C]
        slot = torch.arange(total, device=batch.device) - start[head]
        tail = (number - batch.entity_slot)[head] + slot
        return cls(
            head=head,
            tail=tail,
            pair=start[batch.head] + batch.entity_slot[batch.tail],
            place=head * batch.entities + slot,
            transposed=start[tail] + batch.entity_slot[head],
            mask=torch.arange(batch.entities, device=batch.device) < count.unsqueeze(1),
        )


class AxialPairEncoder(PairEncoder):
    """KD-DocRE's pair encoder: one vector for each pair.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of the embeddings of head and tail, a multiple of `block_size`. Most of the time goes with
            its product with `map_dim`.
        map_dim: of a pair's vector, a multiple of `heads`; by default that of a token's state.
        layers: how many layers of axial attention.
        heads: the attention heads of each.
        block_size: of the grouped bilinear that joins head and tail; as in the authors' program without a
            bias.

    Reference:
        Tan, He, Bing, Ng (2022): Document-level relation extraction with adaptive focal loss and knowledge
        distillation. Findings of ACL.
    """

    map_layers = ("layers",)

    def __init__(
        self,
        hidden_size: int,
        pair_dim: int,
        *,
        map_dim: int | None = None,
        layers: int = 6,
        heads: int = 8,
        block_size: int = 64,
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.map_dim = hidden_size if map_dim is None else map_dim
        if self.map_dim % heads:
            raise ValueError(f"vectors of {self.map_dim} do not divide into {heads} attention heads")
        self.head_projection = nn.Linear(2 * hidden_size, pair_dim)
        self.tail_projection = nn.Linear(2 * hidden_size, pair_dim)
        self.bilinear = GroupedBilinear(pair_dim, self.map_dim, block_size, bias=False)
        self.layers = nn.ModuleList(AxialLayer(self.map_dim, heads) for _ in range(layers))

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vectors of all cells, [C, map_dim], and the cell of each pair, int64 [P]."""
        contexts = pool_contexts(encoded, batch, diagonal=True)
        cells = Cells.from_batch(batch, contexts.entities)
        features = self.bilinear(*self._embed(encoded, batch, contexts, cells))  # [C, map_dim]
        recompute = len(features) > CELLS_KEPT and torch.is_grad_enabled()
        refined = features
        for layer in self.layers:
            if recompute:
                refined = checkpoint(layer, refined, cells, use_reentrant=False)
            else:
                refined = layer(refined, cells)
        return features + refined, cells.pair

    def encode_pairs(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor]:
        """The vectors of some pairs, [p, map_dim], as a tuple of one."""
        vectors, pair = shared
        return (vectors.index_select(0, pair[rows]),)

    def _embed(
        self, encoded: EncoderOutput, batch: Batch, contexts: PairContexts, cells: Cells
    ) -> tuple[Tensor, Tensor]:
        """tanh(W [e; c] + b) for head and tail of every cell, with each part of W used where it is cheap."""
        states = pool_entities(encoded.states, batch)  # [N, d]
        head_weight, head_context_weight = torch.split(self.head_projection.weight, self.hidden_size, 1)
        tail_weight, tail_context_weight = torch.split(self.tail_projection.weight, self.hidden_size, 1)
        projected = linear(contexts.values, torch.cat([head_context_weight, tail_context_weight]))
        row = contexts.rows(
            batch.entity_document[cells.head], batch.entity_slot[cells.head], batch.entity_slot[cells.tail]
        )  # [C]
        head_context, tail_context = projected.index_select(0, row).chunk(2, 1)  # [C, pair_dim] each
        from_head = linear(states, head_weight, self.head_projection.bias).index_select(0, cells.head)
        from_tail = linear(states, tail_weight, self.tail_projection.bias).index_select(0, cells.tail)
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
        rows = self.rows(values, cells)
        columns = self.columns(values.index_select(0, cells.transposed), cells)
        columns = columns.index_select(0, cells.transposed)
        refined: Tensor = self.norm(self.linear(values + rows + columns))
        return refined


class RowAttention(nn.Module):
    """Multi-head attention within each row: queries, keys and values without bias, the result with one."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width)

    def forward(self, values: Tensor, cells: Cells) -> Tensor:
        """The values of cells, [C, width] to [C, width]."""
        projected = self.projection(values)  # [C, 3 width]
        rows = projected.new_zeros(cells.mask.numel(), projected.shape[1])
        rows = rows.index_copy(0, cells.place, projected)  # [N * E, 3 width]
        size = values.shape[1] // self.heads
        query, key, value = rows.view(*cells.mask.shape, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(query, key, value, cells.mask[:, None, None])
        attended = attended.transpose(1, 2).flatten(2).flatten(0, 1)  # [N * E, width]
        result: Tensor = self.output(attended.index_select(0, cells.place))
        return result


@register_architecture("kd-docre")
def kd_docre(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Axial attention over the entity-by-entity map, scored by a linear layer (Tan et al., 2022)."""
    pair_encoder = AxialPairEncoder(sizes.hidden_size, sizes.pair_dim, block_size=sizes.block_size)
    return pair_encoder, LinearHead(pair_encoder.map_dim, sizes.num_labels)
