"""The checks that every document passes, from whatever source: indices, spans, names, sizes, encoding."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from unnoted.data.document import Document, Entity, Mention, Triple
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import ENCODABLE, Limits
from unnoted.utils import nearest, short_repr, shorten


@dataclass(frozen=True, slots=True)
class FieldNames:
    """A format's names of its fields, so that an error names the place as the user wrote it."""

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
    document: Document, log: DefectLog, names: FieldNames, vocabulary: Collection[str] | None, limits: Limits
) -> Document:
    """Check a document; raise an error, log defects and notes.

    Returns:
        The document, without repeated facts and negatives.

    Raises:
        DataError: names the document, the field, its value and what is valid.
    """
    _Validator(document, log, names, vocabulary, limits).run()
    triples = [fact.triple for fact in document.facts]
    for name, listed in ((names.negative, document.negatives), (names.fact, triples)):
        seen: set[Triple] = set()
        for index, triple in enumerate(listed):
            if triple in seen:
                found, expected = short_repr(triple), "each fact once"
                log.add(DefectKind.DUPLICATE_FACT, document.id, name.format(index), found, expected)
            seen.add(triple)
    if len(set(document.negatives)) < len(document.negatives):
        document = replace(document, negatives=tuple(dict.fromkeys(document.negatives)))
    if len(set(triples)) < len(triples):
        first = dict(zip(reversed(triples), reversed(document.facts), strict=True))
        document = document.with_facts(first[triple] for triple in dict.fromkeys(triples))
    return document


def validate_documents(documents: Iterable[Document], source: str) -> None:
    """Check documents that were made by a program and not by a reader.

    Example:
        >>> beyond = Entity((Mention(0, 1, 3, "PER", "Ada"),))
        >>> validate_documents([Document("d1", (("Hello", "Ada"),), (beyond,))], "features")
        Traceback (most recent call last):
        unnoted.errors.DataError: features: document 'd1': entities[0].mentions[0].start/end: ...
    """
    log = DefectLog(source)
    for document in documents:
        with log.locating():
            validate(document, log, FieldNames(), None, Limits.current())


@dataclass(frozen=True, slots=True)
class _Validator:
    document: Document
    log: DefectLog
    names: FieldNames
    vocabulary: Collection[str] | None
    limits: Limits

    def run(self) -> None:
        document, names = self.document, self.names
        for name, size in (
            ("words", document.word_count),
            ("entities", len(document.entities)),
            ("mentions", sum(len(entity.mentions) for entity in document.entities)),
            ("facts", len(document.facts) + len(document.negatives)),
        ):
            self.limits.check(name, size, name, document.id)
        if not document.entities:
            self.log.add(DefectKind.NO_ENTITIES, document.id, None, "no entity", "entities")
        if not document.facts:
            self.log.add(DefectKind.NO_FACTS, document.id, None, "no fact", "facts")
        for index, entity in enumerate(document.entities):
            self.check_entity(index, entity)
        self.check_ids()
        for index, fact in enumerate(document.facts):
            place = names.fact.format(index)
            self.check_triple(place, fact.triple)
            place = f"{place}.{names.evidence}"
            if not fact.evidence:
                self.log.add(DefectKind.NO_EVIDENCE, document.id, place, "none", "sentences")
            for sentence in fact.evidence:
                if not 0 <= sentence < len(document.sentences):
                    self.refuse(place, short_repr(sentence), f"sentences below {len(document.sentences)}")
        labels = document.labels if document.negatives else ()
        for index, negative in enumerate(document.negatives):
            place = names.negative.format(index)
            self.check_triple(place, negative)
            if negative in labels:
                found = f"{short_repr(negative)}, which is a fact, too"
                self.refuse(place, found, "a fact or a known negative, not both")
        self.check_encoding()

    def refuse(
        self, place: str, found: str, expected: str, kind: DefectKind = DefectKind.MALFORMED
    ) -> NoReturn:
        raise DataError(found, expected, self.document.id, place, kind)

    def check_entity(self, index: int, entity: Entity) -> None:
        place = self.names.entity.format(index)
        if not entity.mentions:
            self.refuse(place, "no mention", "at least one mention")
        for number, mention in enumerate(entity.mentions):
            self.check_mention(index, number, mention)
        if len(entity.mentions) == 1:
            return
        if len({mention.span for mention in entity.mentions}) < len(entity.mentions):
            found, expected = "the same mention twice", "each mention once"
            self.log.add(DefectKind.DUPLICATE_MENTION, self.document.id, place, found, expected)
        types = {mention.type for mention in entity.mentions}
        if len(types) > 1:
            found = shorten(", ".join(sorted(types)))
            self.log.add(DefectKind.MIXED_TYPES, self.document.id, place, found, "one type")

    def check_mention(self, index: int, number: int, mention: Mention) -> None:
        document, names, limits = self.document, self.names, self.limits
        sentences, sentence, start, end = document.sentences, mention.sentence, mention.start, mention.end
        words = sentences[sentence] if 0 <= sentence < len(sentences) else ()
        is_word = end == start + 1 and 0 <= start < len(words) and mention.name == words[start]
        if is_word and mention.type.strip() and len(mention.name) <= limits.mention:
            return  # as most mentions are
        place = names.mention.format(index, number)
        if not 0 <= sentence < len(sentences):
            expected = f"a sentence from 0 to {len(sentences) - 1}"
            self.refuse(f"{place}.{names.sentence}", short_repr(sentence), expected)
        if not 0 <= start < end <= len(words):
            found = f"{short_repr(start)} to {short_repr(end)}"
            expected = f"0 <= start < end <= {len(words)}, the words of sentence {sentence}"
            self.refuse(f"{place}.{names.span}", found, expected)
        if not mention.type.strip():
            self.refuse(f"{place}.{names.type}", short_repr(mention.type), "a type")
        # Sizes first: many long mentions of one sentence would be joined in time of their number times its length.
        covered = words[start:end]
        letters = max(len(mention.name), sum(map(len, covered)))
        for size, unit in ((letters, "characters"), (len(covered), "words")):
            limits.check("mention", size, f"{unit} in one mention", document.id, place)
        if "".join(mention.name.split()) != "".join("".join(covered).split()):
            found, expected = short_repr(mention.name), short_repr(" ".join(covered))
            kind = (
                DefectKind.SPLIT_MENTION if _leaves_out(mention.name, covered) else DefectKind.NAME_MISMATCH
            )
            self.log.add(kind, document.id, f"{place}.{names.name}", found, expected)

    def check_ids(self) -> None:
        """Two genes must not share an id; a gene and a species may."""
        first: dict[tuple[str, str], int] = {}
        for index, entity in enumerate(self.document.entities):
            if entity.id is not None and first.setdefault((entity.type, entity.id), index) != index:
                place = f"{self.names.entity.format(index)}.id"
                expected = f"not that of {self.names.entity.format(first[entity.type, entity.id])}"
                self.log.add(
                    DefectKind.DUPLICATE_ENTITY, self.document.id, place, short_repr(entity.id), expected
                )

    def check_triple(self, place: str, triple: Triple) -> None:
        head, tail, relation = triple
        names, entities = self.names, len(self.document.entities)
        if not relation.strip():
            self.refuse(f"{place}.{names.relation}", short_repr(relation), "the name of a relation")
        for name, entity in ((names.head, head), (names.tail, tail)):
            if not 0 <= entity < entities:
                self.refuse(f"{place}.{name}", short_repr(entity), f"an entity index below {entities}")
        if head == tail:
            self.refuse(f"{place}.{names.tail}", f"head and tail both {head}", "two different entities")
        if self.vocabulary is not None and relation not in self.vocabulary:
            hint = nearest(relation, self.vocabulary) if self.log.keeps(DefectKind.UNKNOWN_RELATION) else ""
            expected = f"a relation of the vocabulary{hint}"
            self.refuse(
                f"{place}.{names.relation}", short_repr(relation), expected, DefectKind.UNKNOWN_RELATION
            )

    def check_encoding(self) -> None:
        """A lone surrogate can be read from JSON but never be written again."""
        try:
            "".join(text for *_, text in self.strings()).encode()
        except UnicodeEncodeError:
            for place, numbers, text in self.strings():
                try:
                    text.encode()
                except UnicodeEncodeError as error:
                    self.refuse(place.format(*numbers), short_repr(text[error.start]), ENCODABLE)

    def strings(self) -> Iterator[tuple[str, tuple[int, ...], str]]:
        """Every string of the document, with its place as a template and its numbers."""
        document, names = self.document, self.names
        for index, entity in enumerate(document.entities):
            for number, mention in enumerate(entity.mentions):
                yield names.mention, (index, number), mention.name + mention.type + (entity.id or "")
        relations = [fact.relation for fact in document.facts], [triple[2] for triple in document.negatives]
        for name, listed in zip((names.fact, names.negative), relations, strict=True):
            place = f"{name}.{names.relation}"
            for index, relation in enumerate(listed):
                yield place, (index,), relation
        for index, words in enumerate(document.sentences):
            yield "sentence {}", (index,), "".join(words)
        yield "text", (), document.text or ""
        yield "id", (), document.id


def _leaves_out(name: str, covered: Sequence[str]) -> bool:
    """Whether a name is the first and the last of some words and others between: of a mention in several pieces.

    Example:
        >>> _leaves_out("North America", ["North", "and", "South", "America"]), _leaves_out("North", ["North", "Sea"])
        (True, False)
    """
    words, rest = name.split(), iter(covered)
    return (
        bool(words)
        and words[-1] == covered[-1]
        and words[0] == covered[0]
        and all(word in rest for word in words)
    )
