"""Property graphs of LlamaIndex."""

import json

import pytest
import spacy
from tests.unit.inference.making import reading_model

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.indices.property_graph import VectorContextRetriever
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter

from unnoted.data.synthetic import generate_documents
from unnoted.inference import DecisionOptions, Extractor
from unnoted.inference.predict_files import predict_files
from unnoted.integrations.llama_index import UnnotedPathExtractor


@pytest.fixture(scope="module")
def extractor():
    return Extractor(reading_model())


def record_of(document):
    """A generated document as text, with the characters of its mentions."""
    text, starts = "", {}
    for number, sentence in enumerate(document.sentences):
        for place, word in enumerate(sentence):
            starts[number, place] = len(text)
            text += word + " "
    entities = [
        {
            "type": entity.type,
            "mentions": [
                {
                    "start": starts[mention.sentence, mention.start],
                    "end": starts[mention.sentence, mention.end - 1]
                    + len(document.sentences[mention.sentence][mention.end - 1]),
                }
                for mention in entity.mentions
            ],
        }
        for entity in document.entities
    ]
    return {"id": document.id, "text": text, "entities": entities}


def pipeline(**ids):
    """Finds Ada and Kelm; `ids` are theirs in a knowledge base."""
    nlp = spacy.blank("en")
    patterns = [
        {"label": label, "pattern": name} | ({"id": ids[name]} if name in ids else {})
        for name, label in (("Ada", "PER"), ("Kelm", "LOC"))
    ]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    return nlp


def finding(nlp):
    return Extractor(reading_model(), entities=nlp)


def index_of(documents, transformation, **options):
    store = SimplePropertyGraphStore()
    PropertyGraphIndex(
        nodes=documents,
        kg_extractors=[transformation],
        property_graph_store=store,
        embed_kg_nodes=False,
        **options,
    )
    return store


def test_the_graph_of_100_documents_has_the_facts_that_predict_writes(extractor, tmp_path):
    records = [record_of(document) for document in generate_documents(100, seed=5)]
    source, to = tmp_path / "documents.jsonl", tmp_path / "facts.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    predict_files(extractor, "model", [source], to, "jsonl", DecisionOptions(0.5))
    expected = sorted(
        (line["id"], f["head_name"], f["relation"], f["tail_name"], f["score"], f["evidence"], f["sentences"])
        for line in map(json.loads, to.read_text().splitlines())
        for f in line["facts"]
    )
    documents = [
        Document(doc_id=record["id"], text=record["text"], metadata={"entities": record["entities"]})
        for record in records
    ]
    graph = index_of(documents, UnnotedPathExtractor(extractor, threshold=0.5)).graph
    keys = ("score", "evidence", "sentences")
    found = sorted(
        (
            relation.properties["document"],
            head.properties["entity_name"],
            relation.properties["relation"],
            tail.properties["entity_name"],
            *(relation.properties[key] for key in keys),
        )
        for head, relation, tail in graph.get_triplets()
    )
    assert len(expected) > 100 and found == expected


@pytest.mark.parametrize(
    ("ids", "merge_names", "names"),
    [
        ({}, False, {"Ada (1#0)", "Kelm (1#1)", "Ada (2#0)", "Kelm (2#1)"}),
        ({"Ada": "Q7259"}, False, {"Q7259", "Kelm (1#1)", "Kelm (2#1)"}),
        ({"Ada": "Q7259"}, True, {"Q7259", "Kelm (LOC)"}),
    ],
)
def test_texts_whose_entities_are_found(ids, merge_names, names):
    documents = [Document(doc_id=name, text="Ada lives in Kelm.") for name in ("1", "2")]
    transformation = UnnotedPathExtractor(finding(pipeline(**ids)), threshold=0.0, merge_names=merge_names)
    store = index_of(documents, transformation)
    nodes = [node for node in store.graph.nodes.values() if node.label in ("PER", "LOC")]
    assert {node.name for node in nodes} == names
    assert {node.properties.get("kb_id") for node in nodes} == {*ids.values(), None}
    relation = store.graph.get_all_relations()[0].properties
    assert relation["head_offsets"] in ([0, 3], [13, 17]) and relation["sentences"]
    assert relation["triplet_source_id"] == relation["document"]


def test_a_stored_graph_answers_a_retriever_without_a_language_model(tmp_path):
    embedding = MockEmbedding(embed_dim=4)
    index = PropertyGraphIndex.from_documents(
        [Document(text="Ada lives in Kelm. " * 40)],
        transformations=[SentenceSplitter(chunk_size=64, chunk_overlap=0)],
        kg_extractors=[UnnotedPathExtractor(finding(pipeline()), threshold=0.0, merge_names=True)],
        embed_model=embedding,
    )
    retriever = VectorContextRetriever(
        index.property_graph_store, vector_store=index.vector_store, embed_model=embedding, include_text=False
    )
    assert "Ada (PER)" in retriever.retrieve("Who lives in Kelm?")[0].text
    index.property_graph_store.persist(str(tmp_path / "graph.json"))
    again = SimplePropertyGraphStore.from_persist_path(str(tmp_path / "graph.json"))
    kept, stored = (
        len(store.get_triplets(ids=["Ada (PER)"])) for store in (again, index.property_graph_store)
    )
    assert kept == stored > 0


def test_it_runs_in_an_ingestion_pipeline_and_beside_other_extractors():
    transformation = UnnotedPathExtractor(finding(pipeline()), threshold=0.0)
    run = IngestionPipeline(transformations=[transformation])
    (first,) = run.run(nodes=[Document(doc_id="1", text="Ada lives in Kelm.")])
    assert len(first.metadata["nodes"]) == 2
    (second,) = transformation([first])
    assert len(second.metadata["nodes"]) == 4  # what was there stays
