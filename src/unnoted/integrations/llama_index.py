"""LlamaIndex: a property graph without a language model, `PropertyGraphIndex(kg_extractors=[...])`.

Needs `pip install 'unnoted[llama-index]'`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.graph_stores.types import (  # type: ignore[import-not-found, unused-ignore]
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.schema import (  # type: ignore[import-not-found, unused-ignore]
    BaseNode,
    TransformComponent,
)
from pydantic import PrivateAttr

from unnoted.inference import DecisionOptions, Extractor, GraphEdge, GraphNode, to_graph


class UnnotedPathExtractor(TransformComponent):  # type: ignore[misc, unused-ignore]
    """Puts the entities and relations of texts where `PropertyGraphIndex` looks for them.

    Each LlamaIndex node is a document: split as little as possible, so that facts across sentences are found.
    Entities that stand in its metadata under `entities`, as in JSONL, are taken from there; else the extractor
    finds them.

    A relation's `properties` are those of a `GraphEdge`. LlamaIndex takes the name of an entity for its id, so the
    name is the id in the knowledge base, `name (type)` if names are merged, or else `name (node#index)`; the bare
    name is the property `entity_name`. Its graph stores keep one relation of a kind between two entities: where
    several texts state a fact, the provenance of one of them is kept.

    Args:
        extractor: with the model, and with what finds entities.
        threshold: which facts are predicted, as for `Extractor.extract`.
        merge_names: make entities of one name and type one node, where no knowledge base tells them apart.
    """

    merge_names: bool = False
    _extractor: Extractor = PrivateAttr()
    _threshold: float | DecisionOptions | None = PrivateAttr()

    def __init__(
        self,
        extractor: Extractor,
        *,
        threshold: float | DecisionOptions | None = None,
        merge_names: bool = False,
    ) -> None:
        super().__init__(merge_names=merge_names)  # type: ignore[call-arg, unused-ignore]
        self._extractor = extractor
        self._threshold = threshold

    @classmethod
    def class_name(cls) -> str:
        """What LlamaIndex calls it."""
        return "UnnotedPathExtractor"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ANN401
        """Add the entities and relations of each node to its metadata."""
        sources = ({"id": node.node_id, "text": node.get_content()} | _take_entities(node) for node in nodes)
        extractions = self._extractor.extract(sources, threshold=self._threshold)
        for node, extraction in zip(nodes, extractions, strict=True):
            graph = to_graph([extraction], merge_names=self.merge_names)
            names = {each["id"]: self._name(each) for each in graph.nodes}
            entities = [_entity(names[each["id"]], each) for each in graph.nodes]
            relations = [_relation(names, each) for each in graph.edges]
            node.metadata[KG_NODES_KEY] = [*node.metadata.get(KG_NODES_KEY, ()), *entities]
            node.metadata[KG_RELATIONS_KEY] = [*node.metadata.get(KG_RELATIONS_KEY, ()), *relations]
        return nodes

    def _name(self, node: GraphNode) -> str:
        """LlamaIndex replaces quotes in an entity's id, and shows the id to language models."""
        name = node["id"] if self.merge_names or "kb_id" in node else f"{node['name']} ({node['id']})"
        return name.replace('"', " ")


def _take_entities(node: BaseNode) -> dict[str, Any]:
    """Taken out of the metadata: vector stores keep nothing that is nested."""
    return {"entities": node.metadata.pop("entities")} if "entities" in node.metadata else {}


def _entity(name: str, node: GraphNode) -> EntityNode:
    properties = {"entity_name": node["name"]} | ({"kb_id": node["kb_id"]} if "kb_id" in node else {})
    return EntityNode(name=name, label=node["type"], properties=properties)


def _relation(names: Mapping[str, str], edge: GraphEdge) -> Relation:
    ends = ("source", "target", "relation_name")
    return Relation(
        label=edge["relation_name"],
        source_id=names[edge["source"]],
        target_id=names[edge["target"]],
        properties={key: value for key, value in edge.items() if key not in ends},
    )
