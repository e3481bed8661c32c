"""Paths of two steps in the entity graph (GAIN): from head to tail over each entity that meets both.

An edge from entity i to entity j is e_ij = relu(U i + V j + b). The path of a pair (h, t) over a third entity
o is made of four edges, there and back, p_hot = [e_ho; e_oh; e_to; e_ot], and a pair sees

    p_ht = sum over o of a_hot p_hot,      a_ht = softmax over o of [h; t]^T W p_hot,

over those o that have an edge with both; 0 if there is none. Without attention every a_hot is 1.

Nothing of size E x E x E x edge is made. With f_io = [e_io; e_oi] a path is [f_ho; f_to], and since the query
W^T [h; t] is a sum of a part of h and a part of t, the scores are a few products of f with one vector for
each entity; the weighted sums are products of the attention with f. The largest thing is [D, E, E, E], of
which only some heads are held at a time where there are many entities.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

SCORES_AT_ONCE = 2**24
"""How many scores (documents x heads x tails x third entities) are held at a time."""


class EntityPaths(nn.Module):
    """What each pair of entities sees of the paths between them.

    Args:
        width: the size of an entity's vector.
        edge: the size of an edge's vector.
        dropout: the share of each edge's vector that is dropped in training.
        ends: edges are made from the last so many values of their entities' vectors; all by default.
        attention: weigh paths by attention, instead of adding them up.

    Example:
        >>> paths = EntityPaths(width=4, edge=3)
        >>> by_head, by_tail = paths(torch.ones(1, 5, 4), torch.ones(1, 5, 5, dtype=torch.bool))
        >>> by_head.shape
        torch.Size([1, 5, 5, 6])
    """

    def __init__(
        self,
        width: int,
        edge: int,
        dropout: float = 0.0,
        *,
        ends: int | None = None,
        attention: bool = True,
    ) -> None:
        super().__init__()
        self.ends = width if ends is None else ends
        self.attention = attention
        self.source = nn.Linear(self.ends, edge)
        self.target = nn.Linear(self.ends, edge, bias=False)
        if attention:
            self.head_query = nn.Linear(width, 4 * edge, bias=False)
            self.tail_query = nn.Linear(width, 4 * edge, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, entities: Tensor, linked: Tensor) -> tuple[Tensor, Tensor]:
        """The two halves of every pair's path.

        Args:
            entities: [D, E, width].
            linked: bool [D, E, E], symmetric, False between an entity and itself, and where there is none.

        Returns:
            The half [e_ho; e_oh] of (h, t) at [d, h, t], and the half [e_to; e_ot] of (h, t) at [d, t, h],
            [D, E, E, 2 edge] each.
        """
        # Not a slice of all: gradients would add up in another order than they did before there was a choice.
        ends = entities if self.ends == entities.shape[2] else entities[:, :, -self.ends :]
        edges = self.source(ends).unsqueeze(2) + self.target(ends).unsqueeze(1)
        edges = self.dropout(torch.relu(edges))  # [D, E, E, edge]
        edges = torch.cat([edges, edges.transpose(1, 2)], 3)  # f, [D, E, E, 2 edge]
        of_head, of_tail = self._queries(entities)
        documents, slots = linked.shape[:2]
        at_once = max(1, SCORES_AT_ONCE // max(1, documents * slots * slots))
        # Whole where all fit: gradients then add up in the order in which they always did.
        parts = (edges, linked, *of_head)
        pieces = (
            [parts]
            if at_once >= slots
            else zip(*(torch.split(part, at_once, 1) for part in parts), strict=True)
        )
        by_head, by_tail = [], []
        for own_edges, own_linked, *own_queries in pieces:
            both = own_linked.unsqueeze(2) & linked.unsqueeze(1)  # [D, h, t, o]
            if self.attention:
                weights = _attention(own_edges, edges, own_queries, of_tail, both)
            else:
                weights = both.to(edges.dtype)
            by_head.append(weights @ own_edges)
            by_tail.append(weights.transpose(1, 2) @ edges)
        return torch.cat(by_head, 1), torch.cat(by_tail, 2)

    def _queries(self, entities: Tensor) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """What entities ask for as head and as tail, each of both halves of a path, [D, E, 2 edge] each."""
        if not self.attention:
            return (), ()
        return self.head_query(entities).chunk(2, 2), self.tail_query(entities).chunk(2, 2)


def _attention(
    own_edges: Tensor, edges: Tensor, of_head: Sequence[Tensor], of_tail: Sequence[Tensor], both: Tensor
) -> Tensor:
    """The weights of the paths, [D, h, t, o], of some heads and all tails; 0 where there is no path."""
    head_on_head, head_on_tail = of_head
    tail_on_head, tail_on_tail = of_tail
    scores = _agreement(own_edges, head_on_head, tail_on_head)  # [D, h, t, o]
    scores = scores + _agreement(edges, tail_on_tail, head_on_tail).transpose(1, 2)
    # The lowest number rather than minus infinity: where no path is, the soft-max stays a number.
    scores = scores.masked_fill(~both, torch.finfo(scores.dtype).min)
    return scores.softmax(3).to(edges.dtype) * both


def _agreement(edges: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """f_io . (own query of i + query of j), at [d, i, j, o]; f [D, i, o, c], queries [D, i, c], [D, j, c]."""
    across = edges.flatten(1, 2) @ other.transpose(1, 2)  # [D, i * o, j]
    across = across.view(*edges.shape[:3], other.shape[1]).transpose(2, 3)
    return across + (edges @ own.unsqueeze(3)).transpose(2, 3)
