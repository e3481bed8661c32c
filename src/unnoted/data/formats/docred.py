"""DocRED and Re-DocRED JSON: a list of {title, sents, vertexSet, labels}.

`h` and `t` index `vertexSet` of the same document only: the two data sets differ in their entities. Three
fields that we write are our own, and other programs ignore them: `text` of a document, its `negatives` (the
known negatives, beside `labels`), and `id` of a mention. With them nothing is lost between writing and
reading.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from unnoted.data.decided import Mending
from unnoted.data.document import Document, Entity, Fact, Mention, Sentence, Triple
from unnoted.data.formats.fields import expect, note_unknown_keys, take, take_identifier, take_list
from unnoted.data.formats.json_shapes import first_fields
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.splicing import RecordShape, Splices
from unnoted.data.formats.whole_records import records_of, select_by
from unnoted.data.tokenization import is_split_of
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import ArrayReader, write_list
from unnoted.utils import short_repr

FIELDS = FieldNames(
    mention="vertexSet[{}][{}]",
    entity="vertexSet[{}]",
    fact="labels[{}]",
    negative="negatives[{}]",
    sentence="sent_id",
    span="pos",
    head="h",
    tail="t",
    relation="r",
)
DOCUMENT_KEYS = frozenset({"title", "sents", "vertexSet", "labels", "text", "negatives"})
MENTION_KEYS = frozenset({"name", "pos", "sent_id", "type", "id", "global_pos", "index"})
"""`global_pos` and `index` (Re-DocRED) follow from the rest; `id` and `text` are this project's own."""
LABEL_KEYS = frozenset({"h", "t", "r", "evidence", "provenance"})
"""`provenance` says who decided, and stays in the file: nothing here reads it."""


def looks_like(start: str) -> bool:
    """Whether a file that starts like this is a list of DocRED's documents, or of nothing known."""
    fields = first_fields(start)
    return start.startswith("[") and (
        not fields or not fields.keys().isdisjoint(("title", "sents", "vertexSet"))
    )


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a DocRED file, one at a time."""
    return reading.each(ArrayReader(stream, reading.limits).numbered(), _document)


def _document(numbered: tuple[int, int, object], reading: Reading) -> Document:
    index, line, record = numbered
    log = reading.log
    log.line = line
    fields: dict[str, Any] = expect(record, dict, None, f"[{index}]")
    title = reading.take_id(fields, "title", f"[{index}]")
    note_unknown_keys(fields, DOCUMENT_KEYS, log, title, "")
    words = take(fields, "sents", list, title)
    reading.limits.check("words", len(words), "sentences", title, "sents")
    sentences = tuple(_sentence(sentence, title, number) for number, sentence in enumerate(words))
    listed = take(fields, "vertexSet", list, title)
    reading.limits.check("entities", len(listed), "entities", title, "vertexSet")
    entities = tuple(_entity(mentions, title, number, log) for number, mentions in enumerate(listed))
    labels = take(fields, "labels", list, title) if "labels" in fields else []
    facts = tuple(_fact(label, title, number, log) for number, label in enumerate(labels))
    rejected = take(fields, "negatives", list, title) if "negatives" in fields else []
    negatives = tuple(
        _triple(label, title, f"negatives[{number}]", log) for number, label in enumerate(rejected)
    )
    document = Document(title, sentences, entities, facts, _text(fields, title, sentences), negatives)
    return validate(document, log, FIELDS, reading.vocabulary, reading.limits)


def _sentence(words: object, title: str, number: int) -> Sentence:
    checked: list[str] = expect(words, list, title, f"sents[{number}]")
    for index, word in enumerate(checked):
        if type(word) is not str:
            expect(word, str, title, f"sents[{number}][{index}]")
    return tuple(map(intern, checked))


def _text(fields: dict[str, Any], title: str, sentences: tuple[Sentence, ...]) -> str | None:
    if "text" not in fields:
        return None
    text = take(fields, "text", str, title)
    if not is_split_of(text, sentences):
        fail(Kind.MALFORMED, title, "text", short_repr(text), "a text whose words are `sents`")
    return text


def _entity(mentions: object, title: str, number: int, log: DefectLog) -> Entity:
    place = f"vertexSet[{number}]"
    built = []
    identifier: str | None = None
    for index, mention in enumerate(expect(mentions, list, title, place)):
        fields = expect(mention, dict, title, f"{place}[{index}]")
        built.append(_mention(fields, title, f"{place}[{index}]", log))
        if "id" in fields:
            where = f"{place}[{index}]"
            found = take_identifier(fields, title, where) or take(fields, "id", str, title, where)
            identifier = found if identifier is None else identifier
            if found != identifier:
                where, expected = f"{place}[{index}].id", f"{short_repr(identifier)}, the id of the entity"
                log.add(Kind.CONFLICTING_ID, title, where, short_repr(found), expected)
    return Entity(tuple(built), identifier)


def _mention(fields: dict[str, Any], title: str, place: str, log: DefectLog) -> Mention:
    note_unknown_keys(fields, MENTION_KEYS, log, title, place)
    position = take_list(fields, "pos", int, title, place)
    if len(position) != 2:
        fail(Kind.MALFORMED, title, f"{place}.pos", short_repr(position), "[start, end]")
    return Mention(
        take(fields, "sent_id", int, title, place),
        position[0],
        position[1],
        intern(take(fields, "type", str, title, place)),
        intern(take(fields, "name", str, title, place)),
    )


def _fact(label: object, title: str, number: int, log: DefectLog) -> Fact:
    place = f"labels[{number}]"
    triple = _triple(label, title, place, log)
    fields = expect(label, dict, title, place)
    evidence = take_list(fields, "evidence", int, title, place) if "evidence" in fields else []
    return Fact(*triple, tuple(evidence))


def _triple(label: object, title: str, place: str, log: DefectLog) -> Triple:
    fields = expect(label, dict, title, place)
    note_unknown_keys(fields, LABEL_KEYS, log, title, place)
    return (
        take(fields, "h", int, title, place),
        take(fields, "t", int, title, place),
        intern(take(fields, "r", str, title, place)),
    )


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write documents as one DocRED JSON file; returns how many."""
    return write_list(path, map(record, documents))


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The records of certain documents, as they are."""
    return select_by(paths, ids, lambda fields, _: str(fields["title"]))


def mend(mending: Mending) -> list[str]:
    """The files with what was decided, and every other character as it was."""
    return [_mended(Splices(mending.text(index)), mending) for index in range(len(mending.sources))]


def _mended(splices: Splices, mending: Mending) -> str:
    for record in records_of(splices.text):
        title = str(record.value["title"])
        if title in mending.decisions:
            SHAPE.mend(splices, record.start, title, mending)
    return splices.applied()


SHAPE = RecordShape(
    facts="labels",
    negatives="negatives",
    triple=lambda label: (label["h"], label["t"], label["r"]),
    entry=lambda decided: (
        {"r": decided.relation, "h": decided.head, "t": decided.tail}
        | ({"evidence": list(decided.evidence)} if decided.holds else {})
    ),
)


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
