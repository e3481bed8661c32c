"""What a document is: words in sentences, entities with typed mentions, labelled facts, known negatives.

Everything here is immutable and holds only what was read, so that a corpus of 80,000 abstracts fits in
memory. A pair of entities without a fact is *unlabelled*; it is negative only where a person said so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from unnoted.utils import plural

Sentence: TypeAlias = tuple[str, ...]
"""The words of one sentence."""

Triple: TypeAlias = tuple[int, int, str]
"""A fact without its evidence: (head, tail, relation)."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where an entity is named: words `start` to `end` (exclusive) of a sentence.

    `name` is the string as the source gives it, which may differ from the joined words in its spaces.
    """

    sentence: int
    start: int
    end: int
    type: str
    name: str

    @property
    def span(self) -> tuple[int, int, int]:
        """Where the mention stands: (sentence, start, end)."""
        return self.sentence, self.start, self.end


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of one thing in one document, and its identifier in a knowledge base if it has one."""

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
        """Every name the entity goes by in its document."""
        return frozenset(mention.name for mention in self.mentions)

    @property
    def sentences(self) -> frozenset[int]:
        """Every sentence that mentions the entity."""
        return frozenset(mention.sentence for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled relation from entity `head` to entity `tail`, with the sentences that support it."""

    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()

    @property
    def triple(self) -> Triple:
        """The fact without its evidence."""
        return self.head, self.tail, self.relation


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of the entity pairs of one document.

    Example:
        >>> labels = LabelSet(frozenset({(0, 1, "spouse"), (1, 0, "spouse")}))
        >>> sorted(labels.relations(0, 1)), labels.is_unlabelled(0, 2)
        (['spouse'], True)
        >>> sorted(labels.missing(LabelSet(frozenset({(0, 1, "spouse"), (0, 2, "child")}))))
        [(0, 2, 'child')]
    """

    triples: frozenset[Triple]

    def __len__(self) -> int:
        return len(self.triples)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.triples)

    def __contains__(self, triple: object) -> bool:
        return triple in self.triples

    def relations(self, head: int, tail: int) -> frozenset[str]:
        """The relations labelled from `head` to `tail`; empty means unlabelled, not "none"."""
        return frozenset(relation for h, t, relation in self.triples if (h, t) == (head, tail))

    def is_unlabelled(self, head: int, tail: int) -> bool:
        """Whether the pair has no label."""
        return not self.relations(head, tail)

    def missing(self, other: "LabelSet") -> frozenset[Triple]:
        """The labels of `other` that this set does not have."""
        return other.triples - self.triples


@dataclass(frozen=True, slots=True)
class Document:
    """Words in sentences, entities, labelled facts; `text` where the source was raw text.

    Where `text` is given, the words are its pieces in order and only white space lies between them.
    `negatives` are the known negatives: what a person said does *not* hold. None of them is a fact.

    Example:
        >>> ada = Entity((Mention(0, 0, 1, "PER", "Ada"),))
        >>> london = Entity((Mention(0, 3, 4, "LOC", "London"),))
        >>> document = Document("d1", (("Ada", "lives", "in", "London"),), (ada, london),
        ...                     (Fact(0, 1, "residence", (0,)),))
        >>> document.word_count, len(document.labels), document.labels.is_unlabelled(1, 0)
        (4, 1, True)
        >>> document
        <Document 'd1': 1 sentence, 2 entities, 1 fact>
        >>> rejected = replace(document, negatives=((1, 0, "residence"),))
        >>> rejected.with_facts([Fact(1, 0, "residence")]).negatives  # what is labelled is no negative
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
        """The document with its labelled facts, drawn in a notebook."""
        from unnoted.data.visualization import notebook_html  # documents are read without it

        return notebook_html(self, self.facts)

    @property
    def labels(self) -> LabelSet:
        """The labelled facts as a set."""
        return LabelSet(frozenset(fact.triple for fact in self.facts))

    @property
    def word_count(self) -> int:
        """How many words the document has."""
        return sum(map(len, self.sentences))

    def words_of(self, mention: Mention) -> Sentence:
        """The words that a mention covers."""
        return self.sentences[mention.sentence][mention.start : mention.end]

    def with_facts(self, facts: Iterable[Fact]) -> "Document":
        """The same document under another labelling; a known negative that it labels is none any more."""
        labelled = tuple(facts)
        if not self.negatives:
            return replace(self, facts=labelled)
        triples = {fact.triple for fact in labelled}
        left = tuple(negative for negative in self.negatives if negative not in triples)
        return replace(self, facts=labelled, negatives=left)
