"""Pooling over groups of rows, and the layouts of the mentions and entities of a batch."""

import torch
from torch import Tensor

from unnoted.models.batch import Batch


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


def enumerate_counts(counts: Tensor) -> tuple[Tensor, Tensor]:
    """0 to n - 1 for each count n, one after the other: the index of the count, and the number.

    Example:
        >>> enumerate_counts(torch.tensor([2, 0, 3]))
        (tensor([0, 0, 2, 2, 2]), tensor([0, 1, 0, 1, 2]))
    """
    owner = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
    before = counts.cumsum(0) - counts
    return owner, torch.arange(len(owner), device=counts.device) - before[owner]


def mention_tokens(batch: Batch) -> tuple[Tensor, Tensor]:
    """The tokens of all mentions, both markers included: the mention's row and the position, [S] each."""
    mention, number = enumerate_counts(batch.mention_end - batch.mention_position + 1)
    return mention, batch.mention_position[mention] + number


def mention_means(states: Tensor, batch: Batch) -> Tensor:
    """The mean of the states of each mention's tokens, [M, d], of token states [D, T, d].

    Both markers count as tokens of the mention. So a mention whose words have no token has a mean too.
    """
    mention, token = mention_tokens(batch)
    return segment_mean(states[batch.mention_document[mention], token], mention, len(batch.mention_entity))


def mentions_at_tokens(batch: Batch, width: int) -> Tensor:
    """The row of the mention that each token belongs to, int64 [D, width]; -1 outside mentions.

    Where mentions overlap, the last one of the document counts.
    """
    mention, token = mention_tokens(batch)
    empty = mention.new_full((len(batch.lengths) * width,), -1)
    place = batch.mention_document[mention] * width + token
    return empty.scatter_reduce(0, place, mention, "amax").view(-1, width)


def count_entities(batch: Batch) -> Tensor:
    """How many entities each document has, int64 [D], on the batch's device."""
    ones = torch.ones_like(batch.entity_document)
    return ones.new_zeros(len(batch.lengths)).index_add(0, batch.entity_document, ones)


def pair_cells(batch: Batch) -> Tensor:
    """The cell of each pair among N x E, by the row of its head and the slot of its tail, int64 [P]."""
    return batch.head * batch.entities + batch.entity_slot[batch.tail]
