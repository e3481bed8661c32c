"""DocRED and Re-DocRED JSON: a list of {title, sents, vertexSet, labels}.

`h` and `t` index `vertexSet` of the same document only: the two data sets differ in their entities. Three
fields that we write are our own, and other programs ignore them: `text` of a document, its `negatives` (like
`labels`), and `id` of a mention. With them nothing is lost between writing and reading.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from pydantic import Field

from unnoted.data.document import Decision, Document, Entity, Fact, Mention, Triple
from unnoted.data.formats.records import (
    DocumentFormat,
    Edits,
    OwnRecord,
    ReadContext,
    Span,
    first_fields,
    log_unknown_fields,
    parse_as,
    update_records,
)
from unnoted.data.tokenization import is_split_of
from unnoted.data.validation import FieldNames
from unnoted.errors import DataError, DefectKind
from unnoted.io import read_array, write_list
from unnoted.utils import short_repr

FIELDS = FieldNames(
    mention="vertexSet[{}][{}]", entity="vertexSet[{}]", fact="labels[{}]", negative="negatives[{}]",
    sentence="sent_id", span="pos", head="h", tail="t", relation="r",
)  # fmt: skip


class MentionRecord(OwnRecord):
    """A mention; `global_pos` and `index` (Re-DocRED) follow from the rest."""

    name: str
    pos: Span
    sent_id: int
    type: str
    id: str | int | None = None
    global_pos: Any = None
    index: Any = None


class LabelRecord(OwnRecord):
    """A fact; `provenance` says who decided, and stays in the file: nothing here reads it."""

    h: int
    t: int
    r: str
    evidence: list[int] = Field([])
    provenance: Any = None

    @property
    def triple(self) -> Triple:
        """The fact without its evidence."""
        return self.h, self.t, intern(self.r)


class DocumentRecord(OwnRecord):
    """A document."""

    title: str | int
    sents: list[list[str]]
    vertex_set: list[list[MentionRecord]] = Field(alias="vertexSet")
    labels: list[LabelRecord] = Field([])
    negatives: list[LabelRecord] = Field([])
    text: str | None = None


def sniff(start: str) -> bool:
    """Whether a file that starts like this is a list of DocRED's documents, or of nothing known."""
    fields = first_fields(start)
    own = ("title", "sents", "vertexSet")
    return start.startswith("[") and (not fields or not fields.keys().isdisjoint(own))


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a DocRED file, one at a time."""
    return context.read_each(read_array(stream, context.limits), _document)


def _document(numbered: tuple[int, int, object], context: ReadContext) -> Document:
    index, context.log.line, value = numbered
    given = value.get("title") if isinstance(value, dict) else None
    known = given if isinstance(given, str) else None
    fields = parse_as(DocumentRecord, value, known, f"[{index}]" if known is None else "")
    title = context.register_id(str(fields.title), "title")
    log_unknown_fields(fields, context.log, title)
    sentences = tuple(tuple(map(intern, words)) for words in fields.sents)
    if fields.text is not None and not is_split_of(fields.text, sentences):
        raise DataError(short_repr(fields.text), "a text whose words are `sents`", title, "text")
    entities = tuple(
        _entity(mentions, number, title, context) for number, mentions in enumerate(fields.vertex_set)
    )
    for key, labels in (("labels", fields.labels), ("negatives", fields.negatives)):
        for number, label in enumerate(labels):
            if label.model_extra:
                log_unknown_fields(label, context.log, title, f"{key}[{number}]")
    facts = tuple(Fact(*label.triple, tuple(label.evidence)) for label in fields.labels)
    negatives = tuple(label.triple for label in fields.negatives)
    document = Document(title, sentences, entities, facts, fields.text, negatives)
    return context.validate(document, FIELDS)


def _entity(mentions: list[MentionRecord], number: int, title: str, context: ReadContext) -> Entity:
    built = []
    identifier: str | None = None
    for index, mention in enumerate(mentions):
        if mention.model_extra:
            log_unknown_fields(mention, context.log, title, f"vertexSet[{number}][{index}]")
        start, end = mention.pos
        built.append(Mention(mention.sent_id, start, end, intern(mention.type), intern(mention.name)))
        if mention.id is not None:
            found = str(mention.id)
            identifier = found if identifier is None else identifier
            if found != identifier:
                place = f"vertexSet[{number}][{index}].id"
                expected = f"{short_repr(identifier)}, the id of the entity"
                context.log.add(DefectKind.CONFLICTING_ID, title, place, short_repr(found), expected)
    return Entity(tuple(built), identifier)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write documents as one DocRED JSON file; returns how many."""
    return write_list(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document in DocRED's form."""
    fields: dict[str, Any] = {
        "title": document.id,
        "sents": document.sentences,
        "vertexSet": [_mentions(entity) for entity in document.entities],
        "labels": [
            {"h": fact.head, "t": fact.tail, "r": fact.relation, "evidence": fact.evidence}
            for fact in document.facts
        ],
    }
    if document.text is not None:
        fields["text"] = document.text
    if document.negatives:
        fields["negatives"] = [
            {"h": head, "t": tail, "r": relation} for head, tail, relation in document.negatives
        ]
    return fields


def _mentions(entity: Entity) -> list[dict[str, Any]]:
    identifier = {} if entity.id is None else {"id": entity.id}
    return [
        {"name": m.name, "pos": (m.start, m.end), "sent_id": m.sentence, "type": m.type, **identifier}
        for m in entity.mentions
    ]


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with the labels and negatives of some documents changed."""

    def change(fields: dict[str, Any], _: int) -> dict[str, Any] | None:
        edit = edits.get(str(fields["title"]))
        return edit and edit.apply(
            fields, "labels", "vertexSet", ("h", "t"),
            lambda label: (label["h"], label["t"], label["r"]), _label, _join_entities,
        )  # fmt: skip

    update_records(path, to, change)


def _join_entities(entities: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The mentions of several entities, each once."""
    mentions = (mention for entity in entities for mention in entity)
    return list({(mention["sent_id"], *mention["pos"]): mention for mention in mentions}.values())


def _label(decision: Decision) -> dict[str, Any]:
    entry: dict[str, Any] = {"h": decision.head, "t": decision.tail, "r": decision.relation}
    if decision.holds:
        entry["evidence"] = list(decision.evidence)
    return entry


FORMAT = DocumentFormat(
    "docred", "DocRED JSON", sniff=sniff, read=read, write=write, update=update, merges=True
)
