"""Mentions as head and as tail (BRAN): what the bi-affine scorer needs to score all pairs of mentions.

The state of every token of a mention, or of its first one, goes through one small network for its part as
head and another for its part as tail. Which of them belong to which pair of entities is told by index
tensors. The scorer joins all pairs by log-sum-exp: to it, several tokens of a mention are several mentions.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unnoted.models.architectures.entity_map import in_slots, pair_cells
from unnoted.models.architectures.mention_tokens import EntityTokens, MentionTokens
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded


class PairMentions(NamedTuple):
    """Mentions by document and slot, and where they belong; L the largest number of them in one document.

    Where all tokens of mentions count, each token is in the place of a mention here.

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
        mention_tokens: which tokens of a mention count: `all` as published, or the `first`.

    Reference:
        Verga, Strubell, McCallum (2018): Simultaneously self-attending to all mentions for full-abstract
        biological relation extraction.

    Example:
        >>> MentionPairs(width=8, embedding=6).head_network[-1]
        Linear(in_features=8, out_features=6, bias=True)
    """

    def __init__(self, width: int, embedding: int, *, mention_tokens: MentionTokens = "all") -> None:
        super().__init__()
        self.mention_tokens = mention_tokens
        self.head_network = _network(width, embedding)
        self.tail_network = _network(width, embedding)

    def forward(self, encoded: Encoded, batch: Batch) -> PairMentions:
        """The mentions, and which of them belong to which pair."""
        places, documents = EntityTokens.of(batch, self.mention_tokens), len(batch.lengths)
        states = places.states(encoded.states)  # [M, d]
        rows = torch.arange(batch.entity_document.shape[0], device=batch.device)  # [N]
        return PairMentions(
            head=places.in_slots(self.head_network(states), documents),
            tail=places.in_slots(self.tail_network(states), documents),
            mention_row=places.rows,
            mention_entity=places.entity,
            neighbour=in_slots(rows, batch).index_select(0, batch.entity_document),
            pair_cell=pair_cells(batch),
        )


def _network(width: int, embedding: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, embedding))
