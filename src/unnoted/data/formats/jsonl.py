"""unnoted's own format: one document per line, easy to write by hand (docs/reference/formats.md).

A document has words (`sentences`, mentions as word spans of a sentence), or raw `text` (mentions as character
spans), or both (then mentions are word spans, and the text is kept).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any, TextIO, TypeAlias

from pydantic import Field

from unnoted.data.document import Decision, Document, Entity, Fact, Mention, Sentence, Triple
from unnoted.data.formats import prodigy, token_rows
from unnoted.data.formats.annotated_text import check_span, log_misaligned
from unnoted.data.formats.records import (
    DocumentFormat,
    Edits,
    OwnRecord,
    ReadContext,
    log_unknown_fields,
    parse_as,
    read_lines,
    update_records,
)
from unnoted.data.tokenization import is_split_of, split_text
from unnoted.data.validation import FieldNames
from unnoted.errors import DataError, DefectKind
from unnoted.io import numbered_lines, write_lines
from unnoted.utils import nearest, short_repr

FIELDS = FieldNames()


class MentionRecord(OwnRecord):
    """A mention: words of a sentence, or characters of the text."""

    sentence: int | None = None
    start: int
    end: int
    type: str | None = None
    name: str | None = None


class EntityRecord(OwnRecord):
    """An entity; its type is that of mentions which have none."""

    id: str | int | None = None
    type: str | None = None
    mentions: list[MentionRecord]


class FactRecord(OwnRecord):
    """A fact between entities, given by index or id; `provenance` stays in the file: nothing here reads it."""

    head: int | str
    tail: int | str
    relation: str
    evidence: list[int] = Field([])
    provenance: Any = None


class DocumentRecord(OwnRecord):
    """A document."""

    id: str | int
    text: str | None = None
    sentences: list[list[str]] | None = None
    entities: list[EntityRecord]
    facts: list[FactRecord] = Field([])
    negatives: list[FactRecord] = Field([])


def sniff(start: str) -> bool:
    """Whether a file that starts like this has objects that are no other tool's."""
    return start.startswith("{") and not prodigy.sniff(start) and not token_rows.sniff(start)


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a JSONL file, one at a time; blank lines are skipped."""
    return context.read_each(read_lines(numbered_lines(stream, context.limits), context), _line)


def _line(numbered: tuple[int, object], context: ReadContext) -> Document:
    context.log.line, value = numbered
    return document_from_record(value, context, f"line {numbered[0]}")


def document_from_record(value: object, context: ReadContext, place: str = "") -> Document:
    """Build and check a document from one parsed line (or a dictionary of the same form)."""
    given = value.get("id") if isinstance(value, Mapping) else None
    known = given if isinstance(given, str) else None
    fields = parse_as(DocumentRecord, value, known, place if known is None else "")
    identifier = context.register_id(str(fields.id), "id")
    log_unknown_fields(fields, context.log, identifier)
    if fields.sentences is not None:
        sentences: tuple[Sentence, ...] = tuple(tuple(map(intern, words)) for words in fields.sentences)
        if fields.text is not None and not is_split_of(fields.text, sentences):
            expected = "a text whose words are `sentences`"
            raise DataError(short_repr(fields.text), expected, identifier, "text")
        entities = _build_entities(
            fields, identifier, context, _word_mentions(sentences, identifier, context)
        )
    elif fields.text is not None:
        split = split_text(fields.text, _character_spans(fields, identifier, fields.text, context))
        sentences = split.sentences
        entities = _build_entities(
            fields, identifier, context, _text_mentions(fields.text, split.locate, identifier, context)
        )
    else:
        raise DataError("nothing", "a string, or `sentences`", identifier, "text")
    find = _entity_finder(fields, identifier)

    def build_fact(fact: FactRecord, place: str) -> Fact:
        if fact.model_extra:
            log_unknown_fields(fact, context.log, identifier, place)
        ends = find(fact.head, f"{place}.head"), find(fact.tail, f"{place}.tail")
        return Fact(*ends, intern(fact.relation), tuple(fact.evidence))

    facts = tuple(build_fact(fact, f"facts[{number}]") for number, fact in enumerate(fields.facts))
    negatives = tuple(
        build_fact(fact, f"negatives[{number}]").triple for number, fact in enumerate(fields.negatives)
    )
    document = Document(identifier, sentences, entities, facts, fields.text, negatives)
    return context.validate(document, FIELDS)


MakeMention: TypeAlias = Callable[[MentionRecord, str, str], Mention]
"""Makes a mention of its record, place and type."""


def _build_entities(
    fields: DocumentRecord, document: str, context: ReadContext, make: MakeMention
) -> tuple[Entity, ...]:
    entities = []
    for index, entity in enumerate(fields.entities):
        if entity.model_extra:
            log_unknown_fields(entity, context.log, document, f"entities[{index}]")
        mentions = []
        for number, mention in enumerate(entity.mentions):
            place = f"entities[{index}].mentions[{number}]"
            kind = mention.type if mention.type is not None else entity.type
            if kind is None:
                raise DataError("nothing", "a string", document, f"entities[{index}].type")
            if mention.model_extra:
                log_unknown_fields(mention, context.log, document, place)
            mentions.append(make(mention, place, intern(kind)))
        entities.append(Entity(tuple(mentions), None if entity.id is None else str(entity.id)))
    return tuple(entities)


def _word_mentions(sentences: Sequence[Sentence], document: str, context: ReadContext) -> MakeMention:
    """Mentions that are words of sentences."""

    def make(mention: MentionRecord, place: str, type: str) -> Mention:
        if mention.sentence is None:
            raise DataError("nothing", "a whole number", document, f"{place}.sentence")
        number, start, end = mention.sentence, mention.start, mention.end
        name = mention.name
        if name is None:
            context.limits.check("mention", end - start, "words in one mention", document, place)
            name = " ".join(sentences[number][start:end]) if 0 <= number < len(sentences) else ""
        return Mention(number, start, end, type, intern(name))

    return make


def _character_spans(
    fields: DocumentRecord, document: str, text: str, context: ReadContext
) -> list[tuple[int, int]]:
    """The characters of all mentions of a text."""
    spans: list[tuple[int, int]] = []
    for index, entity in enumerate(fields.entities):
        for number, mention in enumerate(entity.mentions):
            place = f"entities[{index}].mentions[{number}]"
            start, end = mention.start, mention.end
            check_span(text, start, end, document, place, f"{place}.start/end", context.limits)
            spans.append((start, end))
            log_misaligned(text, start, end, document, place, context.log)
        context.limits.check("mentions", len(spans), "mentions or more", document)
    return spans


def _text_mentions(
    text: str, locate: Callable[[int, int], tuple[int, int, int] | None], document: str, context: ReadContext
) -> MakeMention:
    """Mentions that are characters of a text."""

    def make(mention: MentionRecord, place: str, type: str) -> Mention:
        if mention.sentence is not None:
            found, expected = short_repr(mention.sentence), "character offsets alone"
            context.log.add(DefectKind.IGNORED_FIELD, document, f"{place}.sentence", found, expected)
        covered = text[mention.start : mention.end]
        if mention.name is not None and mention.name != covered:
            expected = f"{short_repr(covered)}, the text there"
            raise DataError(
                short_repr(mention.name), expected, document, f"{place}.name", kind=DefectKind.OFFSET_MISMATCH
            )
        span = locate(mention.start, mention.end)
        assert span is not None  # a mention has a word: `check_span`
        return Mention(*span, type, intern(covered))

    return make


def _entity_finder(fields: DocumentRecord, document: str) -> Callable[[int | str, str], int]:
    """Finds the entities of facts, which are given by index or id."""
    ids = [entity.id for entity in fields.entities]
    owners: dict[str, list[int]] = {}
    for index, identifier in enumerate(ids):
        if identifier not in (None, ""):
            owners.setdefault(str(identifier), []).append(index)
    # Where ids are numbers that are not indices, a number in a fact could mean either.
    ambiguous = any(type(each) is int for each in ids) and ids != list(range(len(ids)))

    def find(given: int | str, place: str) -> int:
        if isinstance(given, int):
            if ambiguous:
                expected = f"{str(given)!r} for the id, or entities without numbers as ids for the index"
                raise DataError(short_repr(given), expected, document, place)
            return given
        found = owners.get(given, [])
        if len(found) != 1:
            problem = f", the id of entities[{found[0]}] and entities[{found[1]}]" if found else ""
            hint = "" if found else nearest(given, owners)
            expected = f"the index of an entity, or an id that one entity has{hint}"
            raise DataError(short_repr(given) + problem, expected, document, place)
        return found[0]

    return find


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one document per line; returns how many."""
    return write_lines(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document in unnoted's form; what follows from the rest is left out.

    The words are written even where the text is, so that a later way to split text changes no document.
    """
    fields: dict[str, Any] = {"id": document.id}
    if document.text is not None:
        fields["text"] = document.text
    fields["sentences"] = document.sentences
    fields["entities"] = [_entity_record(document, entity) for entity in document.entities]
    fields["facts"] = [
        {"head": fact.head, "tail": fact.tail, "relation": fact.relation, "evidence": fact.evidence}
        for fact in document.facts
    ]
    if document.negatives:
        fields["negatives"] = [
            {"head": head, "tail": tail, "relation": relation} for head, tail, relation in document.negatives
        ]
    return fields


def _entity_record(document: Document, entity: Entity) -> dict[str, Any]:
    fields: dict[str, Any] = {} if entity.id is None else {"id": entity.id}
    fields["type"] = entity.type
    fields["mentions"] = [_mention_record(document, mention, entity.type) for mention in entity.mentions]
    return fields


def _mention_record(document: Document, mention: Mention, inherited: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"sentence": mention.sentence, "start": mention.start, "end": mention.end}
    if mention.type != inherited:
        fields["type"] = mention.type
    if mention.name != " ".join(document.words_of(mention)):
        fields["name"] = mention.name
    return fields


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with the facts and negatives of some documents changed."""

    def change(fields: dict[str, Any], _: int) -> dict[str, Any] | None:
        edit = edits.get(str(fields["id"]))
        if edit is None:
            return None
        numbers = {entity.id: number for number, entity in enumerate(edit.document.entities)}

        def triple_of(fact: dict[str, Any]) -> Triple:
            head, tail = (
                numbers[end] if isinstance(end, str) else end for end in (fact["head"], fact["tail"])
            )
            return head, tail, fact["relation"]

        return edit.apply(fields, "facts", "entities", ("head", "tail"), triple_of, _fact, _join_entities)

    update_records(path, to, change)


def _join_entities(records: list[dict[str, Any]]) -> dict[str, Any]:
    """One entity of several: the fields of the first, an id if one has it, and the mentions of all."""
    first = records[0]
    joined: dict[tuple[int | None, int, int], dict[str, Any]] = {}
    for each in records:
        inherited = {} if each.get("type") in (None, first.get("type")) else {"type": each["type"]}
        for mention in each["mentions"]:
            span = mention.get("sentence"), mention["start"], mention["end"]
            joined.setdefault(span, inherited | mention)
    identifier = next((each["id"] for each in records if each.get("id") is not None), None)
    # As text: numbers that are not those of the entities could be meant by the numbers of facts.
    ids = {} if identifier is None else {"id": str(identifier)}
    return first | ids | {"mentions": list(joined.values())}


def _fact(decision: Decision) -> dict[str, Any]:
    entry: dict[str, Any] = {"head": decision.head, "tail": decision.tail, "relation": decision.relation}
    if decision.evidence:
        entry["evidence"] = list(decision.evidence)
    return entry


FORMAT = DocumentFormat(
    "jsonl", "unnoted JSONL", sniff=sniff, read=read, write=write, suffix=".jsonl", update=update, merges=True
)
