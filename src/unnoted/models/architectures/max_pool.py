"""Entities by the largest values of their mentions (the "PubMedBERT" model of the ChemDisGene paper).

An entity is the maximum, in each place of the vector, over the states of all tokens of all its mentions. A
pair is relu(W [h; t] + b) = relu(W_1 h + W_2 t + b), where each part is computed once for each entity.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from unnoted.models.architectures.mention_tokens import EntityTokens, MentionTokens
from unnoted.models.architectures.pieces import PairsInPieces
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.kernels.segments import segment_max


class MaxPool(PairsInPieces):
    """The pair representation of the ChemDisGene paper's PubMedBERT: one vector, for a linear layer to score.

    Args:
        width: the size of a token's state (d).
        embedding: the size of a pair's vector; 128 as published.
        mention_tokens: which tokens of a mention count: `all` as published, or the `first`.
        dropout: the share of it that is dropped in training.

    Reference:
        Zhang, Mohan, Torkar, et al. (2022): A distant supervision corpus for extracting biomedical
        relationships between chemicals, diseases and genes.

    Example:
        >>> MaxPool(width=8, embedding=6).projection
        Linear(in_features=16, out_features=6, bias=True)
    """

    def __init__(
        self, width: int, embedding: int, *, mention_tokens: MentionTokens = "all", dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.width = width
        self.mention_tokens = mention_tokens
        self.projection = nn.Linear(2 * width, embedding)
        self.dropout = nn.Dropout(dropout)

    def shared(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """The parts of the vectors that heads and tails add, [N, embedding] each."""
        places = EntityTokens.of(batch, self.mention_tokens)
        tokens = places.states(encoded.states)  # [S, d]
        entities = segment_max(tokens, places.entity, batch.entity_document.shape[0])  # [N, d]
        head_weight, tail_weight = torch.split(self.projection.weight, self.width, 1)
        return linear(entities, head_weight), linear(entities, tail_weight, self.projection.bias)

    def embed(self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor) -> tuple[Tensor]:
        """The vectors of some pairs, [p, embedding], as a tuple of one."""
        head = shared[0].index_select(0, batch.head[rows])
        tail = shared[1].index_select(0, batch.tail[rows])
        return (self.dropout(torch.relu(head + tail)),)
