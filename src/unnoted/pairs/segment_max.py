"""The largest values of groups of rows, all groups at once."""

import torch
from torch import Tensor


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
