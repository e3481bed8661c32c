"""What predictions are held against: the gold documents, and what train already says about them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from unnoted.data.document import Document, Fact

Key: TypeAlias = tuple[str, int, int, str]
"""A fact of a corpus: (document, head, tail, relation)."""

NamedFact: TypeAlias = tuple[str, str, str]
"""A fact in words: (a name of the head, a name of the tail, relation)."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Documents by id, and their facts, each once."""

    documents: Mapping[str, Document]
    facts: Mapping[Key, Fact]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Gold":
        """Index documents; of a fact that is noted twice the first noting counts.

        Raises:
            ValueError: two documents share an id, or there is no fact to be found.
        """
        by_id: dict[str, Document] = {}
        facts: dict[Key, Fact] = {}
        for document in documents:
            if document.id in by_id:
                raise ValueError(f"gold: found two documents with the id {document.id!r}, expected one")
            by_id[document.id] = document
            for fact in document.facts:
                facts.setdefault((document.id, *fact.triple), fact)
        if not facts:
            raise ValueError(f"gold: found no fact in {len(by_id)} documents, expected at least one")
        return cls(by_id, facts)

    @property
    def relations(self) -> Counter[str]:
        """How many facts each relation has."""
        return Counter(relation for *_, relation in self.facts)


@dataclass(frozen=True, slots=True)
class TrainOverlap:
    """What the training documents say: how often each relation, and which gold facts already.

    A gold fact is known if some name of its head, some name of its tail and its relation, as exact strings,
    are a fact of train.
    """

    relations: Counter[str]
    known: frozenset[Key]

    @classmethod
    def of(cls, gold: Gold, train: Iterable[Document]) -> "TrainOverlap":
        """Go through the training documents once; what is held in memory is of the size of the gold."""
        unseen: defaultdict[NamedFact, list[Key]] = defaultdict(list)
        for key, fact in gold.facts.items():
            for named in named_facts(gold.documents[key[0]], fact):
                unseen[named].append(key)
        relations: Counter[str] = Counter()
        known: set[Key] = set()
        for document in train:
            relations.update(relation for *_, relation in document.labels)
            for fact in document.facts:
                for named in named_facts(document, fact):
                    known.update(unseen.pop(named, ()))
        return cls(relations, frozenset(known))


def named_facts(document: Document, fact: Fact) -> Iterator[NamedFact]:
    """A fact in words, once for every pair of names of its head and tail."""
    tails = document.entities[fact.tail].names
    for head in document.entities[fact.head].names:
        for tail in tails:
            yield head, tail, fact.relation
