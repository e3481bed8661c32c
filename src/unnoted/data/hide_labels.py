"""Hide labels, as annotators would have missed them: the labelling settings of the paper, and others.

A rule decides within one document, from the seed and the document's id alone: it hides the same facts of a
document in any order and in any part of a corpus. `PopularityBiasedLabelDropout` is first fitted to a corpus;
another corpus, or a part of it, gives another rule.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, pow
from random import Random
from typing import TypeAlias

from unnoted.data.document import Document, Fact
from unnoted.utils import lookup

DOCRED_LABEL_FREQUENCY = 0.35
"""The share of true facts that DocRED has labelled: 1,832 of 5,199 in its development set."""

DEFAULT_BIAS = 0.2
"""Label frequencies of the relations then differ about as they do in DocRED: with a share of 0.36, a relation
of Re-DocRED has 2 to 24 true facts for each labelled one (median 4.1); DocRED has 1 to 34 (median 2.5)."""


LabelDropout: TypeAlias = Callable[[Document, Random], list[Fact]]
"""A rule that chooses which facts of a document stay labelled, in their order."""


def keep_one_per_relation(document: Document, random: Random) -> list[Fact]:
    """One label per relation and document, chosen uniformly: the paper's extremely unlabelled setting.

    Example:
        >>> document = Document("d", (), (), (Fact(0, 1, "a"), Fact(1, 2, "a"), Fact(0, 2, "b")))
        >>> [fact.relation for fact in keep_one_per_relation(document, Random(0))]
        ['a', 'b']
    """
    by_relation: defaultdict[str, list[int]] = defaultdict(list)
    for index, fact in enumerate(document.facts):
        by_relation[fact.relation].append(index)
    chosen = sorted(random.choice(indices) for indices in by_relation.values())
    return [document.facts[index] for index in chosen]


@dataclass(frozen=True, slots=True)
class UniformLabelDropout:
    """Each fact stays labelled with probability `share`."""

    share: float

    def __post_init__(self) -> None:
        _check_share(self.share)

    def __call__(self, document: Document, random: Random) -> list[Fact]:
        """The facts that stay."""
        return [fact for fact in document.facts if random.random() < self.share]


@dataclass(frozen=True, slots=True)
class PopularityBiasedLabelDropout:
    """Facts of frequent relations between often mentioned entities stay labelled more often than others.

    A fact stays with probability min(1, scale · (count of its relation · mentions of head · of tail)^bias).

    Args:
        relation_counts: facts of each relation in the corpus.
        scale: such that the expected share of labels that stay is the one asked for (see `fit`).
        bias: 0 is uniform.
    """

    relation_counts: Mapping[str, int]
    scale: float
    bias: float = DEFAULT_BIAS

    @classmethod
    def fit(
        cls, documents: Iterable[Document], share: float, bias: float = DEFAULT_BIAS
    ) -> "PopularityBiasedLabelDropout":
        """Count the relations of a corpus and find the scale at which `share` of its labels stay."""
        _check_share(share)
        if not 0 <= bias < inf:
            raise ValueError(f"bias must be 0 or a positive number, not {bias}")
        facts: Counter[tuple[str, int]] = Counter()
        for document in documents:
            facts.update((fact.relation, _mention_product(document, fact)) for fact in document.facts)
        counts: Counter[str] = Counter()
        for (relation, _), number in facts.items():
            counts[relation] += number
        weights = Counter[float]()
        for (relation, mentions), number in facts.items():
            weights[pow(counts[relation] * mentions, bias)] += number
        return cls(dict(counts), _find_scale(weights, share), bias)

    def __call__(self, document: Document, random: Random) -> list[Fact]:
        """The facts that stay."""
        return [fact for fact in document.facts if random.random() < self.probability(document, fact)]

    def probability(self, document: Document, fact: Fact) -> float:
        """The probability that a fact stays; a relation that `fit` has not seen counts as seen once."""
        count = self.relation_counts.get(fact.relation, 1)
        return min(1.0, self.scale * pow(count * _mention_product(document, fact), self.bias))


def _mention_product(document: Document, fact: Fact) -> int:
    return len(document.entities[fact.head].mentions) * len(document.entities[fact.tail].mentions)


def _find_scale(weights: Mapping[float, int], share: float) -> float:
    """The scale at which min(1, scale · weight) is `share` on average, which is monotone: by bisection."""
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
        raise ValueError(f"the share of labels to keep must be above 0 and at most 1, not {share}")


LABELLING_SETTINGS: dict[str, Callable[[Iterable[Document]], LabelDropout]] = {
    "full": lambda documents: UniformLabelDropout(1.0),
    "incomplete": lambda documents: PopularityBiasedLabelDropout.fit(documents, DOCRED_LABEL_FREQUENCY),
    "extreme": lambda documents: keep_one_per_relation,
}
"""The labelling settings of the paper, each fitted to documents. Full: all labels. Incomplete: as many as
DocRED's annotators labelled, with their bias. Extreme: one label per relation and document."""


def fit_setting(name: str, documents: Iterable[Document]) -> LabelDropout:
    """The rule of a labelling setting; documents are read only if the rule needs their frequencies."""
    return lookup("labelling setting", name, LABELLING_SETTINGS)(documents)


@dataclass(slots=True)
class HideReport:
    """The labels before and after, by relation."""

    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    documents: int = 0

    @property
    def share(self) -> float:
        """The share of labels that stayed."""
        return self.after.total() / self.before.total() if self.before else 1.0

    @property
    def unlabelled_relations(self) -> list[str]:
        """Relations of which no label is left."""
        return sorted(self.before.keys() - self.after.keys())


def hide_labels(
    documents: Iterable[Document], rule: LabelDropout, seed: int = 0, report: HideReport | None = None
) -> Iterator[Document]:
    """Hide labels of documents, one document at a time."""
    report = report if report is not None else HideReport()
    for document in documents:
        random = Random(f"{seed}/{document.id}")  # a string seeds the same in every process
        left = document.with_facts(rule(document, random))
        report.documents += 1
        report.before.update(fact.relation for fact in document.facts)
        report.after.update(fact.relation for fact in left.facts)
        yield left
