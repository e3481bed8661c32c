"""Two graphs (GAIN): mentions exchange what they know, and a pair sees the paths over a third entity.

The mention graph of a document has a node for each mention and one for the document, and three types of
edges: between mentions of the same entity, between mentions of different entities in the same sentence, and
between each mention and the document. In each of a few layers

    x_u <- relu(W x_u + b + sum over types k of W_k mean over neighbours v of type k of x_v).

A node's vector is all its layers, the first input included, one after the other; an entity's is the mean over
its mentions. With the path p_ht of the entity graph (see `paths`), a pair becomes

    relu(A [h; t; |h - t|; h * t; document; p_ht] + a).

These are the paper's equations. The authors' program differs in three things, each of which can be chosen: it
makes the edges of the entity graph from the last layer alone, it adds up the paths of a pair instead of
attending to them, and it puts a layer of its own over them, relu(B p_ht + b) in the place of p_ht.

Everything is dense products over [D, N, N], N nodes: documents are small, and padding has no edges. Of
documents with thousands of mentions, some rows are made at a time.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.utils.checkpoint import checkpoint

from unnoted.models.architectures.entity_map import in_slots
from unnoted.models.architectures.mention_vectors import MentionVectors, in_mention_slots, mention_rows
from unnoted.models.architectures.paths import EntityPaths
from unnoted.models.architectures.pieces import PairsInPieces
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.kernels.segments import segment_mean

EDGE_TYPES = 3
"""Same entity, same sentence, document."""

NODES_KEPT = 2048
"""Up to so many nodes of a document, the weights between all of them are made once and kept; with more, they
are made some rows at a time, anew in each layer."""

WEIGHTS_AT_ONCE = 2**23
"""How many weights between nodes are then made at a time."""

PAIRS_AT_ONCE = 4096
"""With more pairs than this, they are taken in pieces, each recomputed in the backward pass."""


class SharedGraph(NamedTuple):
    """What the pairs of a batch have in common.

    Attributes:
        document: [D, entity_width].
        entities: [N, entity_width].
        by_head: [D * E * E, 2 node_width], the first half of the paths of (h, t), at h, t.
        by_tail: [D * E * E, 2 node_width], their second half, at t, h.
    """

    document: Tensor
    entities: Tensor
    by_head: Tensor
    by_tail: Tensor


class GraphPairs(PairsInPieces):
    """The pair representation of GAIN: one vector for each pair, to be scored by a linear layer.

    The classifier's hidden layer is part of it, because most of that layer can be computed once per entity.

    Args:
        width: the size of a token's state (d).
        embedding: the size of a pair's vector, the classifier's hidden layer.
        types: how many types of mentions there are, the unknown one apart.
        entities: how many entities of a document have an embedding of their own; later ones share the last.
        layers: how many layers of graph convolution.
        dropout: the share that is dropped in training of each layer's, each edge's and each pair's vector.
        last_layer_edges: make the edges of the entity graph from what entities are after the last layer,
            instead of after all of them.
        path_attention: attend to the paths of a pair, instead of adding them up.
        path_layer: one more layer over the path of a pair.

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
        last_layer_edges: bool = False,
        path_attention: bool = True,
        path_layer: bool = False,
    ) -> None:
        super().__init__()
        self.mentions = MentionVectors(width, types, entities)
        self.node_width = self.mentions.size
        self.entity_width = self.node_width * (layers + 1)
        self.layers = nn.ModuleList(GraphConvolution(self.node_width, dropout) for _ in range(layers))
        self.paths = EntityPaths(
            self.entity_width,
            self.node_width,
            dropout,
            ends=self.node_width if last_layer_edges else self.entity_width,
            attention=path_attention,
        )
        path_width = 4 * self.node_width
        self.combination = nn.Linear(5 * self.entity_width + path_width, embedding)
        self.dropout = nn.Dropout(dropout)
        self.path_layer: nn.Module = nn.Identity()
        if path_layer:
            self.path_layer = nn.Sequential(nn.Linear(path_width, path_width), nn.ReLU(), nn.Dropout(dropout))

    def shared(self, encoded: Encoded, batch: Batch) -> SharedGraph:
        """What the mention graph and the entity graph give."""
        document, entities = self._entities(encoded.states, batch)
        by_head, by_tail = self.paths(in_slots(entities, batch), entity_graph(batch))
        return SharedGraph(document, entities, by_head.flatten(0, 2), by_tail.flatten(0, 2))

    def embed(self, shared: SharedGraph, batch: Batch, rows: slice | Tensor) -> tuple[Tensor]:
        """The vectors of some pairs, [p, embedding], as a tuple of one."""
        return (self.dropout(torch.relu(self._combine(shared, batch, rows))),)

    def _entities(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vectors of the documents [D, entity_width] and of the entities [N, entity_width]."""
        mentions = in_mention_slots(self.mentions(states, batch), batch)  # [D, M of a document, node_width]
        document = pad(states[:, :1], (0, self.mentions.added))  # of no type, and no entity
        nodes = torch.cat([document, mentions], 1)  # [D, N, node_width]
        known = [nodes]
        if nodes.shape[1] <= NODES_KEPT:
            neighbours = mention_graph(batch, nodes.dtype)
            for layer in self.layers:
                known.append(layer(known[-1], neighbours))
        else:
            for layer in self.layers:
                assert isinstance(layer, GraphConvolution)
                known.append(layer.refine(known[-1], mention_graph_pieces(batch, nodes.dtype)))
        nodes = torch.cat(known, 2)  # [D, N, entity_width]
        mentions = nodes[:, 1:].flatten(0, 1).index_select(0, mention_rows(batch))
        return nodes[:, 0], segment_mean(mentions, batch.mention_entity, batch.entity_document.shape[0])

    def _combine(self, shared: SharedGraph, batch: Batch, chosen: slice | Tensor) -> Tensor:
        """A [h; t; |h - t|; h * t; document; p] + a, [p, embedding], each part of A where it is cheap."""
        document, entities, by_head, by_tail = shared
        of_head, of_tail, of_document = batch.head[chosen], batch.tail[chosen], batch.pair_document[chosen]
        parts = [*[self.entity_width] * 5, 4 * self.node_width]
        head, tail, difference, product, whole, path = torch.split(self.combination.weight, parts, 1)
        alone = (
            linear(entities, head).index_select(0, of_head)
            + linear(entities, tail, self.combination.bias).index_select(0, of_tail)
            + linear(document, whole).index_select(0, of_document)
        )
        weight = torch.cat([difference, product, path], 1)
        first = of_document * batch.entities  # the first slot of the pair's document
        head_slot, tail_slot = batch.entity_slot[of_head], batch.entity_slot[of_tail]
        rows = torch.stack(
            [
                of_head,
                of_tail,
                (first + head_slot) * batch.entities + tail_slot,
                (first + tail_slot) * batch.entities + head_slot,
            ]
        )  # [4, P]
        recompute = batch.pairs > PAIRS_AT_ONCE and torch.is_grad_enabled()
        together = []
        for piece in torch.split(rows, PAIRS_AT_ONCE, 1):
            if recompute:
                inputs = entities, by_head, by_tail, piece, weight
                together.append(checkpoint(self._interplay, *inputs, use_reentrant=False))
            else:
                together.append(self._interplay(entities, by_head, by_tail, piece, weight))
        return alone + torch.cat(together)

    def _interplay(
        self, entities: Tensor, by_head: Tensor, by_tail: Tensor, rows: Tensor, weight: Tensor
    ) -> Tensor:
        """What only a pair as a whole has: W [|h - t|; h * t; p], for some pairs."""
        head, tail = entities.index_select(0, rows[0]), entities.index_select(0, rows[1])
        path = torch.cat([by_head.index_select(0, rows[2]), by_tail.index_select(0, rows[3])], 1)
        parts = [(head - tail).abs(), head * tail, self.path_layer(path)]
        return linear(torch.cat(parts, 1), weight)


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
        return self.refine(nodes, [neighbours])

    def refine(self, nodes: Tensor, neighbours: Iterable[Tensor]) -> Tensor:
        """The same with the rows of `mention_graph` in pieces."""
        messages = torch.cat(self.neighbours(nodes).chunk(EDGE_TYPES, 2), 1)  # [D, types * N, width]
        heard = torch.cat([piece @ messages for piece in neighbours], 1)
        refined: Tensor = self.dropout(torch.relu(self.own(nodes) + heard))
        return refined


def mention_graph(batch: Batch, dtype: torch.dtype = torch.float32, rows: slice = slice(None)) -> Tensor:
    """The weight of each node's neighbours, for each type of edges side by side: 1 / how many there are.

    Args:
        batch: the documents.
        dtype: of the weights.
        rows: which nodes; all by default.

    Returns:
        [D, N, types * N], N = 1 + mentions of a document; the first node is the document. A node
        without neighbours of a type, or without a mention, has only 0 there.
    """
    # 0 is no mention; the document is a node of its own, in no sentence.
    entity = pad(in_mention_slots(batch.mention_entity + 1, batch), (1, 0), value=-1)  # [D, N]
    sentence = pad(in_mention_slots(batch.mention_sentence + 1, batch), (1, 0))
    number = torch.arange(entity.shape[1], device=batch.device)
    present, whole = entity > 0, entity < 0
    own_entity, own_sentence, own_number = entity[:, rows, None], sentence[:, rows, None], number[rows, None]
    same_entity = own_entity == entity.unsqueeze(1)  # [D, n, N]
    kinds = [
        same_entity & (own_entity > 0) & (own_number != number),
        (own_sentence == sentence.unsqueeze(1)) & (own_sentence > 0) & ~same_entity,
        (whole[:, rows, None] & present.unsqueeze(1)) | (present[:, rows, None] & whole.unsqueeze(1)),
    ]
    edges = torch.stack(kinds, 2).to(dtype)  # [D, n, types, N]
    return (edges / edges.sum(3, keepdim=True).clamp(min=1)).flatten(2)


def mention_graph_pieces(batch: Batch, dtype: torch.dtype) -> Iterator[Tensor]:
    """The same, some rows at a time."""
    nodes = 1 + batch.mentions
    at_once = max(1, WEIGHTS_AT_ONCE // (len(batch.lengths) * EDGE_TYPES * nodes))
    return (mention_graph(batch, dtype, slice(start, start + at_once)) for start in range(0, nodes, at_once))


def entity_graph(batch: Batch) -> Tensor:
    """Which two entities have mentions in the same sentence, bool [D, E, E]; none with itself."""
    slots = torch.arange(batch.entities, device=batch.device)
    shape = len(batch.lengths), batch.sentences, batch.entities
    present = torch.zeros(shape, device=batch.device)  # whether an entity is mentioned in a sentence
    present[batch.mention_document, batch.mention_sentence, batch.entity_slot[batch.mention_entity]] = 1
    meetings = present.transpose(1, 2) @ present  # [D, E, E]
    return (meetings > 0) & (slots.unsqueeze(1) != slots)
