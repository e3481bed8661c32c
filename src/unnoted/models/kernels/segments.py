"""Means, maxima and log-sum-exps over groups of rows, all groups at once."""

import torch
from torch import Tensor


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
