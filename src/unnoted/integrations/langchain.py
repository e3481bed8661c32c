"""LangChain: documents become graph documents without a language model.

Needs `pip install 'unnoted[langchain]'`, and the package whose `GraphDocument` is made.
"""

from collections.abc import Iterable
from hashlib import md5
from typing import Any, Generic, TypeVar

from langchain_core.documents import Document  # type: ignore[import-not-found, unused-ignore]
from pydantic import BaseModel

from unnoted.inference import DecisionOptions, Extraction, Extractor, to_graph

GraphDocument = TypeVar("GraphDocument", bound=BaseModel)


class UnnotedGraphTransformer(Generic[GraphDocument]):
    """Turns documents into graph documents, which `add_graph_documents` of LangChain's graphs stores.

    Properties of a relationship are those of a `GraphEdge`. Entities that stand in a document's metadata under
    `entities`, as in JSONL, are taken from there; else the extractor finds them.

    Args:
        extractor: with the model, and with what finds entities.
        graph_document: the class to make; `langchain_neo4j`, `langchain_memgraph` and others have one of their own.
        threshold: which facts are predicted, as for `Extractor.extract`.
        merge_names: make entities of one name and type one node, where no knowledge base tells them apart.
    """

    def __init__(
        self,
        extractor: Extractor,
        graph_document: type[GraphDocument],
        *,
        threshold: float | DecisionOptions | None = None,
        merge_names: bool = False,
    ) -> None:
        self.graph_document = graph_document
        self.merge_names = merge_names
        self._extractor = extractor
        self._threshold = threshold

    def convert_to_graph_documents(self, documents: Iterable[Document]) -> list[GraphDocument]:
        """A graph document for each document, in their order."""
        sources = list(documents)
        extractions = self._extractor.extract(map(_source, sources), threshold=self._threshold)
        return [self._convert(each, found) for each, found in zip(sources, extractions, strict=True)]

    def _convert(self, source: Document, extraction: Extraction) -> GraphDocument:
        graph = to_graph([extraction], merge_names=self.merge_names)
        nodes: dict[str, dict[str, Any]] = {}
        for node in graph.nodes:
            properties = {key: value for key, value in node.items() if key not in ("id", "type")}
            nodes[node["id"]] = {"id": node["id"], "type": node["type"], "properties": properties}
        relationships = [
            {
                "source": nodes[edge["source"]],
                "target": nodes[edge["target"]],
                "type": edge["relation_name"],
                "properties": {key: value for key, value in edge.items() if key not in ("source", "target")},
            }
            for edge in graph.edges
        ]
        # The classes of nodes and relationships are those of the package's own fields.
        return self.graph_document.model_validate(
            {"nodes": list(nodes.values()), "relationships": relationships, "source": source}
        )


def _source(document: Document) -> dict[str, Any]:
    """The document as the extractor takes it; its id is the one that LangChain's graphs give it."""
    text, metadata = document.page_content, document.metadata
    name = document.id or metadata.get("id") or md5(text.encode(), usedforsecurity=False).hexdigest()
    entities = {"entities": metadata["entities"]} if "entities" in metadata else {}
    return {"id": name, "text": text} | entities
