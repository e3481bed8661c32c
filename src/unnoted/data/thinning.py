"""Labelling levels: hide facts, as annotators would have missed them.

Every rule decides within one document from `(seed, document id)` alone: the same document loses the same
facts in any order, in any part of a corpus.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import pow
from random import Random
from typing import Protocol

from unnoted.data.document import Document, Fact

DOCRED_SHARE = 0.35
"""The share of its true facts that DocRED has labelled: 1,832 of 5,199 in its development set."""


BIAS = 0.2
"""How strongly popularity counts by default; 0 is a uniform share. At 0.2 and a share of 0.36, a relation of
Re-DocRED has 2 to 24 true facts for each labelled one (median 4.1); between DocRED and Re-DocRED, 1 to 34
(median 2.5)."""


class Thinning(Protocol):
    """A rule that says which facts of a document stay labelled."""

    def kept(self, document: Document, random: Random) -> Iterable[Fact]:
        """The facts that stay, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class KeepAll:
    """The fully labelled level: every fact stays."""

    def kept(self, document: Document, random: Random) -> Iterable[Fact]:
        """All facts."""
        return document.facts


@dataclass(frozen=True, slots=True)
class OnePerRelation:
    """The paper's extremely unlabelled level: one label per relation per document, picked at random.

    Example:
        >>> document = Document("d", (), (), (Fact(0, 1, "a"), Fact(1, 2, "a"), Fact(0, 2, "b")))
        >>> [fact.relation for fact in OnePerRelation().kept(document, Random(0))]
        ['a', 'b']
    """

    def kept(self, document: Document, random: Random) -> Iterable[Fact]:
        """One fact of each relation, uniform over its facts."""
        by_relation: defaultdict[str, list[int]] = defaultdict(list)
        for index, fact in enumerate(document.facts):
            by_relation[fact.relation].append(index)
        chosen = sorted(random.choice(indices) for indices in by_relation.values())
        return [document.facts[index] for index in chosen]


@dataclass(frozen=True, slots=True)
class UniformShare:
    """Each fact stays with the same probability, whatever it says."""

    share: float

    def __post_init__(self) -> None:
        _check_share(self.share)

    def kept(self, document: Document, random: Random) -> Iterable[Fact]:
        """Each fact with probability `share`."""
        return [fact for fact in document.facts if random.random() < self.share]


@dataclass(frozen=True, slots=True)
class PopularShare:
    """Facts of frequent relations between much-mentioned entities stay more often than others.

    A fact stays with probability min(1, scale · (count of its relation · mentions of head · of tail)^bias).
    The scale is chosen so that the expected share over the corpus is the one asked for: see `fit`.
    """

    share: float
    relation_counts: Mapping[str, int]
    scale: float
    bias: float = BIAS

    @classmethod
    def fit(cls, documents: Iterable[Document], share: float, bias: float = BIAS) -> "PopularShare":
        """Count the relations of a corpus and find the scale that keeps `share` of its facts."""
        _check_share(share)
        mentions: Counter[tuple[str, int]] = Counter()
        for document in documents:
            for fact in document.facts:
                mentions[fact.relation, _mentions(document, fact)] += 1
        counts: Counter[str] = Counter()
        for (relation, _), number in mentions.items():
            counts[relation] += number
        weights = Counter[float]()
        for (relation, product), number in mentions.items():
            weights[pow(counts[relation] * product, bias)] += number
        return cls(share, dict(counts), _scale(weights, share), bias)

    def kept(self, document: Document, random: Random) -> Iterable[Fact]:
        """Each fact with its probability; a relation unseen in `fit` counts as seen once."""
        return [fact for fact in document.facts if random.random() < self.probability(document, fact)]

    def probability(self, document: Document, fact: Fact) -> float:
        """How likely a fact is to stay."""
        count = self.relation_counts.get(fact.relation, 1)
        return min(1.0, self.scale * pow(count * _mentions(document, fact), self.bias))


def _mentions(document: Document, fact: Fact) -> int:
    entities = document.entities
    return len(entities[fact.head].mentions) * len(entities[fact.tail].mentions)


def _scale(weights: Mapping[float, int], share: float) -> float:
    """The scale at which min(1, scale · weight) averages to `share`: monotone, so by bisection."""
    if not weights:
        return 0.0
    target = share * sum(weights.values())
    low, high = 0.0, 1.0 / min(weights)
    for _ in range(100):
        middle = (low + high) / 2
        expected = sum(number * min(1.0, middle * weight) for weight, number in weights.items())
        low, high = (middle, high) if expected < target else (low, middle)
    return high


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"share of facts to keep: found {share}, expected more than 0 and at most 1")


@dataclass(slots=True)
class ThinningReport:
    """The facts before and after, by relation."""

    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    documents: int = 0

    @property
    def share(self) -> float:
        """The share of facts that stayed."""
        return self.after.total() / self.before.total() if self.before else 1.0

    @property
    def vanished(self) -> list[str]:
        """Relations that no fact is left of."""
        return sorted(self.before.keys() - self.after.keys())


def thin(
    documents: Iterable[Document], rule: Thinning, seed: int = 0, report: ThinningReport | None = None
) -> Iterator[Document]:
    """Hide facts of documents, one document at a time.

    Args:
        documents: fully or partly labelled; may be a stream.
        rule: which facts stay.
        seed: the same seed hides the same facts.
        report: counts what was there and what stayed.
    """
    report = report if report is not None else ThinningReport()
    for document in documents:
        random = Random(f"{seed}/{document.id}")  # a string seeds the same in every process
        thinned = document.with_facts(rule.kept(document, random))
        report.documents += 1
        report.before.update(fact.relation for fact in document.facts)
        report.after.update(fact.relation for fact in thinned.facts)
        yield thinned
