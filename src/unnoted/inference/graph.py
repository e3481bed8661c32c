"""Facts as a knowledge graph: plain nodes and edges, networkx, GraphML, N-Triples and Turtle.

An entity with an id in a knowledge base is one node in all documents. Any other entity is a node of its document
alone: that two documents write one name does not make it one person. Whoever knows better merges by name and
type. Every edge says where it comes from: document, sentences, characters, score.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired, TypeAlias
from urllib.parse import quote
from xml.sax.saxutils import escape

from typing_extensions import TypedDict

from unnoted.inference.facts import DocumentRecord, Extraction, FactRecord, Results, join_values
from unnoted.io import open_output

if TYPE_CHECKING:
    from networkx import MultiDiGraph  # type: ignore[import-untyped, unused-ignore]

Extracted: TypeAlias = Extraction | DocumentRecord
"""The facts of one document: what an extractor returns, or a line of extracted JSONL."""


class GraphNode(TypedDict):
    """An entity.

    Attributes:
        id: its id in a knowledge base; without one `document#index`, or `name (type)` if names are merged.
        name: of its first mention in the first document that has it.
        type: of that mention.
        kb_id: its id in a knowledge base, if it has one.
    """

    id: str
    name: str
    type: str
    kb_id: NotRequired[str]


class GraphEdge(TypedDict):
    """A fact in one document. Values are numbers, strings and lists of them, which graph databases can store.

    Attributes:
        source: the id of the head's node.
        target: the id of the tail's node.
        relation: the relation id.
        relation_name: its readable name.
        document: the id of the document.
        score: from 0 to 1; a probability if `calibrated`.
        calibrated: whether it is.
        evidence: the numbers of the supporting sentences, from 0.
        sentences: their texts.
        head_offsets: start and end of each mention of the head in turn, in characters, if text was given.
        tail_offsets: those of the tail.
        rule: the rule that implies the fact, if one does.
    """

    source: str
    target: str
    relation: str
    relation_name: str
    document: str
    score: float
    calibrated: bool
    evidence: list[int]
    sentences: list[str]
    head_offsets: NotRequired[list[int]]
    tail_offsets: NotRequired[list[int]]
    rule: NotRequired[str]


class Graph(NamedTuple):
    """Nodes, each once, and edges between them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


def to_graph(extractions: Iterable[Extracted], *, merge_names: bool = False) -> Graph:
    """The facts of documents as lists of dictionaries, such as Cypher's `UNWIND` takes.

    Args:
        extractions: with ids that are unique in the graph to which they are added.
        merge_names: make entities of one name and type one node, where no knowledge base tells them apart.

    Example:
        >>> fact = {"head": 0, "head_name": "Ada", "head_type": "PER", "head_id": "Q7259", "relation": "P26",
        ...         "relation_name": "spouse", "tail": 1, "tail_name": "Bo", "tail_type": "PER", "tail_id": None,
        ...         "score": 0.9, "calibrated": True, "evidence": [0], "sentences": ["Ada married Bo."]}
        >>> nodes, (edge,) = to_graph([{"id": "d1", "facts": [fact]}])
        >>> nodes[1], edge["source"], edge["relation_name"], edge["target"]
        ({'id': 'd1#1', 'name': 'Bo', 'type': 'PER'}, 'Q7259', 'spouse', 'd1#1')
    """
    graph = Graph([], [])
    for nodes, edges in iter_graph(extractions, merge_names=merge_names):
        graph.nodes.extend(nodes)
        graph.edges.extend(edges)
    return graph


def iter_graph(extractions: Iterable[Extracted], *, merge_names: bool = False) -> Iterator[Graph]:
    """The graph of a stream, document by document: its edges, and those of its nodes that are new.

    Only the ids of nodes that can occur in several documents are remembered.

    Args:
        extractions: as for `to_graph`.
        merge_names: as for `to_graph`.
    """
    shared: set[str] = set()
    for each in extractions:
        record = each.to_json() if isinstance(each, Extraction) else each
        nodes: dict[str, GraphNode] = {}
        edges: list[GraphEdge] = []
        for fact in record["facts"]:
            head, tail = (_node(record["id"], fact, side, merge_names) for side in ("head", "tail"))
            edges.append(_edge(record["id"], fact, head["id"], tail["id"]))
            nodes.setdefault(head["id"], head)
            nodes.setdefault(tail["id"], tail)
        new = [node for id, node in nodes.items() if id not in shared]
        shared.update(node["id"] for node in new if merge_names or "kb_id" in node)
        yield Graph(new, edges)


def _node(document: str, fact: Mapping[str, Any], side: str, merge_names: bool) -> GraphNode:
    index, name, type, kb_id = (fact[f"{side}{key}"] for key in ("", "_name", "_type", "_id"))
    if kb_id is not None:
        return {"id": kb_id, "name": name, "type": type, "kb_id": kb_id}
    merged = f"{' '.join(name.split())} ({type})"
    return {"id": merged if merge_names else f"{document}#{index}", "name": name, "type": type}


def _edge(document: str, fact: FactRecord, source: str, target: str) -> GraphEdge:
    edge: GraphEdge = {
        "source": source,
        "target": target,
        "relation": fact["relation"],
        "relation_name": fact["relation_name"],
        "document": document,
        "score": fact["score"],
        "calibrated": fact["calibrated"],
        "evidence": list(fact["evidence"]),
        "sentences": list(fact["sentences"]),
    }
    if "head_offsets" in fact:
        edge["head_offsets"] = [place for span in fact["head_offsets"] for place in span]
    if "tail_offsets" in fact:
        edge["tail_offsets"] = [place for span in fact["tail_offsets"] for place in span]
    if "rule" in fact:
        edge["rule"] = fact["rule"]
    return edge


def to_networkx(extractions: Iterable[Extracted], *, merge_names: bool = False) -> "MultiDiGraph":
    """The facts of documents as a networkx graph, whose nodes and edges have the keys of `to_graph` as attributes.

    A fact that several documents state is an edge for each.

    Args:
        extractions: as for `to_graph`.
        merge_names: as for `to_graph`.
    """
    from networkx import MultiDiGraph

    graph = MultiDiGraph()
    for nodes, edges in iter_graph(extractions, merge_names=merge_names):
        graph.add_nodes_from((node["id"], _without(node, "id")) for node in nodes)
        ends = ("source", "target")
        graph.add_edges_from((edge["source"], edge["target"], _without(edge, *ends)) for edge in edges)
    return graph


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


GRAPHML_TYPES = {"score": "double", "calibrated": "boolean"}
"""GraphML's types of attributes that are no strings."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(path: Path, results: Results) -> None:
    """Write a graph as GraphML, document by document, with lists as in CSV (`join_values`)."""
    with open_output(path) as stream:
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for kind, row in (("node", GraphNode), ("edge", GraphEdge)):
            for name in _without(row.__annotations__, "id", "source", "target"):
                type = GRAPHML_TYPES.get(name, "string")
                stream.write(
                    f'<key id="{kind}-{name}" for="{kind}" attr.name="{name}" attr.type="{type}"/>\n'
                )
        stream.write('<graph edgedefault="directed">\n')
        for nodes, edges in iter_graph(results.records):
            for node in nodes:
                data = _graphml_data("node", _without(node, "id"))
                stream.write(f'<node id="{_escape_xml(node["id"])}">{data}</node>\n')
            for edge in edges:
                ends = f'source="{_escape_xml(edge["source"])}" target="{_escape_xml(edge["target"])}"'
                data = _graphml_data("edge", _without(edge, "source", "target"))
                stream.write(f"<edge {ends}>{data}</edge>\n")
        stream.write("</graph>\n</graphml>\n")


def _graphml_data(kind: str, values: Mapping[str, Any]) -> str:
    return "".join(
        f'<data key="{kind}-{name}">{_escape_xml(str(_flat_value(name, value)))}</data>'
        for name, value in values.items()
    )


def _flat_value(name: str, value: Any) -> str | float | bool:  # noqa: ANN401 - a value of a node or an edge
    """A value as files have it, which hold no lists."""
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    spans = name in ("head_offsets", "tail_offsets")
    return join_values(list(zip(value[::2], value[1::2], strict=True)) if spans else value)


def _escape_xml(text: str) -> str:
    """Characters that XML cannot hold at all are replaced."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


URN = "urn:unnoted:"
"""Begins the name in RDF of whatever is not called by an `http` address already."""

SPACES = {
    **{name: f"{URN}{name}:" for name in ("entity", "local", "relation", "type", "fact", "sentence")},
    "unnoted": f"{URN}vocabulary:",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""The name spaces of RDF, which are prefixes in Turtle."""

RDF_PROVENANCE = ("document", "score", "calibrated", "head_offsets", "tail_offsets", "rule")
"""What an `rdf:Statement` says as it stands in a `GraphEdge`."""

XSD_TYPES = {bool: "boolean", int: "integer", float: "double"}

_ADDRESS = re.compile(r"""https?://[^\x00-\x20<>"{}|^`\\]+""")
_SHORT = re.compile(r"[\w:%](?:[\w:%.-]*[\w:%-])?", re.ASCII)


class Iri(NamedTuple):
    """A name in RDF: a name space and what follows it."""

    space: str
    local: str


Term: TypeAlias = Iri | str | float | bool
"""A name, or a value."""


def write_rdf(path: Path, results: Results, form: Literal["nt", "ttl"]) -> None:
    """Write a graph as N-Triples or Turtle, document by document.

    A fact is a triple, and an `rdf:Statement` about it with its score, document and sentences.

    Args:
        path: the file.
        results: the facts of documents.
        form: `nt` or `ttl`.
    """
    short = form == "ttl"
    relations: set[str] = set()
    with open_output(path) as stream:
        if short:
            stream.writelines(f"@prefix {name}: <{iri}> .\n" for name, iri in SPACES.items())
        for graph in iter_graph(results.records):
            for subject, triples in groupby(_triples(graph, relations), itemgetter(0)):
                name = _format_term(subject, short)
                said = [
                    f"{_format_term(verb, short)} {_format_term(value, short)}" for _, verb, value in triples
                ]
                separator = " ;\n    " if short else f" .\n{name} "
                stream.write(f"{name} {separator.join(said)} .\n")


def _triples(graph: Graph, relations: set[str]) -> Iterator[tuple[Iri, Iri, Term]]:
    """The triples of one document; a relation that is new to `relations` gets its name."""
    type, label = Iri("rdf", "type"), Iri("rdfs", "label")
    sentences: dict[Iri, tuple[int, str]] = {}
    document = graph.edges[0]["document"] if graph.edges else ""
    for node in graph.nodes:
        name = _name_node(document, node["id"])
        yield name, type, _name("type", node["type"])
        yield name, label, node["name"]
    for edge in graph.edges:
        head, tail = (_name_node(document, id) for id in (edge["source"], edge["target"]))
        relation = _name("relation", edge["relation"])
        if edge["relation"] not in relations:
            relations.add(edge["relation"])
            yield relation, label, edge["relation_name"]
        yield head, relation, tail
        fact = _name("fact", document, edge["source"], edge["relation"], edge["target"])
        yield fact, type, Iri("rdf", "Statement")
        yield fact, Iri("rdf", "subject"), head
        yield fact, Iri("rdf", "predicate"), relation
        yield fact, Iri("rdf", "object"), tail
        values: Mapping[str, Any] = edge
        for key in RDF_PROVENANCE:
            if key in values:
                yield fact, Iri("unnoted", key), _flat_value(key, values[key])
        for number, text in zip(edge["evidence"], edge["sentences"], strict=True):
            sentence = _name("sentence", document, number)
            yield fact, Iri("unnoted", "evidence"), sentence
            sentences[sentence] = number, text
    for sentence, (number, text) in sentences.items():
        yield sentence, Iri("unnoted", "number"), number
        yield sentence, Iri("unnoted", "text"), text


def _name_node(document: str, id: str) -> Iri:
    own = f"{document}#"
    return _name("local", document, id.removeprefix(own)) if id.startswith(own) else _name("entity", id)


def _name(space: str, *parts: str | int) -> Iri:
    """The name of something; an address stays as it is."""
    if len(parts) == 1 and _ADDRESS.fullmatch(str(parts[0])):
        return Iri("", str(parts[0]))
    # Only what stands last may have a colon of its own, so that different things have different names.
    *first, last = (str(part) for part in parts)
    return Iri(space, ":".join([*(quote(part, "") for part in first), quote(last, ":")]))


def _format_term(term: Term, short: bool) -> str:
    """A term as N-Triples writes it; if `short`, with a prefix where Turtle allows one."""
    if isinstance(term, Iri):
        if short and term.space and _SHORT.fullmatch(term.local):
            return f"{term.space}:{term.local}"
        return f"<{SPACES.get(term.space, '')}{term.local}>"
    if isinstance(term, str):
        return json.dumps(term, ensure_ascii=False)
    return f'"{json.dumps(term)}"^^' + _format_term(Iri("xsd", XSD_TYPES[type(term)]), short)
