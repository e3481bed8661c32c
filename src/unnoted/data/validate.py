"""The checks that every document passes, whatever format it came from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from unnoted.data.document import Document, Entity, Fact, Mention, Triple
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import ENCODABLE, Limits
from unnoted.utils import nearest, short_repr, shorten


@dataclass(frozen=True, slots=True)
class FieldNames:
    """What a format calls its fields, so that an error names the place as the user wrote it."""

    mention: str = "entities[{}].mentions[{}]"
    entity: str = "entities[{}]"
    fact: str = "facts[{}]"
    negative: str = "negatives[{}]"
    sentence: str = "sentence"
    span: str = "start/end"
    head: str = "head"
    tail: str = "tail"
    relation: str = "relation"
    evidence: str = "evidence"
    name: str = "name"
    type: str = "type"


def validate(
    document: Document,
    log: DefectLog,
    names: FieldNames,
    vocabulary: Collection[str] | None,
    limits: Limits,
) -> Document:
    """Check a document that was read; raise on an error, log everything less.

    Args:
        document: typed already; its indices and spans are what is checked.
        log: takes defects and notes.
        names: how the source calls its fields.
        vocabulary: the relations that are allowed; None allows all.
        limits: how large it may be.

    Returns:
        The document, without facts and known negatives that were noted twice.
    """
    _check_size(document, limits)
    for index, entity in enumerate(document.entities):
        _check_entity(document, index, entity, log, names, limits)
    _check_identifiers(document, log, names)
    for index, fact in enumerate(document.facts):
        _check_fact(document, index, fact, log, names, vocabulary)
    if document.negatives:
        _check_negatives(document, log, names, vocabulary)
    _check_encodable(document, names)
    _add_notes(document, log, names)
    return _without_repetitions(document, log, names)


def _check_size(document: Document, limits: Limits) -> None:
    mentions = sum(len(entity.mentions) for entity in document.entities)
    for name, found in (
        ("words", document.word_count),
        ("entities", len(document.entities)),
        ("mentions", mentions),
        ("facts", len(document.facts) + len(document.negatives)),
    ):
        limits.check(name, found, name, document.id)


def _check_entity(
    document: Document, index: int, entity: Entity, log: DefectLog, names: FieldNames, limits: Limits
) -> None:
    if not entity.mentions:
        fail(Kind.MALFORMED, document.id, names.entity.format(index), "no mention", "at least one mention")
    for number, mention in enumerate(entity.mentions):
        if not _is_named_as_it_stands(document, mention, limits):
            place = names.mention.format(index, number)
            _check_span(document, place, mention, names)
            _check_name(document, place, mention, log, names, limits)
    if len(entity.mentions) == 1:
        return
    first = entity.mentions[0]
    if len({mention.span for mention in entity.mentions}) < len(entity.mentions):
        place = names.entity.format(index)
        log.add(Kind.DUPLICATE_MENTION, document.id, place, "the same mention twice", "each mention once")
    if any(mention.type != first.type for mention in entity.mentions):
        types = ", ".join(sorted({mention.type for mention in entity.mentions}))
        log.add(Kind.MIXED_TYPES, document.id, names.entity.format(index), shorten(types), "one type")


def _check_identifiers(document: Document, log: DefectLog, names: FieldNames) -> None:
    """A gene and a species may share a number, two genes may not."""
    first: dict[tuple[str, str], int] = {}
    for index, entity in enumerate(document.entities):
        if entity.id is not None and first.setdefault((entity.type, entity.id), index) != index:
            place, other = names.entity.format(index), names.entity.format(first[entity.type, entity.id])
            log.add(
                Kind.DUPLICATE_ENTITY,
                document.id,
                f"{place}.id",
                short_repr(entity.id),
                f"not that of {other}",
            )


def _is_named_as_it_stands(document: Document, mention: Mention, limits: Limits) -> bool:
    """Whether nothing at all is wrong with a mention, which is nearly always so: told with little effort."""
    if not (0 <= mention.sentence < len(document.sentences) and mention.type.strip()):
        return False
    words = document.sentences[mention.sentence]
    start, end = mention.start, mention.end
    if not (0 <= start < end <= len(words) and end - start <= limits.mention >= len(mention.name)):
        return False
    return mention.name == words[start] if end == start + 1 else _joins_to(mention.name, words[start:end])


def _joins_to(name: str, words: Sequence[str]) -> bool:
    # Their lengths first: what is far longer than the name is not joined just to be compared.
    return sum(map(len, words)) + len(words) - 1 == len(name) and name == " ".join(words)


def _check_span(document: Document, place: str, mention: Mention, names: FieldNames) -> None:
    sentences = document.sentences
    if not 0 <= mention.sentence < len(sentences):
        expected = f"a sentence from 0 to {len(sentences) - 1}"
        fail(Kind.MALFORMED, document.id, f"{place}.{names.sentence}", short_repr(mention.sentence), expected)
    words = len(sentences[mention.sentence])
    if not 0 <= mention.start < mention.end <= words:
        expected = f"0 <= start < end <= {words}, the words of sentence {mention.sentence}"
        found = f"{short_repr(mention.start)} to {short_repr(mention.end)}"
        fail(Kind.MALFORMED, document.id, f"{place}.{names.span}", found, expected)


def _check_name(
    document: Document, place: str, mention: Mention, log: DefectLog, names: FieldNames, limits: Limits
) -> None:
    if not mention.type or mention.type.isspace():
        fail(Kind.MALFORMED, document.id, f"{place}.{names.type}", short_repr(mention.type), "a type")
    # Before its words are joined: many long mentions of one sentence would be its length times their number.
    limits.check("mention", len(mention.name), "characters in one mention", document.id, place)
    limits.check("mention", mention.end - mention.start, "words in one mention", document.id, place)
    covered = document.words_of(mention)
    limits.check("mention", sum(map(len, covered)), "characters in one mention", document.id, place)
    if "".join(mention.name.split()) != "".join("".join(covered).split()):
        log.add(
            Kind.NAME_MISMATCH,
            document.id,
            f"{place}.{names.name}",
            short_repr(mention.name),
            short_repr(" ".join(covered)),
        )


def _check_fact(
    document: Document,
    index: int,
    fact: Fact,
    log: DefectLog,
    names: FieldNames,
    vocabulary: Collection[str] | None,
) -> None:
    place, sentences = names.fact.format(index), len(document.sentences)
    _check_triple(document, place, fact.triple, log, names, vocabulary)
    for sentence in fact.evidence:
        if not 0 <= sentence < sentences:
            found, expected = short_repr(sentence), f"sentences below {sentences}"
            fail(Kind.MALFORMED, document.id, f"{place}.{names.evidence}", found, expected)


def _check_negatives(
    document: Document, log: DefectLog, names: FieldNames, vocabulary: Collection[str] | None
) -> None:
    facts = {fact.triple for fact in document.facts}
    for index, negative in enumerate(document.negatives):
        place = names.negative.format(index)
        _check_triple(document, place, negative, log, names, vocabulary)
        if negative in facts:
            found, expected = (
                f"{short_repr(negative)}, which is a fact, too",
                "a fact or a known negative, not both",
            )
            fail(Kind.MALFORMED, document.id, place, found, expected)


def _check_triple(
    document: Document,
    place: str,
    triple: Triple,
    log: DefectLog,
    names: FieldNames,
    vocabulary: Collection[str] | None,
) -> None:
    """Entities and relation of a fact, or of a known negative."""
    head, tail, relation = triple
    entities = len(document.entities)
    if not relation or relation.isspace():
        field = f"{place}.{names.relation}"
        fail(Kind.MALFORMED, document.id, field, short_repr(relation), "the name of a relation")
    for name, entity in ((names.head, head), (names.tail, tail)):
        if not 0 <= entity < entities:
            found, expected = short_repr(entity), f"an entity index below {entities}"
            fail(Kind.MALFORMED, document.id, f"{place}.{name}", found, expected)
    if head == tail:
        found = f"head and tail both {head}"
        fail(Kind.MALFORMED, document.id, f"{place}.{names.tail}", found, "two different entities")
    if vocabulary is not None and relation not in vocabulary:
        hint = nearest(relation, vocabulary) if log.keeps(Kind.UNKNOWN_RELATION) else ""
        field, expected = f"{place}.{names.relation}", f"a relation of the vocabulary{hint}"
        fail(Kind.UNKNOWN_RELATION, document.id, field, short_repr(relation), expected)


def _check_encodable(document: Document, names: FieldNames) -> None:
    """A lone surrogate can be read from JSON and never be written again."""
    strings = [document.id, document.text or ""]
    strings += chain.from_iterable(document.sentences)
    for entity in document.entities:
        strings.append(entity.id or "")
        for mention in entity.mentions:
            strings += (mention.name, mention.type)
    strings += [fact.relation for fact in document.facts]
    strings += [relation for *_, relation in document.negatives]
    try:
        "".join(strings).encode()
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        fail(Kind.MALFORMED, document.id, _place_of(letter, document, names), short_repr(letter), ENCODABLE)


def _place_of(letter: str, document: Document, names: FieldNames) -> str:
    """The first part of a document that holds a letter."""
    for index, entity in enumerate(document.entities):
        for number, mention in enumerate(entity.mentions):
            if letter in mention.name + mention.type + (entity.id or ""):
                return names.mention.format(index, number)
    for index, fact in enumerate(document.facts):
        if letter in fact.relation:
            return f"{names.fact.format(index)}.{names.relation}"
    for index, (*_, relation) in enumerate(document.negatives):
        if letter in relation:
            return f"{names.negative.format(index)}.{names.relation}"
    words = enumerate(document.sentences)
    return next((f"sentence {index}" for index, sentence in words if letter in "".join(sentence)), "text")


def _add_notes(document: Document, log: DefectLog, names: FieldNames) -> None:
    if not document.entities:
        log.add(Kind.NO_ENTITIES, document.id, None, "no entity", "entities")
    if not document.facts:
        log.add(Kind.NO_FACTS, document.id, None, "no fact", "facts")
    for index, fact in enumerate(document.facts):
        if not fact.evidence:
            place = f"{names.fact.format(index)}.{names.evidence}"
            log.add(Kind.NO_EVIDENCE, document.id, place, "none", "sentences")


def _without_repetitions(document: Document, log: DefectLog, names: FieldNames) -> Document:
    first = dict(zip(reversed(document.negatives), reversed(range(len(document.negatives))), strict=True))
    if len(first) < len(document.negatives):
        for index, negative in enumerate(document.negatives):
            if first[negative] != index:
                place = names.negative.format(index)
                log.add(
                    Kind.DUPLICATE_FACT, document.id, place, short_repr(negative), "each known negative once"
                )
        document = replace(document, negatives=tuple(dict.fromkeys(document.negatives)))
    if len({fact.triple for fact in document.facts}) == len(document.facts):
        return document
    kept: dict[tuple[int, int, str], Fact] = {}
    for index, fact in enumerate(document.facts):
        if kept.setdefault(fact.triple, fact) is not fact:
            place = names.fact.format(index)
            log.add(Kind.DUPLICATE_FACT, document.id, place, short_repr(fact.triple), "each fact once")
    return document.with_facts(kept.values())
