"""Scores of pairs that are one vector each: a linear layer."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class LinearScores(nn.Module):
    """Scores of K + 1 classes for each pair: s = W x + b.

    After a pair encoder that ends in a hidden layer (`GraphPairs`, `MaxPool`) it is the last layer of a
    perceptron.

    Args:
        embedding: the size of a pair's vector.
        classes: how many scores a pair gets (K + 1, the none class first).

    Example:
        >>> LinearScores(embedding=8, classes=3)(torch.ones(5, 8)).shape
        torch.Size([5, 3])
    """

    def __init__(self, embedding: int, classes: int) -> None:
        super().__init__()
        self.layer = nn.Linear(embedding, classes)

    def forward(self, pairs: Tensor) -> Tensor:
        """Scores [P, K + 1] of vectors [P, embedding], in float32 at least."""
        dtype = torch.promote_types(pairs.dtype, torch.float32)
        with torch.autocast(pairs.device.type, enabled=False):
            return linear(pairs.to(dtype), self.layer.weight.to(dtype), self.layer.bias.to(dtype))
