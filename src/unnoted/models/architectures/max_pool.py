"""Entities by the largest values of their mentions: the "PubMedBERT" baseline of the ChemDisGene paper.

An entity is the maximum, in each place of the vector, over the states of all tokens of all its mentions. A
pair is relu(W [h; t] + b) = relu(W_1 h + W_2 t + b), where each part is computed once for each entity; a
linear layer scores it.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import LinearHead
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import segment_max


class MaxPoolPairEncoder(PairEncoder):
    """The pair encoder of the ChemDisGene paper's PubMedBERT: one vector for each pair.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of a pair's vector; 128 as published.
        dropout: the share of it that is dropped in training.

    Reference:
        Zhang, Mohan, Torkar, et al. (2022): A distant supervision corpus for extracting biomedical
        relationships between chemicals, diseases and genes. LREC.
    """

    def __init__(self, hidden_size: int, pair_dim: int, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.projection = nn.Linear(2 * hidden_size, pair_dim)
        self.dropout = nn.Dropout(dropout)

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, Tensor]:
        """The parts of the vectors that heads and tails add, [N, pair_dim] each."""
        tokens = encoded.states[batch.span_document, batch.span_token]  # [S, d]
        entities = segment_max(tokens, batch.span_entity, batch.entity_document.shape[0])  # [N, d]
        head_weight, tail_weight = torch.split(self.projection.weight, self.hidden_size, 1)
        return linear(entities, head_weight), linear(entities, tail_weight, self.projection.bias)

    def encode_pairs(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor]:
        """The vectors of some pairs, [p, pair_dim], as a tuple of one."""
        head = shared[0].index_select(0, batch.head[rows])
        tail = shared[1].index_select(0, batch.tail[rows])
        return (self.dropout(torch.relu(head + tail)),)


@register_architecture("max-pool", attention=False)
def max_pool(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Maxima over mentions, scored by a linear layer (Zhang et al., 2022)."""
    head = LinearHead(sizes.pair_dim, sizes.num_labels)
    return MaxPoolPairEncoder(sizes.hidden_size, sizes.pair_dim), head
