"""Two graphs (GAIN): mentions exchange what they know, and a pair sees the paths over a third entity.

The mention graph of a document has a node for each mention and one for the document, and three types of
edges: between mentions of the same entity, between mentions of different entities in the same sentence, and
between each mention and the document. In each of a few layers

    x_u <- relu(W x_u + b + sum over types k of W_k mean over neighbours v of type k of x_v).

A node's vector is all its layers, the first input included, one after the other; an entity's is the mean over
its mentions. With the path p_ht of the entity graph (see `paths`), a pair becomes

    relu(A [h; t; |h - t|; h * t; document; p_ht] + a).

Everything is dense products over [D, N, N], N nodes: documents are small, and padding has no edges.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.utils.checkpoint import checkpoint

from unnoted.encoders import Encoded
from unnoted.features.batch import Batch
from unnoted.pairs.entity_map import in_slots
from unnoted.pairs.mention_vectors import MentionVectors, in_mention_slots, mention_rows
from unnoted.pairs.paths import PathAttention
from unnoted.pairs.segments import segment_mean

EDGE_TYPES = 3
"""Same entity, same sentence, document."""

PAIRS_AT_ONCE = 4096
"""With more pairs than this, they are taken in pieces, each recomputed in the backward pass."""


class GraphPairs(nn.Module):
    """The pair representation of GAIN: one vector for each pair, to be scored by a linear layer.

    The classifier's hidden layer is part of it, because most of that layer can be computed once per entity.

    Args:
        width: the size of a token's state (d).
        embedding: the size of a pair's vector, the classifier's hidden layer.
        types: how many types of mentions there are, the unknown one apart.
        entities: how many entities of a document have an embedding of their own; later ones share the last.
        layers: how many layers of graph convolution.
        dropout: the share that is dropped in training of each layer's, each edge's and each pair's vector.

    Reference:
        Zeng, Xu, Chang, Li (2020): Double graph based reasoning for document-level relation extraction.

    Example:
        >>> pairs = GraphPairs(width=8, embedding=6)
        >>> pairs.node_width, pairs.entity_width  # a token's state, type and entity; times (layers + 1)
        (48, 144)
    """

    def __init__(
        self,
        width: int,
        embedding: int,
        *,
        types: int = 6,
        entities: int = 80,
        layers: int = 2,
        dropout: float = 0.6,
    ) -> None:
        super().__init__()
        self.mentions = MentionVectors(width, types, entities)
        self.node_width = self.mentions.size
        self.entity_width = self.node_width * (layers + 1)
        self.layers = nn.ModuleList(GraphConvolution(self.node_width, dropout) for _ in range(layers))
        self.paths = PathAttention(self.entity_width, self.node_width, dropout)
        self.combination = nn.Linear(5 * self.entity_width + 4 * self.node_width, embedding)
        self.dropout = nn.Dropout(dropout)

    def forward(self, encoded: Encoded, batch: Batch) -> tuple[Tensor]:
        """The vector of every pair, [P, embedding], as a tuple of one."""
        document, entities = self._entities(encoded.states, batch)
        by_head, by_tail = self.paths(in_slots(entities, batch), entity_graph(batch))
        combined = self._combine(document, entities, by_head.flatten(0, 2), by_tail.flatten(0, 2), batch)
        return (self.dropout(torch.relu(combined)),)

    def _entities(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vectors of the documents [D, entity_width] and of the entities [N, entity_width]."""
        mentions = in_mention_slots(self.mentions(states, batch), batch)  # [D, M of a document, node_width]
        document = pad(states[:, :1], (0, self.mentions.added))  # of no type, and no entity
        nodes = torch.cat([document, mentions], 1)  # [D, N, node_width]
        neighbours = mention_graph(batch, nodes.dtype)
        known = [nodes]
        for layer in self.layers:
            known.append(layer(known[-1], neighbours))
        nodes = torch.cat(known, 2)  # [D, N, entity_width]
        mentions = nodes[:, 1:].flatten(0, 1).index_select(0, mention_rows(batch))
        return nodes[:, 0], segment_mean(mentions, batch.mention_entity, batch.entity_document.shape[0])

    def _combine(
        self, document: Tensor, entities: Tensor, by_head: Tensor, by_tail: Tensor, batch: Batch
    ) -> Tensor:
        """A [h; t; |h - t|; h * t; document; p] + a, [P, embedding], each part of A where it is cheap."""
        parts = [*[self.entity_width] * 5, 4 * self.node_width]
        head, tail, difference, product, whole, path = torch.split(self.combination.weight, parts, 1)
        alone = (
            linear(entities, head).index_select(0, batch.head)
            + linear(entities, tail, self.combination.bias).index_select(0, batch.tail)
            + linear(document, whole).index_select(0, batch.pair_document)
        )
        weight = torch.cat([difference, product, path], 1)
        first = batch.pair_document * batch.entities  # the first slot of the pair's document
        head_slot, tail_slot = batch.entity_slot[batch.head], batch.entity_slot[batch.tail]
        rows = torch.stack(
            [
                batch.head,
                batch.tail,
                (first + head_slot) * batch.entities + tail_slot,
                (first + tail_slot) * batch.entities + head_slot,
            ]
        )  # [4, P]
        recompute = batch.pairs > PAIRS_AT_ONCE and torch.is_grad_enabled()
        together = []
        for piece in torch.split(rows, PAIRS_AT_ONCE, 1):
            if recompute:
                inputs = entities, by_head, by_tail, piece, weight
                together.append(checkpoint(_interplay, *inputs, use_reentrant=False))
            else:
                together.append(_interplay(entities, by_head, by_tail, piece, weight))
        return alone + torch.cat(together)


def _interplay(entities: Tensor, by_head: Tensor, by_tail: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
    """What only a pair as a whole has: W [|h - t|; h * t; p], for some pairs."""
    head, tail = entities.index_select(0, rows[0]), entities.index_select(0, rows[1])
    path = [by_head.index_select(0, rows[2]), by_tail.index_select(0, rows[3])]
    return linear(torch.cat([(head - tail).abs(), head * tail, *path], 1), weight)


class GraphConvolution(nn.Module):
    """One layer of relational graph convolution, with a weight for each type of edges and one for the node.

    Args:
        width: the size of a node's vector, coming in and going out.
        dropout: the share of what goes out that is dropped in training.

    Example:
        >>> layer = GraphConvolution(width=4)
        >>> layer(torch.ones(1, 2, 4), torch.zeros(1, 2, 6)).shape  # 1 document, 2 nodes without edges
        torch.Size([1, 2, 4])
    """

    def __init__(self, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.neighbours = nn.Linear(width, EDGE_TYPES * width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Nodes [D, N, width] after one layer; `neighbours` as of `mention_graph`."""
        messages = torch.cat(self.neighbours(nodes).chunk(EDGE_TYPES, 2), 1)  # [D, types * N, width]
        refined: Tensor = self.dropout(torch.relu(self.own(nodes) + neighbours @ messages))
        return refined


def mention_graph(batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
    """The weight of each node's neighbours, for each type of edges side by side: 1 / how many there are.

    Returns:
        [D, N, types * N], N = 1 + mentions of a document; the first node is the document. A node
        without neighbours of a type, or without a mention, has only 0 there.
    """
    entity = in_mention_slots(batch.mention_entity + 1, batch)  # [D, M of a document]; 0 is no mention
    present = entity > 0
    same_entity = entity.unsqueeze(2) == entity.unsqueeze(1)
    itself = torch.eye(batch.mentions, dtype=torch.bool, device=batch.device)
    kinds = [
        same_entity & present.unsqueeze(2) & ~itself,
        same_sentences(batch) & ~same_entity,
    ]
    inside = torch.stack(kinds, 2)  # [D, M, 2, M]
    documents, mentions = len(batch.lengths), batch.mentions
    shape = documents, 1 + mentions, EDGE_TYPES, 1 + mentions
    edges = torch.zeros(shape, dtype=dtype, device=batch.device)
    edges[:, 1:, :2, 1:] = inside.to(dtype)
    edges[:, 0, 2, 1:] = present.to(dtype)
    edges[:, 1:, 2, 0] = present.to(dtype)
    return (edges / edges.sum(3, keepdim=True).clamp(min=1)).flatten(2)


def same_sentences(batch: Batch) -> Tensor:
    """Which two mentions stand in the same sentence, bool [D, M of a document, M of a document]."""
    sentence = in_mention_slots(batch.mention_sentence + 1, batch)  # 0 is no mention
    return (sentence.unsqueeze(2) == sentence.unsqueeze(1)) & (sentence > 0).unsqueeze(2)


def entity_graph(batch: Batch) -> Tensor:
    """Which two entities have mentions in the same sentence, bool [D, E, E]; none with itself."""
    owner = in_mention_slots(batch.entity_slot[batch.mention_entity] + 1, batch)  # [D, M]; 0 is no mention
    slots = torch.arange(batch.entities, device=batch.device)
    mentions = (owner.unsqueeze(2) == slots + 1).float()  # [D, M, E]
    meetings = mentions.transpose(1, 2) @ same_sentences(batch).float() @ mentions  # [D, E, E]
    return (meetings > 0) & (slots.unsqueeze(1) != slots)
