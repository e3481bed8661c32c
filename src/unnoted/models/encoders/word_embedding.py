"""The vectors of words, which are learnt, or stay as they were given."""

from torch import nn


class FixedEmbedding(nn.Embedding):
    """An embedding that no training changes.

    Its vectors are a buffer: loading a model makes every parameter learnt again, frozen ones too.

    Args:
        rows: how many tokens there are.
        size: of a vector.
        padding: the token whose vector is 0.

    Example:
        >>> embedding = FixedEmbedding(4, 2, padding=0)
        >>> list(embedding.parameters()), list(embedding.state_dict())
        ([], ['weight'])
    """

    def __init__(self, rows: int, size: int, padding: int) -> None:
        super().__init__(rows, size, padding)
        weight = self.weight.detach()
        del self.weight
        self.register_buffer("weight", weight)


def word_embedding(rows: int, size: int, padding: int, learnt: bool) -> nn.Embedding:
    """The vectors of words, normal with standard deviation 1 at first; that of padding is 0."""
    return nn.Embedding(rows, size, padding) if learnt else FixedEmbedding(rows, size, padding)
