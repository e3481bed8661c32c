"""unnoted's own format: one document per line, easy to write by hand (docs/formats.md).

A document has words (`sentences`, mentions as word spans of a sentence), or raw `text` (mentions as character
spans), or both (then mentions are word spans, and the text is kept).
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from unnoted.data.decided import Mending
from unnoted.data.document import Document, Entity, Fact, Mention, Sentence, Triple
from unnoted.data.formats import prodigy, token_rows
from unnoted.data.formats.fields import (
    expect,
    note_unknown_keys,
    take,
    take_identifier,
    take_list,
)
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.splicing import RecordShape, Splices
from unnoted.data.formats.whole_records import records_of, select_by
from unnoted.data.formats.word_edges import note_cuts
from unnoted.data.tokenization import SplitText, is_split_of, split_text
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import Limits, numbered_lines, parse_record, write_lines
from unnoted.utils import nearest, short_repr

FIELDS = FieldNames()
DOCUMENT_KEYS = frozenset({"id", "text", "sentences", "entities", "facts", "negatives"})
ENTITY_KEYS = frozenset({"id", "type", "mentions"})
MENTION_KEYS = frozenset({"sentence", "start", "end", "type", "name"})
FACT_KEYS = frozenset({"head", "tail", "relation", "evidence", "provenance"})
NEGATIVE_KEYS = FACT_KEYS
"""`provenance` says who decided, and stays in the file: nothing here reads it."""


def looks_like(start: str) -> bool:
    """Whether a file that starts like this has objects that are no other tool's."""
    return start.startswith("{") and not prodigy.looks_like(start) and not token_rows.looks_like(start)


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a JSONL file, one at a time; blank lines are skipped."""
    lines = numbered_lines(stream, reading.limits)
    numbered = ((number, line) for number, line in lines if line.strip())
    first = list(islice(numbered, 2))
    if len(first) == 2 and _goes_on(*(line for _, line in first)):
        place, found = f"line {first[0][0]}", "a JSON object over several lines"
        fail(Kind.UNREADABLE, None, place, found, "one document per line; `jq -c . FILE` writes them so")
    return reading.each(chain(first, numbered), _line)


def _goes_on(line: str, following: str) -> bool:
    """Whether a line is the beginning of an object that goes on in the next line."""
    if following.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return error.pos >= len(line.rstrip())
    except (ValueError, RecursionError):
        return False
    return False


def _line(numbered: tuple[int, str], reading: Reading) -> Document:
    place = f"line {numbered[0]}"
    reading.log.line = numbered[0]
    fields: dict[str, Any] = expect(parse_record(numbered[1], place), dict, None, place)
    return document_from_record(fields, reading, place)


def document_from_record(fields: Mapping[str, Any], reading: Reading, place: str = "") -> Document:
    """Build and check a document from one parsed line (or a dictionary of the same form)."""
    title = reading.take_id(fields, "id", place)
    document = _document(fields, title, reading)
    return validate(document, reading.log, FIELDS, reading.vocabulary, reading.limits)


def _document(fields: Mapping[str, Any], title: str, reading: Reading) -> Document:
    log = reading.log
    note_unknown_keys(fields, DOCUMENT_KEYS, log, title, "")
    listed = take(fields, "entities", list, title)
    reading.limits.check("entities", len(listed), "entities", title, "entities")
    entities = [expect(entity, dict, title, f"entities[{index}]") for index, entity in enumerate(listed)]
    for index, entity in enumerate(entities):
        note_unknown_keys(entity, ENTITY_KEYS, log, title, f"entities[{index}]")
    if "sentences" in fields:
        sentences, text = _words(fields, title, reading.limits)
        built = tuple(_word_entity(entity, title, i, sentences, reading) for i, entity in enumerate(entities))
    else:
        text = take(fields, "text", str, title)
        split = split_text(text, _character_spans(entities, title, text, reading.limits, log))
        sentences = split.sentences
        built = tuple(_text_entity(entity, title, i, text, split, log) for i, entity in enumerate(entities))
    identifiers = _identifiers(built)
    if any(type(entity.get("id")) is int for entity in entities):
        _refuse_ambiguous(fields, entities, title)
    facts = _facts(fields, title, identifiers, log)
    return Document(title, sentences, built, facts, text, _negatives(fields, title, identifiers, log))


def _words(fields: Mapping[str, Any], title: str, limits: Limits) -> tuple[tuple[Sentence, ...], str | None]:
    lists = take_list(fields, "sentences", list, title)
    limits.check("words", len(lists), "sentences", title, "sentences")
    for index, words in enumerate(lists):
        for number, word in enumerate(words):
            expect(word, str, title, f"sentences[{index}][{number}]")
    sentences = tuple(tuple(map(intern, words)) for words in lists)
    if "text" not in fields:
        return sentences, None
    text = take(fields, "text", str, title)
    if not is_split_of(text, sentences):
        fail(Kind.MALFORMED, title, "text", short_repr(text), "a text whose words are `sentences`")
    return sentences, text


def _mentions(
    entity: Mapping[str, Any], title: str, index: int
) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Each mention's place, fields and type (its own, or the entity's)."""
    for number, mention in enumerate(take_list(entity, "mentions", dict, title, f"entities[{index}]")):
        place = f"entities[{index}].mentions[{number}]"
        owner, where = (mention, place) if "type" in mention else (entity, f"entities[{index}]")
        yield place, mention, intern(take(owner, "type", str, title, where))


def _word_entity(
    entity: Mapping[str, Any], title: str, index: int, sentences: tuple[Sentence, ...], reading: Reading
) -> Entity:
    mentions = []
    for place, mention, kind in _mentions(entity, title, index):
        note_unknown_keys(mention, MENTION_KEYS, reading.log, title, place)
        sentence, start, end = (take(mention, key, int, title, place) for key in ("sentence", "start", "end"))
        if "name" in mention:
            name = take(mention, "name", str, title, place)
        else:  # a span that is out of range is reported by `validate`
            reading.limits.check("mention", end - start, "words in one mention", title, place)
            name = " ".join(sentences[sentence][start:end]) if 0 <= sentence < len(sentences) else ""
        mentions.append(Mention(sentence, start, end, kind, intern(name)))
    return Entity(tuple(mentions), take_identifier(entity, title, f"entities[{index}]"))


def _character_spans(
    entities: list[dict[str, Any]], title: str, text: str, limits: Limits, log: DefectLog
) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    length = len(text)
    for index, entity in enumerate(entities):
        for place, mention, _ in _mentions(entity, title, index):
            start, end = (take(mention, key, int, title, place) for key in ("start", "end"))
            if not 0 <= start < end <= length:
                expected = f"0 <= start < end <= {length}, the characters of the text"
                fail(
                    Kind.MALFORMED,
                    title,
                    f"{place}.start/end",
                    f"{short_repr(start)} to {short_repr(end)}",
                    expected,
                )
            limits.check("mention", end - start, "characters in one mention", title, place)
            spans.append((start, end))
            note_cuts(text, start, end, title, place, log)
        limits.check("mentions", len(spans), "mentions or more", title)
    return spans


def _text_entity(
    entity: Mapping[str, Any], title: str, index: int, text: str, split: SplitText, log: DefectLog
) -> Entity:
    mentions = []
    for place, mention, kind in _mentions(entity, title, index):
        note_unknown_keys(mention, MENTION_KEYS - {"sentence"}, log, title, place)
        covered = text[mention["start"] : mention["end"]]
        name = take(mention, "name", str, title, place) if "name" in mention else covered
        if name != covered:
            fail(
                Kind.OFFSET_MISMATCH,
                title,
                f"{place}.name",
                short_repr(name),
                f"{short_repr(covered)}, the text there",
            )
        span = split.locate(mention["start"], mention["end"])
        if span is None:
            fail(Kind.MALFORMED, title, f"{place}.start/end", short_repr(covered), "at least one word")
        mentions.append(Mention(*span, kind, intern(name)))
    return Entity(tuple(mentions), take_identifier(entity, title, f"entities[{index}]"))


def _refuse_ambiguous(fields: Mapping[str, Any], entities: list[dict[str, Any]], title: str) -> None:
    """Where ids are numbers that are not indices, a number in a fact could mean either."""
    if all(entity.get("id") == index for index, entity in enumerate(entities)):
        return
    for key in ("facts", "negatives"):
        for number, fact in enumerate(take_list(fields, key, dict, title) if key in fields else []):
            for end in ("head", "tail"):
                if type(fact.get(end)) is int:
                    expected = (
                        f"{str(fact[end])!r} for the id, or entities without numbers as ids for the index"
                    )
                    fail(Kind.MALFORMED, title, f"{key}[{number}].{end}", short_repr(fact[end]), expected)


def _identifiers(entities: tuple[Entity, ...]) -> dict[str, list[int]]:
    """The entities that have each id: one, unless it is used twice."""
    owners: dict[str, list[int]] = {}
    for index, entity in enumerate(entities):
        if entity.id:
            owners.setdefault(entity.id, []).append(index)
    return owners


def _facts(
    fields: Mapping[str, Any], title: str, identifiers: Mapping[str, list[int]], log: DefectLog
) -> tuple[Fact, ...]:
    facts = []
    for number, fact in enumerate(take_list(fields, "facts", dict, title) if "facts" in fields else []):
        place = f"facts[{number}]"
        note_unknown_keys(fact, FACT_KEYS, log, title, place)
        evidence = take_list(fact, "evidence", int, title, place) if "evidence" in fact else []
        facts.append(Fact(*_triple(fact, identifiers, title, place, log), tuple(evidence)))
    return tuple(facts)


def _negatives(
    fields: Mapping[str, Any], title: str, identifiers: Mapping[str, list[int]], log: DefectLog
) -> tuple[Triple, ...]:
    negatives = []
    listed = take_list(fields, "negatives", dict, title) if "negatives" in fields else []
    for number, negative in enumerate(listed):
        place = f"negatives[{number}]"
        note_unknown_keys(negative, NEGATIVE_KEYS, log, title, place)
        negatives.append(_triple(negative, identifiers, title, place, log))
    return tuple(negatives)


def _triple(
    record: Mapping[str, Any], identifiers: Mapping[str, list[int]], title: str, place: str, log: DefectLog
) -> Triple:
    return (
        _entity_index(record, "head", identifiers, title, place, log),
        _entity_index(record, "tail", identifiers, title, place, log),
        intern(take(record, "relation", str, title, place)),
    )


def _entity_index(
    fact: Mapping[str, Any],
    key: str,
    identifiers: Mapping[str, list[int]],
    title: str,
    place: str,
    log: DefectLog,
) -> int:
    """Head and tail are given by index, or by the entity's id."""
    value = fact.get(key)
    if type(value) is int:
        return value
    expected = "the index of an entity, or an id that one entity has"
    if type(value) is not str:
        fail(
            Kind.MALFORMED, title, f"{place}.{key}", short_repr(value) if key in fact else "nothing", expected
        )
    owners = identifiers.get(value, [])
    if len(owners) > 1:
        found = f"{short_repr(value)}, the id of entities[{owners[0]}] and entities[{owners[1]}]"
        fail(Kind.MALFORMED, title, f"{place}.{key}", found, expected)
    if not owners:
        hint = nearest(value, identifiers) if log.keeps(Kind.MALFORMED) else ""
        fail(Kind.MALFORMED, title, f"{place}.{key}", short_repr(value), expected + hint)
    return owners[0]


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one document per line; returns how many."""
    return write_lines(path, map(record, documents))


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The lines of certain documents, as they are."""
    return select_by(paths, ids, lambda fields, _: str(fields["id"]))


def mend(mending: Mending) -> list[str]:
    """The files with what was decided, and every other character as it was."""
    return [_mended(Splices(mending.text(index)), mending) for index in range(len(mending.sources))]


def _mended(splices: Splices, mending: Mending) -> str:
    for record in records_of(splices.text):
        title = str(record.value["id"])
        if title in mending.decisions:
            _shape(mending.documents[title]).mend(splices, record.start, title, mending)
    return splices.applied()


def _shape(document: Document) -> RecordShape:
    """How facts are written here; head and tail may be ids of entities of their document."""
    index = {identifier: owners[0] for identifier, owners in _identifiers(document.entities).items()}
    return RecordShape(
        facts="facts",
        negatives="negatives",
        triple=lambda fact: (
            index.get(fact["head"], fact["head"]),
            index.get(fact["tail"], fact["tail"]),
            fact["relation"],
        ),
        entry=lambda decided: (
            {"head": decided.head, "tail": decided.tail, "relation": decided.relation}
            | ({"evidence": list(decided.evidence)} if decided.evidence else {})
        ),
    )


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
