"""Mentions as head and as tail (BRAN): what the bi-affine scorer needs to score all pairs of mentions.

A mention's state is read at its opening marker, and goes through one small network for its part as head and
another for its part as tail. Which mentions belong to which pair of entities is told by index tensors.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unnoted.encoders import Encoded
from unnoted.features.batch import Batch
from unnoted.pairs.entity_map import in_slots, pair_cells
from unnoted.pairs.mention_vectors import in_mention_slots, marker_states, mention_rows


class PairMentions(NamedTuple):
    """Mentions by document and slot, and where they belong; L the largest number of mentions of a document.

    Attributes:
        head: [D, L, embedding], the mentions as heads; 0 where there is none.
        tail: [D, L, embedding], the mentions as tails; 0 where there is none.
        mention_row: int64 [M], the row of each mention among the D x L.
        mention_entity: int64 [M], row into the batch's entities.
        neighbour: int64 [N, E], for each entity of the batch the rows of the entities of its document, by
            their slot; any row where there is none.
        pair_cell: int64 [P], where a pair stands among the N x E: at its head's row and its tail's slot.
    """

    head: Tensor
    tail: Tensor
    mention_row: Tensor
    mention_entity: Tensor
    neighbour: Tensor
    pair_cell: Tensor


class MentionPairs(nn.Module):
    """The pair representation of BRAN: the mentions of every pair, to be scored by `BiAffine`.

    Args:
        width: the size of a token's state (d), and of the networks' hidden layer.
        embedding: the size of a mention's vector as head and as tail; 128 as published.

    Reference:
        Verga, Strubell, McCallum (2018): Simultaneously self-attending to all mentions for full-abstract
        biological relation extraction.

    Example:
        >>> MentionPairs(width=8, embedding=6).head_network[-1]
        Linear(in_features=8, out_features=6, bias=True)
    """

    def __init__(self, width: int, embedding: int) -> None:
        super().__init__()
        self.head_network = _network(width, embedding)
        self.tail_network = _network(width, embedding)

    def forward(self, encoded: Encoded, batch: Batch) -> PairMentions:
        """The mentions, and which of them belong to which pair."""
        states = marker_states(encoded.states, batch)  # [M, d]
        rows = torch.arange(batch.entity_document.shape[0], device=batch.device)  # [N]
        return PairMentions(
            head=in_mention_slots(self.head_network(states), batch),
            tail=in_mention_slots(self.tail_network(states), batch),
            mention_row=mention_rows(batch),
            mention_entity=batch.mention_entity,
            neighbour=in_slots(rows, batch).index_select(0, batch.entity_document),
            pair_cell=pair_cells(batch),
        )


def _network(width: int, embedding: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, embedding))
