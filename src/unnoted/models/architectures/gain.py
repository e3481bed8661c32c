"""GAIN: two graphs; mentions exchange what they know, and a pair sees the paths over a third entity.

The mention graph of a document has a node for each mention and one for the document, and three types of
edges: between mentions of the same entity, between mentions of different entities in the same sentence, and
between each mention and the document. In each of a few layers

    x_u <- relu(W x_u + b + sum over types k of W_k mean over neighbours v of type k of x_v).

A node's vector is all its layers, the first input included, one after the other; an entity's is the mean over
its mentions. In the entity graph two entities with mentions in one sentence have an edge,
e_ij = relu(U i + V j + b), and a pair (h, t) sees the sum of its paths over those o that have an edge with
both:

    p_ht = sum over o of [e_ho; e_oh; e_to; e_ot].

With p = relu(B p_ht + b) a pair becomes

    relu(A [h; t; |h - t|; h * t; document; p] + a),

scored by a linear layer. This is what the authors' program computes, whose figures are published: edges from
what entities are after the last layer, paths added up (its softmax over them is over one value), a layer over
them.

Everything is dense products over [D, n, n], n nodes: documents are small, and padding has no edges.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import LinearHead
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import mention_means, pad_entities, pad_mentions, segment_mean

EDGE_TYPES = 3
"""Same entity, same sentence, document."""

WEIGHTS_AT_ONCE = 2**24
"""How many weights between nodes are made at a time; documents with thousands of mentions have more."""

EMBEDDED_ENTITIES = 80
"""How many entities of a document have an embedding of their own; later ones share the last."""


class SharedGraph(NamedTuple):
    """What the pairs of a batch have in common.

    Attributes:
        document: [D, entity_dim].
        entities: [N, entity_dim].
        paths: [D * E * E, 2 node_dim], the half [e_ho; e_oh] of the paths of (h, t) at h, t; the other half
            of these paths, [e_to; e_ot], is at t, h.
    """

    document: Tensor
    entities: Tensor
    paths: Tensor


class GAINPairEncoder(PairEncoder):
    """GAIN's pair encoder: one vector for each pair.

    The classifier's hidden layer is part of it, because most of that layer can be computed once per entity.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of a pair's vector, the classifier's hidden layer.
        entity_types: how many types of mentions there are, the unknown one apart.
        layers: how many layers of graph convolution.
        embedding_dim: of the embeddings of a mention's type and of its entity's number.
        dropout: the share that is dropped in training of each layer's, each edge's and each pair's vector.

    Reference:
        Zeng, Xu, Chang, Li (2020): Double graph based reasoning for document-level relation extraction.
        EMNLP.
    """

    pairs_at_once = 2**12  # a pair's paths are long vectors

    def __init__(
        self,
        hidden_size: int,
        pair_dim: int,
        *,
        entity_types: int = 6,
        layers: int = 2,
        embedding_dim: int = 20,
        dropout: float = 0.6,
    ) -> None:
        super().__init__()
        self.type_embedding = nn.Embedding(entity_types + 1, embedding_dim, padding_idx=0)
        self.entity_embedding = nn.Embedding(EMBEDDED_ENTITIES, embedding_dim)
        self.node_dim = hidden_size + 2 * embedding_dim
        self.entity_dim = self.node_dim * (layers + 1)
        self.layers = nn.ModuleList(GraphConvolution(self.node_dim, dropout) for _ in range(layers))
        self.edge_source = nn.Linear(self.node_dim, self.node_dim)
        self.edge_target = nn.Linear(self.node_dim, self.node_dim, bias=False)
        path_dim = 4 * self.node_dim
        self.path_layer = nn.Sequential(nn.Linear(path_dim, path_dim), nn.ReLU(), nn.Dropout(dropout))
        self.combination = nn.Linear(5 * self.entity_dim + path_dim, pair_dim)
        self.dropout = nn.Dropout(dropout)

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> SharedGraph:
        """What the mention graph and the entity graph give."""
        nodes = self._mention_graph_nodes(encoded.states, batch)  # [D, n, entity_dim]
        row = batch.mention_document * batch.mentions + batch.mention_slot
        mentions = nodes[:, 1:].flatten(0, 1).index_select(0, row)  # [M, entity_dim]
        entities = segment_mean(mentions, batch.mention_entity, batch.entity_document.shape[0])
        paths = self._paths(pad_entities(entities, batch), entity_graph(batch))
        return SharedGraph(nodes[:, 0], entities, paths.flatten(0, 2))

    def _mention_graph_nodes(self, states: Tensor, batch: Batch) -> Tensor:
        """All layers of the nodes, [D, n, entity_dim]; the first node is the document."""
        mentions = pad_mentions(self.embed_mentions(states, batch), batch)  # [D, m, node_dim]
        document = pad(states[:, :1], (0, self.node_dim - states.shape[2]))  # of no type, and no entity
        known = [torch.cat([document, mentions], 1)]  # [D, n, node_dim]
        for layer in self.layers:
            known.append(layer(known[-1], batch))
        return torch.cat(known, 2)

    def embed_mentions(self, states: Tensor, batch: Batch) -> Tensor:
        """Each mention as [mean of its states; embedding of its type; embedding of its entity], [M, node_dim].

        To append the embeddings to every token of a mention before the mean, as published, gives the same:
        they do not change within a mention. Only where mentions overlap, each keeps its own here.
        """
        number = batch.entity_slot[batch.mention_entity].clamp(max=EMBEDDED_ENTITIES - 1)
        embedded = [self.type_embedding(batch.mention_type), self.entity_embedding(number)]
        return torch.cat([mention_means(states, batch), *embedded], 1)

    def _paths(self, entities: Tensor, linked: Tensor) -> Tensor:
        """The sums over o of [e_ho; e_oh] at h, t, [D, E, E, 2 node_dim].

        Args:
            entities: [D, E, entity_dim].
            linked: bool [D, E, E], symmetric, False between an entity and itself, and where there is none.
        """
        ends = entities[:, :, -self.node_dim :]  # after the last layer
        edges = self.edge_source(ends).unsqueeze(2) + self.edge_target(ends).unsqueeze(1)
        edges = self.dropout(torch.relu(edges))  # [D, E, E, node_dim]
        both_ways = torch.cat([edges, edges.transpose(1, 2)], 3)  # [D, h, o, 2 node_dim]
        weight = linked.to(edges.dtype)
        return weight.unsqueeze(1) @ (both_ways * weight.unsqueeze(3))  # over o linked with h, and with t

    def encode_pairs(self, shared: SharedGraph, batch: Batch, rows: slice | Tensor) -> tuple[Tensor]:
        """The vectors of some pairs, [p, pair_dim]; each part of A is used where it is cheap."""
        document, entities, paths = shared
        head_row, tail_row, document_row = batch.head[rows], batch.tail[rows], batch.pair_document[rows]
        parts = [*[self.entity_dim] * 5, 4 * self.node_dim]
        on_head, on_tail, on_difference, on_product, on_document, on_path = torch.split(
            self.combination.weight, parts, 1
        )
        combined = (
            linear(entities, on_head).index_select(0, head_row)
            + linear(entities, on_tail, self.combination.bias).index_select(0, tail_row)
            + linear(document, on_document).index_select(0, document_row)
        )
        head, tail = entities.index_select(0, head_row), entities.index_select(0, tail_row)
        head_slot, tail_slot = batch.entity_slot[head_row], batch.entity_slot[tail_row]
        first = document_row * batch.entities  # the first slot of the pair's document
        there = paths.index_select(0, (first + head_slot) * batch.entities + tail_slot)
        back = paths.index_select(0, (first + tail_slot) * batch.entities + head_slot)
        path = self.path_layer(torch.cat([there, back], 1))  # [p, 4 node_dim]
        weight = torch.cat([on_difference, on_product, on_path], 1)
        combined = combined + linear(torch.cat([(head - tail).abs(), head * tail, path], 1), weight)
        return (self.dropout(torch.relu(combined)),)


class GraphConvolution(nn.Module):
    """One layer of relational graph convolution, with a weight for each type of edges and one for the node."""

    def __init__(self, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.neighbours = nn.Linear(width, EDGE_TYPES * width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes: Tensor, batch: Batch) -> Tensor:
        """Nodes [D, n, width] after one layer."""
        messages = torch.cat(self.neighbours(nodes).chunk(EDGE_TYPES, 2), 1)  # [D, types * n, width]
        received = torch.cat([weights @ messages for weights in mention_graph(batch, nodes.dtype)], 1)
        refined: Tensor = self.dropout(torch.relu(self.own(nodes) + received))
        return refined


def mention_graph(batch: Batch, dtype: torch.dtype = torch.float32) -> Iterator[Tensor]:
    """The weight of each node's neighbours, for each type of edges side by side: 1 / how many there are.

    Args:
        batch: the documents.
        dtype: of the weights.

    Yields:
        Some rows at a time of [D, n, types * n], n = 1 + mentions of a document; the first node is the
        document. A node without neighbours of a type, or without a mention, has only 0 there.
    """
    # 0 is no mention; the document is a node of its own, in no sentence.
    entity = pad(pad_mentions(batch.mention_entity + 1, batch), (1, 0), value=-1)  # [D, n]
    sentence = pad(pad_mentions(batch.mention_sentence + 1, batch), (1, 0))
    number = torch.arange(entity.shape[1], device=batch.device)
    present, whole = entity > 0, entity < 0
    at_once = max(1, WEIGHTS_AT_ONCE // max(1, entity.numel() * EDGE_TYPES))
    for start in range(0, entity.shape[1], at_once):
        rows = slice(start, start + at_once)
        own_entity, own_sentence, own_number = (
            entity[:, rows, None],
            sentence[:, rows, None],
            number[rows, None],
        )
        same_entity = own_entity == entity.unsqueeze(1)  # [D, rows, n]
        types = [
            same_entity & (own_entity > 0) & (own_number != number),
            (own_sentence == sentence.unsqueeze(1)) & (own_sentence > 0) & ~same_entity,
            (whole[:, rows, None] & present.unsqueeze(1)) | (present[:, rows, None] & whole.unsqueeze(1)),
        ]
        edges = torch.stack(types, 2).to(dtype)  # [D, rows, types, n]
        yield (edges / edges.sum(3, keepdim=True).clamp(min=1)).flatten(2)


def entity_graph(batch: Batch) -> Tensor:
    """Which two entities have mentions in the same sentence, bool [D, E, E]; none with itself."""
    slots = torch.arange(batch.entities, device=batch.device)
    shape = len(batch.lengths), batch.sentences, batch.entities
    present = torch.zeros(shape, device=batch.device)  # whether an entity is mentioned in a sentence
    present[batch.mention_document, batch.mention_sentence, batch.entity_slot[batch.mention_entity]] = 1
    co_mentions = present.transpose(1, 2) @ present  # [D, E, E]
    return (co_mentions > 0) & (slots.unsqueeze(1) != slots)


@register_architecture("gain", attention=False)
def gain(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Graphs of mentions and of entities, scored by a linear layer (Zeng et al., 2020)."""
    pair_encoder = GAINPairEncoder(sizes.hidden_size, sizes.pair_dim, entity_types=sizes.entity_types)
    return pair_encoder, LinearHead(sizes.pair_dim, sizes.num_labels)
