"""The checks that every document passes, whatever format it came from."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

from unnoted.common.errors import DefectLog, Kind, fail, shown
from unnoted.common.lookup import nearest
from unnoted.documents.schema import Document, Entity, Fact, Mention


@dataclass(frozen=True, slots=True)
class FieldNames:
    """What a format calls its fields, so that an error names the place as the user wrote it."""

    mention: str = "entities[{}].mentions[{}]"
    entity: str = "entities[{}]"
    fact: str = "facts[{}]"
    sentence: str = "sentence"
    span: str = "start/end"
    head: str = "head"
    tail: str = "tail"
    relation: str = "relation"
    evidence: str = "evidence"
    name: str = "name"


def validate(
    document: Document, log: DefectLog, names: FieldNames, vocabulary: Collection[str] | None = None
) -> Document:
    """Check a document that was read; raise on an error, log everything less.

    Args:
        document: typed already; its indices and spans are what is checked.
        log: takes defects and notes.
        names: how the source calls its fields.
        vocabulary: the relations that are allowed; None allows all.

    Returns:
        The document, without facts that were noted twice.
    """
    for index, entity in enumerate(document.entities):
        _check_entity(document, index, entity, log, names)
    for index, fact in enumerate(document.facts):
        _check_fact(document, index, fact, names, vocabulary)
    _check_encodable(document)
    _add_notes(document, log, names)
    return _without_repeated_facts(document, log, names)


def _check_entity(document: Document, index: int, entity: Entity, log: DefectLog, names: FieldNames) -> None:
    if not entity.mentions:
        fail(Kind.MALFORMED, document.id, names.entity.format(index), "no mention", "at least one mention")
    for number, mention in enumerate(entity.mentions):
        _check_mention(document, index, number, mention, log, names)
    if len(entity.mentions) == 1:
        return
    first = entity.mentions[0]
    if len({mention.span for mention in entity.mentions}) < len(entity.mentions):
        place = names.entity.format(index)
        log.add(Kind.DUPLICATE_MENTION, document.id, place, "the same mention twice", "each mention once")
    if any(mention.type != first.type for mention in entity.mentions):
        types = ", ".join(sorted({mention.type for mention in entity.mentions}))
        log.add(Kind.MIXED_TYPES, document.id, names.entity.format(index), types, "one type")


def _check_mention(
    document: Document, entity: int, number: int, mention: Mention, log: DefectLog, names: FieldNames
) -> None:
    sentences = document.sentences
    if not 0 <= mention.sentence < len(sentences):
        place = f"{names.mention.format(entity, number)}.{names.sentence}"
        expected = f"a sentence from 0 to {len(sentences) - 1}"
        fail(Kind.MALFORMED, document.id, place, str(mention.sentence), expected)
    words = sentences[mention.sentence]
    if not 0 <= mention.start < mention.end <= len(words):
        place = f"{names.mention.format(entity, number)}.{names.span}"
        expected = f"0 <= start < end <= {len(words)}, the words of sentence {mention.sentence}"
        fail(Kind.MALFORMED, document.id, place, f"{mention.start} to {mention.end}", expected)
    covered = words[mention.start : mention.end]
    if mention.name == " ".join(covered):
        return
    if "".join(mention.name.split()) != "".join("".join(covered).split()):
        place = f"{names.mention.format(entity, number)}.{names.name}"
        log.add(Kind.NAME_MISMATCH, document.id, place, shown(mention.name), shown(" ".join(covered)))


def _check_fact(
    document: Document, index: int, fact: Fact, names: FieldNames, vocabulary: Collection[str] | None
) -> None:
    entities, sentences = len(document.entities), len(document.sentences)
    place = names.fact.format(index)
    for name, entity in ((names.head, fact.head), (names.tail, fact.tail)):
        if not 0 <= entity < entities:
            found, expected = str(entity), f"an entity index below {entities}"
            fail(Kind.MALFORMED, document.id, f"{place}.{name}", found, expected)
    if fact.head == fact.tail:
        found = f"head and tail both {fact.head}"
        fail(Kind.MALFORMED, document.id, f"{place}.{names.tail}", found, "two different entities")
    for sentence in fact.evidence:
        if not 0 <= sentence < sentences:
            found, expected = str(sentence), f"sentences below {sentences}"
            fail(Kind.MALFORMED, document.id, f"{place}.{names.evidence}", found, expected)
    if vocabulary is not None and fact.relation not in vocabulary:
        expected = "a relation of the vocabulary" + nearest(fact.relation, vocabulary)
        field = f"{place}.{names.relation}"
        fail(Kind.UNKNOWN_RELATION, document.id, field, shown(fact.relation), expected)


def _check_encodable(document: Document) -> None:
    """A lone surrogate can be read from JSON and never be written again."""
    strings = [document.id, document.text or ""]
    strings += chain.from_iterable(document.sentences)
    for entity in document.entities:
        strings.append(entity.id or "")
        for mention in entity.mentions:
            strings += (mention.name, mention.type)
    strings += [fact.relation for fact in document.facts]
    try:
        "".join(strings).encode()
    except UnicodeEncodeError as error:
        found = shown(error.object[error.start : error.end])
        fail(Kind.MALFORMED, shown(document.id), "text", found, "characters that UTF-8 can hold")


def _add_notes(document: Document, log: DefectLog, names: FieldNames) -> None:
    if not document.entities:
        log.add(Kind.NO_ENTITIES, document.id, None, "no entity", "entities")
    if not document.facts:
        log.add(Kind.NO_FACTS, document.id, None, "no fact", "facts")
    for index, fact in enumerate(document.facts):
        if not fact.evidence:
            place = f"{names.fact.format(index)}.{names.evidence}"
            log.add(Kind.NO_EVIDENCE, document.id, place, "none", "sentences")


def _without_repeated_facts(document: Document, log: DefectLog, names: FieldNames) -> Document:
    if len({fact.triple for fact in document.facts}) == len(document.facts):
        return document
    kept: dict[tuple[int, int, str], Fact] = {}
    for index, fact in enumerate(document.facts):
        if kept.setdefault(fact.triple, fact) is not fact:
            place = names.fact.format(index)
            log.add(Kind.DUPLICATE_FACT, document.id, place, shown(fact.triple), "each fact once")
    return document.with_facts(kept.values())
