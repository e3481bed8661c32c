"""Graph documents of LangChain."""

import pytest
import spacy
from tests.unit.inference.making import reading_model

pytest.importorskip("langchain_core", reason="langchain-core is not installed")
from langchain_core.documents import Document
from pydantic import BaseModel

from unnoted.inference import Extractor, to_graph
from unnoted.integrations.langchain import UnnotedGraphTransformer

TEXT = "Ada lives in Kelm."
ENTITIES = [
    {"type": "PER", "id": "Q7259", "mentions": [{"start": 0, "end": 3}]},
    {"type": "LOC", "mentions": [{"start": 13, "end": 17}]},
]


class Node(BaseModel):
    id: str | int
    type: str = "Node"
    properties: dict = {}


class Relationship(BaseModel):
    source: Node
    target: Node
    type: str
    properties: dict = {}


class GraphDocument(BaseModel):
    """The fields that each of LangChain's packages gives its own class."""

    nodes: list[Node]
    relationships: list[Relationship]
    source: Document | None = None


@pytest.fixture(scope="module")
def extractor():
    return Extractor(reading_model())


def installed(module):
    return pytest.importorskip(module, reason=f"{module} is not installed").GraphDocument


@pytest.mark.parametrize(
    "module", [None, "langchain_neo4j.graphs.graph_document", "langchain_community.graphs.graph_document"]
)
def test_a_graph_document_has_the_facts_of_its_text(extractor, module):
    graph_document = GraphDocument if module is None else installed(module)
    source = Document(page_content=TEXT, metadata={"entities": ENTITIES}, id="d1")
    transformer = UnnotedGraphTransformer(extractor, graph_document, threshold=0.0)
    (graph,) = transformer.convert_to_graph_documents([source])
    assert isinstance(graph, graph_document) and graph.source == source
    extraction = extractor.extract([{"id": "d1", "text": TEXT, "entities": ENTITIES}], threshold=0.0)
    nodes, edges = to_graph(extraction)
    assert [(node.id, node.type, node.properties["name"]) for node in graph.nodes] == [
        (node["id"], node["type"], node["name"]) for node in nodes
    ]
    assert len(edges) > 1 and [
        (each.source.id, each.type, each.target.id, each.properties) for each in graph.relationships
    ] == [
        (
            edge["source"],
            edge["relation_name"],
            edge["target"],
            {key: value for key, value in edge.items() if key not in ("source", "target")},
        )
        for edge in edges
    ]


def test_entities_are_found_where_none_are_given():
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "PER", "pattern": "Ada"}, {"label": "LOC", "pattern": "Kelm"}]
    )
    finder = Extractor(reading_model(), entities=nlp)
    transformer = UnnotedGraphTransformer(finder, GraphDocument, threshold=0.0, merge_names=True)
    given = Document(page_content=TEXT, metadata={"entities": ENTITIES})
    documents = [Document(page_content=TEXT), given, Document(page_content="Nobody came.")]
    first, second, third = transformer.convert_to_graph_documents(documents)
    assert [{node.id for node in each.nodes} for each in (first, second, third)] == [
        {"Ada (PER)", "Kelm (LOC)"},
        {"Q7259", "Kelm (LOC)"},
        set(),
    ]
    assert first.relationships[0].properties["document"] == second.relationships[0].properties["document"]
