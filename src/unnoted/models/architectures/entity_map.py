"""The entity-by-entity map: a value for every ordered pair of entities of a document, candidate or not.

Models that let pairs see each other need all pairs of a document side by side. Two layouts are used here,
both made without asking the device for a number:

- rows [N, E, c]: row n is the n-th entity of the batch as head, against every slot of its document as tail.
  Only the tails are padded, so that costly layers see fewer empty cells;
- maps [D, E, E, c]: a square for each document, for what needs neighbours in both directions.

The diagonal (an entity with itself) is a cell like any other, with the context of the entity alone. No
candidate pair reads it; pairs of the same row or column may.
"""

import torch
from torch import Tensor

from unnoted.models.architectures.lean_contexts import EPSILON
from unnoted.models.architectures.localized_context import (
    entity_attention,
    unordered_contexts,
    unordered_number,
)
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded


def in_slots(values: Tensor, batch: Batch) -> Tensor:
    """Values of the batch's entities [N, ...] by document and slot, [D, E, ...]; 0 where there is no entity.

    Of rows [N, E, c] this makes the maps [D, E, E, c].
    """
    documents = len(batch.lengths)
    slot = batch.entity_document * batch.entities + batch.entity_slot  # [N]
    empty = values.new_zeros(documents * batch.entities, *values.shape[1:])
    return empty.index_copy(0, slot, values).view(documents, batch.entities, *values.shape[1:])


def tail_mask(batch: Batch) -> Tensor:
    """Which cells of the rows have a tail, bool [N, E]."""
    present = torch.ones_like(batch.entity_document, dtype=torch.bool)  # [N]
    return in_slots(present, batch).index_select(0, batch.entity_document)


def transposition(batch: Batch) -> Tensor:
    """The number of the cell (t, h) among the N x E cells of the rows for each cell (h, t), int64 [N * E].

    Where a cell has no tail, the number is that of some other cell: what is fetched by it is not to be used.
    """
    entities = torch.arange(batch.entity_document.shape[0], device=batch.device)  # [N]
    tail = in_slots(entities, batch).index_select(0, batch.entity_document)  # [N, E]
    return (tail * batch.entities + batch.entity_slot.unsqueeze(1)).flatten()


def pair_cells(batch: Batch) -> Tensor:
    """The number of each candidate pair's cell among the N x E cells of the rows, int64 [P]."""
    return batch.head * batch.entities + batch.entity_slot[batch.tail]


def at_pairs(maps: Tensor, batch: Batch, rows: slice | Tensor = slice(None)) -> Tensor:
    """The values of candidate pairs, [P, c], from maps [D, S, S, c] with S slots or more than needed."""
    side = maps.shape[1]
    head, tail = batch.entity_slot[batch.head[rows]], batch.entity_slot[batch.tail[rows]]
    return maps.flatten(0, 2).index_select(0, (batch.pair_document[rows] * side + head) * side + tail)


def contexts(encoded: Encoded, batch: Batch) -> Tensor:
    """The context of every unordered pair of entities and of every entity alone, [D * (U + E), d].

    Which row belongs to which cell says `context_cells`. A layer that acts on each context by itself is best
    used here: there are about half as many contexts as cells.
    """
    attention = entity_attention(encoded, batch)  # [D, E, H, T]
    between = unordered_contexts(encoded.states, attention)  # [D, U, d]
    alone = own_contexts(encoded.states, attention)  # [D, E, d]
    return torch.cat([between, alone], 1).flatten(0, 1)


def own_contexts(states: Tensor, attention: Tensor) -> Tensor:
    """The context of each entity with itself: its attention meets itself.

    Args:
        states: [D, T, d].
        attention: [D, E, H, T].

    Returns:
        [D, E, d], in float32 at least.

    Example:
        >>> states = torch.tensor([[[1.0], [10.0]]])
        >>> own_contexts(states, torch.tensor([[[[0.0, 1.0]], [[0.5, 0.5]]]])).round(decimals=2)
        tensor([[[10.0000],
                 [ 5.5000]]])
    """
    with torch.autocast(states.device.type, enabled=False):
        products = attention.square().mean(2)  # [D, E, T]
        return products @ states.to(attention.dtype) / (products.sum(2, keepdim=True) + EPSILON)


def context_cells(batch: Batch) -> Tensor:
    """For each of the N x E cells of the rows, the row of its context in `contexts`, int64 [N * E]."""
    between = batch.entities * (batch.entities - 1) // 2  # U
    head = batch.entity_slot.unsqueeze(1)  # [N, 1]
    tail = torch.arange(batch.entities, device=batch.device)  # [E]
    pair = unordered_number(head, tail, batch.entities)  # [N, E]
    context = torch.where(head == tail, between + head, pair)
    return (batch.entity_document.unsqueeze(1) * (between + batch.entities) + context).flatten()
