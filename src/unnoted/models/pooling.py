"""Pooling over groups of rows, and the layouts of the mentions and entities of a batch.

Nothing here asks the device for a number: sizes come from the batch.
"""

import torch
from torch import Tensor

from unnoted.models.batch import Batch

PLACES_AT_ONCE = 2**24
"""How many documents x mentions x tokens `mention_means` looks at in one go."""


def segment_logsumexp(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """The log-sum-exp of the rows of each segment.

    Args:
        values: [N, ...].
        segment: int64 [N], the segment of each row.
        segments: how many there are; each has at least one row.

    Returns:
        [segments, ...], in float32 at least.

    Example:
        >>> segment_logsumexp(torch.tensor([[0.0], [0.0], [1000.0]]), torch.tensor([0, 0, 1]), 2)
        tensor([[6.9315e-01],
                [1.0000e+03]])
    """
    values = values.to(torch.promote_types(values.dtype, torch.float32))
    index = segment.reshape(-1, *[1] * (values.dim() - 1)).expand_as(values)
    shape = (segments, *values.shape[1:])
    # The maximum only keeps exp within range: it cancels, so its gradient is not needed.
    largest = values.new_full(shape, -torch.inf).scatter_reduce_(0, index, values.detach(), "amax")
    total = values.new_zeros(shape).index_add(0, segment, (values - largest[segment]).exp())
    return total.log() + largest


def segment_mean(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """The mean of the rows of each segment, 0 for a segment without rows.

    Args:
        values: [N, ...].
        segment: int64 [N], the segment of each row.
        segments: how many there are.

    Returns:
        [segments, ...].

    Example:
        >>> segment_mean(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 2]), 3)
        tensor([[2.],
                [0.],
                [5.]])
    """
    ones = values.new_ones(len(values))
    count = values.new_zeros(segments).index_add(0, segment, ones)
    share = (1 / count.clamp(min=1))[segment].reshape(-1, *[1] * (values.dim() - 1))
    return values.new_zeros(segments, *values.shape[1:]).index_add(0, segment, values * share)


def segment_max(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """The largest value, in each column, of the rows of each segment.

    Rows that share the largest value share its gradient.

    Args:
        values: [N, ...].
        segment: int64 [N], the segment of each row.
        segments: how many there are; each has at least one row.

    Returns:
        [segments, ...].

    Example:
        >>> segment_max(torch.tensor([[1.0, 9.0], [3.0, 2.0], [-5.0, 0.0]]), torch.tensor([0, 0, 1]), 2)
        tensor([[ 3.,  9.],
                [-5.,  0.]])
    """
    index = segment.reshape(-1, *[1] * (values.dim() - 1)).expand_as(values)
    lowest = values.new_full((segments, *values.shape[1:]), -torch.inf)
    return lowest.scatter_reduce(0, index, values, "amax")


def pad_by_document(values: Tensor, document: Tensor, slot: Tensor, documents: int, size: int) -> Tensor:
    """Rows [N, ...] by document and index in the document, [documents, size, ...]; 0 where there is none."""
    empty = values.new_zeros(documents * size, *values.shape[1:])
    return empty.index_copy(0, document * size + slot, values).view(documents, size, *values.shape[1:])


def pad_entities(values: Tensor, batch: Batch) -> Tensor:
    """Values of the batch's entities [N, ...] as [D, E, ...]; rows of maps [N, E, c] become [D, E, E, c]."""
    return pad_by_document(
        values, batch.entity_document, batch.entity_slot, len(batch.lengths), batch.entities
    )


def pad_mentions(values: Tensor, batch: Batch) -> Tensor:
    """Values of the batch's mentions [M, ...] as [D, mentions of a document, ...]."""
    return pad_by_document(
        values, batch.mention_document, batch.mention_slot, len(batch.lengths), batch.mentions
    )


def pool_entities(states: Tensor, batch: Batch) -> Tensor:
    """The log-sum-exp of the states at each entity's mentions, [N, d], of token states [D, T, d]."""
    mentions = states[batch.mention_document, batch.mention_position]  # [M, d], at opening markers
    return segment_logsumexp(mentions, batch.mention_entity, batch.entity_document.shape[0])


def mention_means(states: Tensor, batch: Batch) -> Tensor:
    """The mean of the states of each mention's tokens, [M, d], of token states [D, T, d].

    Both markers count as tokens of the mention. So a mention whose words have no token has a mean too.
    """
    token = torch.arange(states.shape[1], device=states.device)  # [T]
    first, last = (pad_mentions(place, batch) for place in (batch.mention_position, batch.mention_end))
    # What stands at padding may be anything, even no number at all.
    states = states.masked_fill(batch.attention_mask.unsqueeze(2) == 0, 0)
    at_once = max(1, PLACES_AT_ONCE // max(1, len(batch.lengths) * len(token)))
    pieces = []
    for one, other in zip(torch.split(first, at_once, 1), torch.split(last, at_once, 1), strict=True):
        within = (one.unsqueeze(2) <= token) & (token <= other.unsqueeze(2))  # [D, m, T]
        pieces.append(within.to(states.dtype) @ states)
    row = batch.mention_document * batch.mentions + batch.mention_slot  # [M]
    sums = torch.cat(pieces, 1).flatten(0, 1).index_select(0, row)  # [M, d]
    return sums / (batch.mention_end - batch.mention_position + 1).unsqueeze(1).to(sums.dtype)


def count_entities(batch: Batch) -> Tensor:
    """How many entities each document has, int64 [D], on the batch's device."""
    ones = torch.ones_like(batch.entity_document)
    return ones.new_zeros(len(batch.lengths)).index_add(0, batch.entity_document, ones)


def pair_cells(batch: Batch) -> Tensor:
    """The cell of each pair among N x E, by the row of its head and the slot of its tail, int64 [P]."""
    return batch.head * batch.entities + batch.entity_slot[batch.tail]
