"""Head and tail with the distance between them: the BiLSTM baseline of the DocRED paper.

There is one layer over the token states, relu(W x + b); an entity is the mean over its mentions of the mean
over their tokens. Head and tail each get an embedding of how far before or behind the other they are first
mentioned, 0 for no distance:

    z_h = [h; E(d_ht)],      z_t = [t; E(d_th)],

scored by a full bilinear, a grouped one with a single block. The BiLSTM itself is an encoder (`encoder:
bilstm`).
"""

import torch
from torch import Tensor, nn

from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import GroupedBilinear
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import mention_tokens, segment_mean

DOUBLINGS = 9
"""Distances of 1, 2-3, 4-7, ... tokens are told apart; those of 256 and more are alike."""


class DistancePairEncoder(PairEncoder):
    """The pair encoder of the DocRED paper's BiLSTM: an embedding of head and one of tail.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of an entity's part of the embeddings; 128 as published.
        distance_dim: of a distance's part of the embeddings.

    Reference:
        Yao, Ye, Li, Han, Lin, Liu, Liu, Huang, Zhou, Sun (2019): DocRED: a large-scale document-level
        relation extraction dataset. ACL.
    """

    def __init__(self, hidden_size: int, pair_dim: int, *, distance_dim: int = 20) -> None:
        super().__init__()
        self.projection = nn.Linear(hidden_size, pair_dim)
        self.distance_embedding = nn.Embedding(2 * DOUBLINGS + 1, distance_dim, padding_idx=DOUBLINGS)
        self.output_dim = pair_dim + distance_dim

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, Tensor]:
        """The entities' parts of the embeddings, [N, pair_dim], and their first mentions, int64 [N]."""
        mention, token = mention_tokens(batch)
        states = encoded.states[batch.mention_document[mention], token]  # [S, d]
        mentions = segment_mean(torch.relu(self.projection(states)), mention, len(batch.mention_entity))
        entities = segment_mean(mentions, batch.mention_entity, len(batch.entity_document))
        last = batch.mention_position.new_full((len(batch.entity_document),), max(batch.lengths))
        first = last.scatter_reduce(0, batch.mention_entity, batch.mention_position, "amin")
        return entities, first

    def encode_pairs(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, output_dim] each."""
        entities, first = shared
        head, tail = batch.head[rows], batch.tail[rows]
        bucket = distance_bucket(first[head] - first[tail])  # [p]
        return (
            torch.cat([entities.index_select(0, head), self.distance_embedding(DOUBLINGS + bucket)], 1),
            torch.cat([entities.index_select(0, tail), self.distance_embedding(DOUBLINGS - bucket)], 1),
        )


def distance_bucket(distance: Tensor) -> Tensor:
    """0 for no distance, else 1 + the whole part of its log2, `DOUBLINGS` at most, with its sign.

    Example:
        >>> distance_bucket(torch.tensor([0, 1, 2, 3, 4, -4, -5000])).tolist()
        [0, 1, 2, 2, 3, -3, -9]
    """
    powers = 2 ** torch.arange(DOUBLINGS, device=distance.device)
    return distance.sign() * (distance.abs().unsqueeze(1) >= powers).sum(1)


@register_architecture("bilstm", attention=False)
def bilstm(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Means over mentions and their distance, scored by a bilinear (Yao et al., 2019)."""
    pair_encoder = DistancePairEncoder(sizes.hidden_size, sizes.pair_dim)
    width = pair_encoder.output_dim
    return pair_encoder, GroupedBilinear(width, sizes.num_labels, block_size=width)
