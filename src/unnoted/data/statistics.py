"""What a corpus contains, counted in one pass over a stream of documents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unnoted.data.candidates import CandidatePairs, TypePair
from unnoted.data.document import Document


@dataclass(slots=True)
class Statistics:
    """Counts over documents; averages and shares are derived from them.

    Args:
        rule: whose pairs are counted document by document; those of a rule of types alone can also be told
            afterwards.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> statistics = Statistics()
        >>> for _ in statistics.watch([Document("1", (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "met"),))]):
        ...     pass
        >>> statistics.documents, statistics.facts, statistics.all_pairs, statistics.longest
        (1, 1, 2, (2, '1'))
    """

    rule: CandidatePairs | None = None
    documents: int = 0
    sentences: int = 0
    words: int = 0
    entities: int = 0
    mentions: int = 0
    facts_with_evidence: int = 0
    across_sentences: int = 0
    longest: tuple[int, str] = (0, "")
    most_entities: tuple[int, str] = (0, "")
    relations: Counter[str] = field(default_factory=Counter)
    all_pairs: int = 0
    ruled_pairs: int = 0
    ruled_labelled: int = 0
    types: Counter[frozenset[tuple[str, int]]] = field(default_factory=Counter)
    labelled_by_type: Counter[TypePair] = field(default_factory=Counter)
    connected: defaultdict[str, Counter[TypePair]] = field(default_factory=lambda: defaultdict(Counter))
    negatives: int = 0

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass documents on and count each."""
        for document in documents:
            self.add(document)
            yield document

    def add(self, document: Document) -> None:
        """Count one document."""
        words = document.word_count
        self.documents += 1
        self.sentences += len(document.sentences)
        self.words += words
        self.entities += len(document.entities)
        self.mentions += sum(len(entity.mentions) for entity in document.entities)
        self.longest = max(self.longest, (words, document.id))
        self.most_entities = max(self.most_entities, (len(document.entities), document.id))
        self.negatives += len(document.negatives)
        self._add_pairs(document)
        self._add_facts(document)

    def _add_pairs(self, document: Document) -> None:
        # Not the pairs of types themselves: a document may have as many types as entities.
        self.types[frozenset(Counter(entity.type for entity in document.entities).items())] += 1
        self.all_pairs += len(document.entities) * (len(document.entities) - 1)
        self.ruled_pairs += 0 if self.rule is None else self.rule.count(document)

    def _add_facts(self, document: Document) -> None:
        entities = document.entities
        places = [entity.sentences for entity in entities]
        for fact in document.facts:
            self.relations[fact.relation] += 1
            self.connected[fact.relation][entities[fact.head].type, entities[fact.tail].type] += 1
            self.facts_with_evidence += bool(fact.evidence)
            self.across_sentences += places[fact.head].isdisjoint(places[fact.tail])
        for head, tail in {(fact.head, fact.tail) for fact in document.facts}:
            self.labelled_by_type[entities[head].type, entities[tail].type] += 1
            if self.rule is not None and head != tail:
                self.ruled_labelled += self.rule.allows(entities[head], entities[tail])

    @property
    def facts(self) -> int:
        """How many facts there are."""
        return self.relations.total()

    @property
    def entity_types(self) -> Counter[str]:
        """How many entities there are of each type."""
        found: Counter[str] = Counter()
        for having, times in self.types.items():
            for kind, count in having:
                found[kind] += count * times
        return found

    @property
    def observed(self) -> CandidatePairs:
        """The type pairs that stand in some fact."""
        return CandidatePairs(frozenset(self.labelled_by_type))

    def candidate_pairs(self, rule: CandidatePairs) -> tuple[int, int]:
        """How many pairs are candidates under a rule, and how many of those have a fact.

        The rule is `rule`, or one that allows pairs by their types alone.
        """
        if rule == self.rule:
            return self.ruled_pairs, self.ruled_labelled
        if rule.types is None:
            return self.all_pairs, self.labelled_by_type.total()
        tails_of: defaultdict[str, set[str]] = defaultdict(set)
        for head, tail in rule.types:
            tails_of[head].add(tail)
        pairs = sum(_pairs(dict(having), tails_of) * times for having, times in self.types.items())
        return pairs, sum(self.labelled_by_type[types] for types in rule.types)

    def mean(self, total: int) -> float:
        """A total per document."""
        return total / self.documents if self.documents else 0.0

    def to_json(self, rule: CandidatePairs) -> dict[str, Any]:
        """Everything as plain data."""
        candidates, labelled = self.candidate_pairs(rule)
        return {
            "documents": self.documents,
            "relations": len(self.relations),
            "facts": self.facts,
            "facts_per_document": self.mean(self.facts),
            "facts_with_evidence": self.facts_with_evidence,
            "facts_across_sentences": self.across_sentences,
            "entities_per_document": self.mean(self.entities),
            "most_entities": {"entities": self.most_entities[0], "document": self.most_entities[1]},
            "mentions_per_document": self.mean(self.mentions),
            "sentences_per_document": self.mean(self.sentences),
            "words_per_document": self.mean(self.words),
            "longest_document": {"words": self.longest[0], "document": self.longest[1]},
            "candidates": rule.to_json(),
            "candidate_pairs": candidates,
            "labelled_pairs": labelled,
            "labelled_share": labelled / candidates if candidates else 0.0,
            "facts_per_relation": dict(self.relations.most_common()),
            "known_negatives": self.negatives,
            "entities_per_type": dict(self.entity_types.most_common()),
            "types_per_relation": {
                relation: {f"{head}:{tail}": count for (head, tail), count in types.most_common()}
                for relation, types in self.connected.items()
            },
        }


def _pairs(having: Mapping[str, int], tails_of: Mapping[str, set[str]]) -> int:
    """How many pairs a document has, from the number of its entities of each type."""
    return sum(
        having[head] * (having[tail] - (head == tail))
        for head in having.keys() & tails_of.keys()
        for tail in tails_of[head] & having.keys()
    )
