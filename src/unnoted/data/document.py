"""Documents: sentences of words, entities with typed mentions, labelled facts, explicit negatives.

All classes are immutable and hold only what was read, so that a corpus of 80,000 abstracts fits in memory.
An entity pair without a fact is *unlabelled*. It is negative only where a person said so (`Decision`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from unnoted.utils import plural

Sentence: TypeAlias = tuple[str, ...]
"""The words of one sentence."""

Triple: TypeAlias = tuple[int, int, str]
"""A fact without its evidence: (head, tail, relation)."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of an entity: words `start` to `end` (exclusive) of a sentence.

    `name` is the string as the source gives it, which may differ from the joined words in its white space.
    """

    sentence: int
    start: int
    end: int
    type: str
    name: str

    @property
    def span(self) -> tuple[int, int, int]:
        """The place of the mention: (sentence, start, end)."""
        return self.sentence, self.start, self.end


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of one entity in one document, and its identifier in a knowledge base if it has one."""

    mentions: tuple[Mention, ...]
    id: str | None = None

    @property
    def type(self) -> str:
        """The type of the first mention (DocRED mixes types within a few entities)."""
        return self.mentions[0].type

    @property
    def name(self) -> str:
        """The name of the first mention."""
        return self.mentions[0].name

    @property
    def names(self) -> frozenset[str]:
        """The names of all mentions."""
        return frozenset(mention.name for mention in self.mentions)

    @property
    def sentences(self) -> frozenset[int]:
        """The sentences that mention the entity."""
        return frozenset(mention.sentence for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled relation from entity `head` to entity `tail`, with its evidence sentences."""

    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()

    @property
    def triple(self) -> Triple:
        """The fact without its evidence."""
        return self.head, self.tail, self.relation


@dataclass(frozen=True, slots=True)
class Document:
    """One document: sentences of words, entities, labelled facts, and the raw text where there was one.

    Args:
        id: unique within a corpus (DocRED's title).
        sentences: the words of each sentence.
        entities: facts refer to them by index.
        facts: the labels.
        text: the raw text, of which the words are the pieces in order, with only white space between them.
        negatives: triples that a person judged not to hold. None of them is a fact.

    Example:
        >>> ada = Entity((Mention(0, 0, 1, "PER", "Ada"),))
        >>> london = Entity((Mention(0, 3, 4, "LOC", "London"),))
        >>> document = Document("d1", (("Ada", "lives", "in", "London"),), (ada, london),
        ...                     (Fact(0, 1, "residence", (0,)),))
        >>> document
        <Document 'd1': 1 sentence, 2 entities, 1 fact>
        >>> document.word_count, document.labels
        (4, frozenset({(0, 1, 'residence')}))
        >>> rejected = replace(document, negatives=((1, 0, "residence"),))
        >>> rejected.with_facts([Fact(1, 0, "residence")]).negatives  # a labelled triple is not a negative
        ()
    """

    id: str
    sentences: tuple[Sentence, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...] = ()
    text: str | None = None
    negatives: tuple[Triple, ...] = ()

    def __repr__(self) -> str:
        parts = (
            plural(len(self.sentences), "sentence"),
            plural(len(self.entities), "entity", "entities"),
            plural(len(self.facts), "fact"),
        )
        return f"<Document {self.id!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from unnoted.data.visualization import notebook_html  # needs jinja2, which reading does not

        return notebook_html(self, self.facts)

    @property
    def labels(self) -> frozenset[Triple]:
        """The triples of the labelled facts."""
        return frozenset(fact.triple for fact in self.facts)

    @property
    def word_count(self) -> int:
        """The number of words in all sentences."""
        return sum(map(len, self.sentences))

    def words_of(self, mention: Mention) -> Sentence:
        """The words that a mention covers."""
        return self.sentences[mention.sentence][mention.start : mention.end]

    def with_facts(self, facts: Iterable[Fact]) -> "Document":
        """The same document with other labels; a negative among them is no longer one."""
        labelled = tuple(facts)
        if not self.negatives:
            return replace(self, facts=labelled)
        triples = {fact.triple for fact in labelled}
        left = tuple(negative for negative in self.negatives if negative not in triples)
        return replace(self, facts=labelled, negatives=left)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about one fact.

    Attributes:
        document: the id of its document.
        head: the index of an entity.
        tail: the index of another one.
        relation: from head to tail.
        holds: whether it holds; if not, it becomes a known negative.
        evidence: sentences that support it.
        provenance: who, when, by which model, with which score: whatever JSON can hold.

    Example:
        >>> Decision("d1", 0, 2, "spouse", holds=False, provenance={"by": "ada"}).triple
        (0, 2, 'spouse')
    """

    document: str
    head: int
    tail: int
    relation: str
    holds: bool
    evidence: tuple[int, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def triple(self) -> Triple:
        """The fact without its evidence."""
        return self.head, self.tail, self.relation


def join_entities(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """For each of so many entities the first entity that it is, where pairs of them are one.

    Example:
        >>> join_entities(4, [(3, 1), (2, 3)])
        (0, 1, 1, 1)
    """
    first = list(range(count))
    for pair in pairs:
        low, high = sorted(first[index] for index in pair)
        first = [low if each == high else each for each in first]
    return tuple(first)


def entity_types(documents: Iterable[Document]) -> list[str]:
    """The types of all mentions, sorted."""
    entities = (entity for document in documents for entity in document.entities)
    return sorted({mention.type for entity in entities for mention in entity.mentions})
