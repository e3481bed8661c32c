"""Facts as nodes and edges, in networkx, GraphML and RDF."""

import csv
from collections import Counter

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.inference.making import corpus, reading_model, results_of

from unnoted.inference import Extractor, to_graph, to_networkx
from unnoted.inference.graph import iter_graph, write_graphml, write_rdf
from unnoted.inference.writers import write_csv

QUERY = """
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX unnoted: <urn:unnoted:vocabulary:>
SELECT ?head ?relation ?tail ?document ?score ?text {
  ?h ?r ?t .
  ?fact rdf:subject ?h ; rdf:predicate ?r ; rdf:object ?t ; unnoted:document ?document ; unnoted:score ?score ;
        unnoted:evidence/unnoted:text ?text .
  ?h rdfs:label ?head . ?r rdfs:label ?relation . ?t rdfs:label ?tail
}
"""


def fact(**changes):
    return {
        "head": 0, "head_name": "Ada", "head_type": "PER", "head_id": "Q7259", "relation": "P551",
        "relation_name": "residence", "tail": 1, "tail_name": "Kelm", "tail_type": "LOC", "tail_id": None,
        "score": 0.9, "calibrated": True, "evidence": [0, 2], "sentences": ["Ada came.", "She lives in Kelm."],
        "head_offsets": [(0, 3), (20, 23)], "tail_offsets": [(33, 37)],
    } | changes  # fmt: skip


def record(id="d1", *facts):
    return {"id": id, "facts": list(facts)}


@pytest.fixture(scope="module")
def extractions():
    """Facts that a model predicts."""
    found = list(Extractor(reading_model()).extract(corpus(), threshold=0.5))
    assert sum(len(each.facts) for each in found) > 20
    return found


def triples_of(extractions):
    return Counter(
        (each.document.id, fact.head_entity.name, fact.relation, fact.tail_entity.name, fact.score)
        for each in extractions
        for fact in each.facts
    )


def test_edges_are_the_facts_of_the_extractor_whichever_way(extractions):
    expected = triples_of(extractions)
    for source in (extractions, [each.to_json() for each in extractions]):
        nodes, edges = to_graph(source)
        names = {node["id"]: node["name"] for node in nodes}
        assert len(names) == len(nodes)
        assert expected == Counter(
            (edge["document"], names[edge["source"]], edge["relation"], names[edge["target"]], edge["score"])
            for edge in edges
        )
    graph = to_networkx(extractions)
    assert expected == Counter(
        (data["document"], graph.nodes[a]["name"], data["relation"], graph.nodes[b]["name"], data["score"])
        for a, b, data in graph.edges(data=True)
    )


def test_an_edge_says_where_it_comes_from():
    (edge,) = to_graph([record("d1", fact(rule="born in → lives in"))]).edges
    assert edge == {
        "source": "Q7259", "target": "d1#1", "relation": "P551", "relation_name": "residence",
        "document": "d1", "score": 0.9, "calibrated": True, "evidence": [0, 2],
        "sentences": ["Ada came.", "She lives in Kelm."], "head_offsets": [0, 3, 20, 23],
        "tail_offsets": [33, 37], "rule": "born in → lives in",
    }  # fmt: skip


def test_without_text_and_rule_an_edge_has_no_such_keys():
    bare = {key: value for key, value in fact().items() if not key.endswith("offsets")}
    (edge,) = to_graph([record("d1", bare)]).edges
    assert not {"head_offsets", "tail_offsets", "rule"} & edge.keys()


@pytest.mark.parametrize(
    ("merge_names", "ids"),
    [
        (False, {"Q7259", "d1#1", "d2#1", "d2#5"}),
        (True, {"Q7259", "Kelm (LOC)", "Kelm (PER)"}),
    ],
)
def test_what_is_one_node(merge_names, ids):
    """An id in a knowledge base is; a name is only if the user says so, and never across types."""
    second = record("d2", fact(head_name="A.", tail_name=" Kelm"), fact(tail=5, tail_type="PER"))
    nodes, edges = to_graph([record("d1", fact()), second], merge_names=merge_names)
    assert {node["id"] for node in nodes} == ids and len(nodes) == len(ids) and len(edges) == 3
    (ada,) = (node for node in nodes if node["id"] == "Q7259")
    assert ada == {"id": "Q7259", "name": "Ada", "type": "PER", "kb_id": "Q7259"}


def test_a_stream_gives_each_node_once_and_before_its_edges():
    stream = iter_graph(record(f"d{number}", fact()) for number in range(10**9))
    first, second = next(stream), next(stream)
    assert [node["id"] for node in first.nodes] == ["Q7259", "d0#1"]
    assert [node["id"] for node in second.nodes] == ["d1#1"] and len(second.edges) == 1


def test_networkx_keeps_a_fact_of_two_documents_twice():
    graph = to_networkx([record(name, fact(tail_id="Q1")) for name in ("d1", "d2")])
    assert [data["document"] for data in graph["Q7259"]["Q1"].values()] == ["d1", "d2"]


def test_graphml_is_read_by_networkx(extractions, tmp_path):
    write_graphml(tmp_path / "facts.graphml", results_of([each.to_json() for each in extractions]))
    read, expected = networkx.read_graphml(tmp_path / "facts.graphml"), to_networkx(extractions)
    assert dict(read.nodes(data=True)) == dict(expected.nodes(data=True))

    def rows(graph):
        return Counter(
            (a, b, *sorted((key, joined(key, value)) for key, value in data.items()))
            for a, b, data in graph.edges(data=True)
        )

    def joined(key, value):
        if not isinstance(value, list):
            return value
        if key.endswith("offsets"):
            value = [f"{start}-{end}" for start, end in zip(value[::2], value[1::2], strict=True)]
        return ("\n" if key == "sentences" else " ").join(map(str, value))

    assert rows(read) == rows(expected)


def test_the_parts_of_a_list_are_told_apart_in_files(tmp_path):
    lists = fact(
        head_offsets=[[0, 3], [5, 8]],
        tail_offsets=[[9, 10]],
        evidence=[0, 2],
        sentences=["Ada slept.", "It\nrained."],
    )
    for write, name in ((write_graphml, "facts.graphml"), (write_csv, "facts.csv")):
        write(tmp_path / name, results_of([record("d1", lists)]))
    ((*_, edge),) = networkx.read_graphml(tmp_path / "facts.graphml").edges(data=True)
    with open(tmp_path / "facts.csv", newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    for data in (edge, row):
        assert data["sentences"].split("\n") == ["Ada slept.", "It rained."]
        assert (data["head_offsets"], data["tail_offsets"], data["evidence"]) == ("0-3 5-8", "9-10", "0 2")


def test_graphml_without_facts_is_an_empty_graph(tmp_path):
    write_graphml(tmp_path / "facts.graphml.gz", results_of([record("d1")]))
    assert len(networkx.read_graphml(tmp_path / "facts.graphml.gz")) == 0


def test_rdf_answers_with_the_facts_and_their_sentences(extractions, tmp_path):
    rdflib = pytest.importorskip("rdflib", reason="rdflib reads what is written")
    expected = Counter(
        (each.document.id, fact["head_name"], fact["relation_name"], fact["tail_name"], fact["score"], text)
        for each in extractions
        for fact in each.to_json()["facts"]
        for text in fact["sentences"]
    )
    graphs = []
    for form in ("nt", "ttl"):
        path = tmp_path / f"facts.{form}"
        write_rdf(path, results_of([each.to_json() for each in extractions]), form)
        graphs.append(rdflib.Graph().parse(path))
        found = Counter(
            (str(document), str(head), str(relation), str(tail), score.toPython(), str(text))
            for head, relation, tail, document, score, text in graphs[-1].query(QUERY)
        )
        assert found == expected
    assert set(graphs[0]) == set(graphs[1])


def test_addresses_stay_what_they_are_in_rdf(tmp_path):
    rdflib = pytest.importorskip("rdflib", reason="rdflib reads what is written")
    ada, lives = "http://www.wikidata.org/entity/Q7259", "http://www.wikidata.org/prop/direct/P551"
    write_rdf(
        tmp_path / "facts.ttl",
        results_of([record("d1", fact(head_id=ada, relation=lives, tail_id="Q1"))]),
        "ttl",
    )
    graph = rdflib.Graph().parse(tmp_path / "facts.ttl")
    entity = rdflib.URIRef("urn:unnoted:entity:Q1")
    assert (rdflib.URIRef(ada), rdflib.URIRef(lives), entity) in graph


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(document=TEXT, name=TEXT, id=st.none() | TEXT, relation=TEXT)
def test_any_text_is_written_so_that_it_is_read_again(tmp_path_factory, document, name, id, relation):
    rdflib = pytest.importorskip("rdflib", reason="rdflib reads what is written")
    folder = tmp_path_factory.mktemp("any")
    strange = fact(head_name=name, head_id=id, head_type=name, relation=relation, sentences=[name, name])
    records = [record(document, strange)]
    graphs = []
    for form in ("nt", "ttl"):
        write_rdf(folder / "facts", results_of(records), form)
        graphs.append(rdflib.Graph().parse(folder / "facts", format=form))
    assert set(graphs[0]) == set(graphs[1])
    assert name in {str(label) for label in graphs[0].objects(None, rdflib.RDFS.label)}
    assert [
        str(each) for each in graphs[0].objects(None, rdflib.URIRef("urn:unnoted:vocabulary:document"))
    ] == [document]
    write_graphml(folder / "facts", results_of(records))
    (data,) = (data for _, _, data in networkx.read_graphml(folder / "facts").edges(data=True))
    if document.isprintable():  # XML has no control characters
        assert data["document"] == document
