"""unnoted's own format: one document per line, easy to write by hand (docs/reference/formats.md).

A document has words (`sentences`, mentions as word spans of a sentence), or raw `text` (mentions as character
spans), or both (then mentions are word spans, and the text is kept).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, TextIO

from pydantic import Field

from unnoted.data.document import Document, Entity, Fact, Mention, Sentence, Triple
from unnoted.data.formats import prodigy, token_rows
from unnoted.data.formats.annotated_text import log_misaligned
from unnoted.data.formats.records import (
    OwnRecord,
    ReadContext,
    log_unknown_fields,
    parse_as,
    select_records,
    update_records,
)
from unnoted.data.tokenization import SplitText, is_split_of, split_text
from unnoted.data.validation import FieldNames
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import numbered_lines, parse_record, write_lines
from unnoted.utils import nearest, short_repr

if TYPE_CHECKING:
    from unnoted.data.decisions import Decision, Edits

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
    lines = numbered_lines(stream, context.limits)
    numbered = ((number, line) for number, line in lines if line.strip())
    first = list(islice(numbered, 2))
    if len(first) == 2 and _is_continued(*(line for _, line in first)):
        place, found = f"line {first[0][0]}", "a JSON object over several lines"
        fail(Kind.UNREADABLE, None, place, found, "one document per line; `jq -c . FILE` writes them so")
    return context.read_each(chain(first, numbered), _line)


def _is_continued(line: str, following: str) -> bool:
    """Whether a line is the beginning of an object that continues in the next line."""
    if following.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return error.pos >= len(line.rstrip())
    except (ValueError, RecursionError):
        return False
    return False


def _line(numbered: tuple[int, str], context: ReadContext) -> Document:
    context.log.line, line = numbered
    place = f"line {numbered[0]}"
    return document_from_record(parse_record(line, place), context, place)


def document_from_record(value: object, context: ReadContext, place: str = "") -> Document:
    """Build and check a document from one parsed line (or a dictionary of the same form)."""
    given = value.get("id") if isinstance(value, Mapping) else None
    known = given if isinstance(given, str) else None
    fields = parse_as(DocumentRecord, value, known, place if known is None else "")
    identifier = context.register_id(str(fields.id), "id")
    log_unknown_fields(fields, context.log, identifier)
    for index, entity in enumerate(fields.entities):
        if entity.model_extra:
            log_unknown_fields(entity, context.log, identifier, f"entities[{index}]")
    if fields.sentences is not None:
        sentences = tuple(tuple(map(intern, words)) for words in fields.sentences)
        if fields.text is not None and not is_split_of(fields.text, sentences):
            expected = "a text whose words are `sentences`"
            fail(Kind.MALFORMED, identifier, "text", short_repr(fields.text), expected)
        entities = [_word_entity(each, identifier, sentences, context) for each in enumerate(fields.entities)]
    elif fields.text is not None:
        spans = _character_spans(fields, identifier, fields.text, context)
        split = split_text(fields.text, spans)
        sentences = split.sentences
        entities = [
            _text_entity(each, identifier, fields.text, split, context.log)
            for each in enumerate(fields.entities)
        ]
    else:
        fail(Kind.MALFORMED, identifier, "text", "nothing", "a string, or `sentences`")
    finder = _EntityFinder(fields, entities, identifier, context.log)
    facts = tuple(
        Fact(*finder.triple("facts", number, fact), tuple(fact.evidence))
        for number, fact in enumerate(fields.facts)
    )
    negatives = tuple(finder.triple("negatives", *each) for each in enumerate(fields.negatives))
    document = Document(identifier, sentences, tuple(entities), facts, fields.text, negatives)
    return context.validate(document, FIELDS)


def _mentions(entity: EntityRecord, index: int, document: str) -> Iterator[tuple[str, MentionRecord, str]]:
    """Each mention with its place and type."""
    for number, mention in enumerate(entity.mentions):
        kind = mention.type if mention.type is not None else entity.type
        if kind is None:
            fail(Kind.MALFORMED, document, f"entities[{index}].type", "nothing", "a string")
        yield f"entities[{index}].mentions[{number}]", mention, intern(kind)


def _word_entity(
    numbered: tuple[int, EntityRecord], document: str, sentences: Sequence[Sentence], context: ReadContext
) -> Entity:
    index, entity = numbered
    mentions = []
    for place, mention, kind in _mentions(entity, index, document):
        if mention.model_extra:
            log_unknown_fields(mention, context.log, document, place)
        if mention.sentence is None:
            fail(Kind.MALFORMED, document, f"{place}.sentence", "nothing", "a whole number")
        number, start, end = mention.sentence, mention.start, mention.end
        name = mention.name
        if name is None:
            context.limits.check("mention", end - start, "words in one mention", document, place)
            name = " ".join(sentences[number][start:end]) if 0 <= number < len(sentences) else ""
        mentions.append(Mention(number, start, end, kind, intern(name)))
    return Entity(tuple(mentions), None if entity.id is None else str(entity.id))


def _character_spans(
    fields: DocumentRecord, document: str, text: str, context: ReadContext
) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for index, entity in enumerate(fields.entities):
        for place, mention, _ in _mentions(entity, index, document):
            start, end = mention.start, mention.end
            if not 0 <= start < end <= len(text):
                found = f"{short_repr(start)} to {short_repr(end)}"
                expected = f"0 <= start < end <= {len(text)}, the characters of the text"
                fail(Kind.MALFORMED, document, f"{place}.start/end", found, expected)
            context.limits.check("mention", end - start, "characters in one mention", document, place)
            spans.append((start, end))
            log_misaligned(text, start, end, document, place, context.log)
        context.limits.check("mentions", len(spans), "mentions or more", document)
    return spans


def _text_entity(
    numbered: tuple[int, EntityRecord], document: str, text: str, split: SplitText, log: DefectLog
) -> Entity:
    index, entity = numbered
    mentions = []
    for place, mention, kind in _mentions(entity, index, document):
        if mention.sentence is not None:
            found = short_repr(mention.sentence)
            log.add(Kind.IGNORED_FIELD, document, f"{place}.sentence", found, "character offsets alone")
        if mention.model_extra:
            log_unknown_fields(mention, log, document, place)
        covered = text[mention.start : mention.end]
        if mention.name is not None and mention.name != covered:
            expected = f"{short_repr(covered)}, the text there"
            fail(Kind.OFFSET_MISMATCH, document, f"{place}.name", short_repr(mention.name), expected)
        span = split.locate(mention.start, mention.end)
        if span is None:
            fail(Kind.MALFORMED, document, f"{place}.start/end", short_repr(covered), "at least one word")
        mentions.append(Mention(*span, kind, intern(covered)))
    return Entity(tuple(mentions), None if entity.id is None else str(entity.id))


class _EntityFinder:
    """Finds the entities of facts, which are given by index or id."""

    def __init__(
        self, fields: DocumentRecord, entities: Sequence[Entity], document: str, log: DefectLog
    ) -> None:
        self.document, self.log = document, log
        self.owners = _owners(entities)
        # Where ids are numbers that are not indices, a number in a fact could mean either.
        ids = [entity.id for entity in fields.entities]
        self.ambiguous = any(type(each) is int for each in ids) and ids != list(range(len(ids)))

    def triple(self, key: str, number: int, fact: FactRecord) -> Triple:
        place = f"{key}[{number}]"
        if fact.model_extra:
            log_unknown_fields(fact, self.log, self.document, place)
        head, tail = self.index(fact.head, f"{place}.head"), self.index(fact.tail, f"{place}.tail")
        return head, tail, intern(fact.relation)

    def index(self, given: int | str, place: str) -> int:
        if isinstance(given, int):
            if self.ambiguous:
                expected = f"{str(given)!r} for the id, or entities without numbers as ids for the index"
                fail(Kind.MALFORMED, self.document, place, short_repr(given), expected)
            return given
        expected = "the index of an entity, or an id that one entity has"
        owners = self.owners.get(given, [])
        if len(owners) > 1:
            found = f"{short_repr(given)}, the id of entities[{owners[0]}] and entities[{owners[1]}]"
            fail(Kind.MALFORMED, self.document, place, found, expected)
        if not owners:
            hint = nearest(given, self.owners) if self.log.keeps(Kind.MALFORMED) else ""
            fail(Kind.MALFORMED, self.document, place, short_repr(given), expected + hint)
        return owners[0]


def _owners(entities: Iterable[Entity]) -> dict[str, list[int]]:
    """The entities that have each id: one, unless it is used twice."""
    owners: dict[str, list[int]] = {}
    for index, entity in enumerate(entities):
        if entity.id:
            owners.setdefault(entity.id, []).append(index)
    return owners


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


def select(paths: Sequence[Path], is_wanted: Callable[[str], bool]) -> str:
    """The lines of certain documents, verbatim."""
    return select_records(paths, is_wanted, lambda fields, _: str(fields["id"]))


def update(path: Path, edits: "Mapping[str, Edits]") -> str:
    """The file with the facts and negatives of some documents changed."""

    def change(fields: dict[str, Any], _: int) -> dict[str, Any] | None:
        edit = edits.get(str(fields["id"]))
        if edit is None:
            return None
        index = {identifier: owners[0] for identifier, owners in _owners(edit.document.entities).items()}

        def triple_of(fact: dict[str, Any]) -> Triple:
            head, tail = (index[end] if isinstance(end, str) else end for end in (fact["head"], fact["tail"]))
            return head, tail, fact["relation"]

        return edit.apply(fields, "facts", triple_of, _fact)

    return update_records(path, change)


def _fact(decision: "Decision") -> dict[str, Any]:
    entry: dict[str, Any] = {"head": decision.head, "tail": decision.tail, "relation": decision.relation}
    if decision.evidence:
        entry["evidence"] = list(decision.evidence)
    return entry
