"""Head and tail with the distance between them (the BiLSTM of the DocRED paper).

There is one layer over the token states, relu(W x + b); an entity is the mean over its mentions of the mean
over their tokens. Head and tail each get an embedding of how far before or behind the other they are first
mentioned, 0 for no distance:

    z_h = [h; E(d_ht)],      z_t = [t; E(d_th)],

to be scored by a full bilinear, a grouped one with a single block. The layer may also come after the means,
relu(W h + b), which takes one product for an entity and, because of its ReLU, is another function.
"""

import torch
from torch import Tensor, nn

from unnoted.models.architectures.mention_vectors import span_means
from unnoted.models.architectures.pieces import PairsInPieces
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.kernels.segments import segment_mean

DOUBLINGS = 9
"""Distances of 1, 2-3, 4-7, ... tokens are told apart; those of 256 and more are alike."""


class EntityPairs(PairsInPieces):
    """The pair representation of the DocRED paper's BiLSTM: an embedding of head and one of tail.

    Args:
        width: the size of a token's state (d).
        embedding: the size of an entity's part of the embeddings; 128 as published.
        distance_size: the size of a distance's part of the embeddings.
        layer_before_means: the layer sees token states, not entities.

    Reference:
        Yao, Ye, Li, Han, Lin, Liu, Liu, Huang, Zhou, Sun (2019): DocRED: A large-scale document-level
        relation extraction dataset.

    Example:
        >>> EntityPairs(width=8, embedding=128).pair_width
        148
    """

    def __init__(
        self, width: int, embedding: int, *, distance_size: int = 20, layer_before_means: bool = True
    ) -> None:
        super().__init__()
        self.layer_before_means = layer_before_means
        self.projection = nn.Linear(width, embedding)
        # No distance is 0 and stays so. A model of an earlier version, which learnt it, keeps what it learnt.
        self.distance_embedding = nn.Embedding(2 * DOUBLINGS + 1, distance_size, padding_idx=DOUBLINGS)
        self.pair_width = embedding + distance_size
        """The size of the embeddings of head and tail."""

    def shared(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """The entities' parts of the embeddings, [N, embedding], and where each is first mentioned, [N]."""
        states = encoded.states  # [D, T, d]
        if self.layer_before_means:
            # What stands at padding may be no number at all, which would reach the layer's gradient.
            states = states.masked_fill(batch.attention_mask.unsqueeze(2) == 0, 0)
            states = torch.relu(self.projection(states))  # [D, T, embedding]
        mentions = span_means(states, batch)  # [M, d or embedding]
        entities = segment_mean(mentions, batch.mention_entity, batch.entity_document.shape[0])
        if not self.layer_before_means:
            entities = torch.relu(self.projection(entities))  # [N, embedding]
        return entities, first_mentions(batch)

    def embed(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, pair_width] each."""
        projected, first = shared
        of_head, of_tail = batch.head[rows], batch.tail[rows]
        bucket = distance_bucket(first[of_head] - first[of_tail])  # [p]
        head = [projected.index_select(0, of_head), self.distance_embedding(DOUBLINGS + bucket)]
        tail = [projected.index_select(0, of_tail), self.distance_embedding(DOUBLINGS - bucket)]
        return torch.cat(head, 1), torch.cat(tail, 1)


def first_mentions(batch: Batch) -> Tensor:
    """The token index, within its document, of each entity's first mention, int64 [N]."""
    entities = batch.entity_document.shape[0]
    behind = batch.mention_position.new_full((entities,), max(batch.lengths))
    return behind.scatter_reduce(0, batch.mention_entity, batch.mention_position, "amin")


def distance_bucket(distance: Tensor) -> Tensor:
    """0 for no distance, else 1 + the whole part of its log2, `DOUBLINGS` at most, with its sign.

    Example:
        >>> distance_bucket(torch.tensor([0, 1, 2, 3, 4, -4, -5000])).tolist()
        [0, 1, 2, 2, 3, -3, -9]
    """
    powers = 2 ** torch.arange(DOUBLINGS, device=distance.device)
    return distance.sign() * (distance.abs().unsqueeze(1) >= powers).sum(1)
