"""The vectors of single mentions: read at the opening marker, or the mean from marker to marker."""

import torch
from torch import Tensor, nn

from unnoted.models.batch import Batch

PLACES_AT_ONCE = 2**24
"""How many places (documents x mentions x tokens) are looked at in one go."""


def marker_states(states: Tensor, batch: Batch) -> Tensor:
    """The state at each mention's opening marker, [M, d], of token states [D, T, d]."""
    return states[batch.mention_document, batch.mention_position]


def span_means(states: Tensor, batch: Batch) -> Tensor:
    """The mean of the states of each mention's tokens, [M, d], of token states [D, T, d].

    Both markers count as tokens of the mention. So a mention whose words have no token has a mean too.
    """
    token = torch.arange(states.shape[1], device=states.device)  # [T]
    first, last = (in_mention_slots(place, batch) for place in (batch.mention_position, batch.mention_end))
    # What stands at padding may be anything, even no number at all.
    states = states.masked_fill(batch.attention_mask.unsqueeze(2) == 0, 0)
    at_once = max(1, PLACES_AT_ONCE // max(1, len(batch.lengths) * len(token)))
    pieces = []
    for one, other in zip(torch.split(first, at_once, 1), torch.split(last, at_once, 1), strict=True):
        within = (one.unsqueeze(2) <= token) & (token <= other.unsqueeze(2))  # [D, m of a document, T]
        pieces.append(within.to(states.dtype) @ states)
    sums = torch.cat(pieces, 1).flatten(0, 1).index_select(0, mention_rows(batch))  # [M, d]
    return sums / (batch.mention_end - batch.mention_position + 1).unsqueeze(1).to(sums.dtype)


def mention_rows(batch: Batch) -> Tensor:
    """The row of each mention when every document has room for as many as the largest, int64 [M]."""
    return batch.mention_document * batch.mentions + batch.mention_slot


def in_mention_slots(values: Tensor, batch: Batch) -> Tensor:
    """Values of mentions [M, ...] by document and slot, [D, M of a document, ...]; 0 where there is none."""
    documents = len(batch.lengths)
    empty = values.new_zeros(documents * batch.mentions, *values.shape[1:])
    filled = empty.index_copy(0, mention_rows(batch), values)
    return filled.view(documents, batch.mentions, *values.shape[1:])


class MentionVectors(nn.Module):
    """Each mention as [mean of its token states; embedding of its type; embedding of its entity's number].

    To append the embeddings to every token of a mention before the mean, as published, gives the same: they
    do not change within a mention. Only where mentions overlap, each keeps its own here.

    Args:
        width: the size of a token's state (d).
        types: how many types there are, numbered from 1; the unknown one has number 0, and 0 as embedding.
        entities: how many entities of a document have an embedding of their own. All later ones share that of
            the last: they are told apart by their states only.
        type_size: the size of a type's embedding.
        entity_size: the size of an entity's embedding.

    Example:
        >>> MentionVectors(width=8, types=6, entities=80).size
        48
    """

    def __init__(
        self, width: int, types: int, entities: int, type_size: int = 20, entity_size: int = 20
    ) -> None:
        super().__init__()
        self.type_embedding = nn.Embedding(types + 1, type_size, padding_idx=0)
        self.entity_embedding = nn.Embedding(entities, entity_size)
        self.added = type_size + entity_size
        self.size = width + self.added

    def forward(self, states: Tensor, batch: Batch) -> Tensor:
        """The vector of each mention, [M, size], of token states [D, T, d]."""
        number = batch.entity_slot[batch.mention_entity].clamp(max=self.entity_embedding.num_embeddings - 1)
        parts = [
            span_means(states, batch),
            self.type_embedding(batch.mention_type),
            self.entity_embedding(number),
        ]
        return torch.cat(parts, 1)
