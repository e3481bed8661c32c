"""Rules mined from incomplete labels.

Bodies are noted facts. Of the true facts of a relation s only a share c was noted, so that a rule's
conclusion is found noted less often than it holds:

    P(s | body) = P(s noted | body) / c

That takes it that facts are noted independently of each other. Where annotators note two facts together or
not at all, the conclusion of one is noted more often than c says, and the confidence is too high.

A rule is kept for the lower bound of its confidence, over documents, not for its estimate: a rule that was
right twice out of two is not known to be right. And it must be right more often than the types of head and
tail alone make it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from unnoted.data.document import Document, Triple
from unnoted.priors import Priors
from unnoted.rules.bodies import Pair, RuleBody, matches
from unnoted.rules.bounds import ONE_SIDED, DocumentShare
from unnoted.rules.constraints import Constraints
from unnoted.rules.rule import Rule, RuleSet

Shape: TypeAlias = tuple[RuleBody, str]
"""A body and the relation that it concludes."""


@dataclass(frozen=True, slots=True)
class MiningLimits:
    """What a rule must have to be kept.

    Attributes:
        support: pairs for which body and conclusion are both noted, at least.
        confidence: the lower bound of the corrected confidence, at least.
        lift: how many times as often as among pairs of the same types the conclusion is noted, at least.
        deviations: standard deviations from an estimate to its bound.
    """

    support: int = 2
    confidence: float = 0.5
    lift: float = 2.0
    deviations: float = ONE_SIDED


@dataclass(slots=True)
class RuleCounts:
    """How often a conclusion was noted where its body was.

    Attributes:
        noted: pairs that the rule speaks of (that it may conclude on), and those for which it is noted.
        expected: how many would be noted by the types of these pairs alone.
    """

    noted: DocumentShare = field(default_factory=DocumentShare)
    expected: float = 0.0

    @property
    def lift(self) -> float:
        """How many times as many were noted as the types alone explain."""
        return self.noted.hits / self.expected if self.expected else 0.0


@dataclass(frozen=True, slots=True)
class TypeRates:
    """How often each relation is noted among all pairs of the same types."""

    pairs: Mapping[tuple[str, str], int]
    noted: Mapping[tuple[str, str, str], int]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "TypeRates":
        """Count all ordered pairs of different entities."""
        pairs: Counter[tuple[str, str]] = Counter()
        noted: Counter[tuple[str, str, str]] = Counter()
        for document in documents:
            types = [entity.type for entity in document.entities]
            kinds = Counter(types)
            for head, heads in kinds.items():
                for tail, tails in kinds.items():
                    pairs[head, tail] += heads * (tails - (head == tail))
            noted.update((types[head], types[tail], relation) for head, tail, relation in document.labels)
        return cls(pairs, noted)

    def rate(self, document: Document, fact: Triple) -> float:
        """The share of pairs of this pair's types that is noted with the relation."""
        head, tail, relation = fact
        types = document.entities[head].type, document.entities[tail].type
        return self.noted.get((*types, relation), 0) / max(self.pairs.get(types, 0), 1)


def mine(
    documents: Sequence[Document], noted_share: Mapping[str, float], limits: MiningLimits | None = None
) -> RuleSet:
    """Rules that the noted facts of documents speak for, the surest first.

    Args:
        documents: with their noted facts.
        noted_share: of the true facts of a relation, the share that was noted, as `noted_shares` reads it off
            priors; 1 where it is not given.
        limits: what a rule must have.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> rules = mine(list(generate_documents(40)), {})
        >>> "works_for(h, k) & based_in(k, t) -> works_in(h, t)" in map(str, rules)
        True
    """
    limits = limits or MiningLimits()
    constraints = Constraints.of(documents, noted_share)
    rules = [
        rule
        for (body, conclusion), counts in count(documents, constraints, limits.support).items()
        if (rule := corrected(body, conclusion, counts, noted_share.get(conclusion, 1.0), limits)).low
        >= limits.confidence
        and counts.lift >= limits.lift
    ]
    return RuleSet((), constraints).kept(rules)


def noted_shares(priors: Priors) -> dict[str, float]:
    """Of the true facts of each relation the share that was noted: labelled over overall prior.

    Example:
        >>> noted_shares(Priors(("spouse", "child"), (0.01, 0.0), (0.04, 0.0)))
        {'spouse': 0.25, 'child': 1.0}
    """
    columns = zip(priors.relations, priors.labelled, priors.overall, strict=True)
    return {relation: labelled / overall if labelled else 1.0 for relation, labelled, overall in columns}


def corrected(
    body: RuleBody, conclusion: str, counts: RuleCounts, noted_share: float, limits: MiningLimits
) -> Rule:
    """The rule with its confidence corrected for facts that were not noted."""
    return Rule(
        body,
        conclusion,
        min(1.0, counts.noted.share / noted_share),
        min(1.0, counts.noted.low(limits.deviations) / noted_share),
        round(counts.noted.hits),
        counts.noted.pairs,
        counts.lift,
    )


def count(documents: Sequence[Document], constraints: Constraints, support: int) -> dict[Shape, RuleCounts]:
    """Count every rule that has some support; pairs that a rule may not conclude on are not counted."""
    candidates: dict[RuleBody, list[str]] = defaultdict(list)
    for (body, conclusion), hits in supports(documents).items():
        if hits >= support:
            candidates[body].append(conclusion)
    rates = TypeRates.of(documents)
    counted: dict[Shape, RuleCounts] = defaultdict(RuleCounts)
    for document in documents:
        labels = document.labels
        for body, ways in matches(labels).items():
            for conclusion in candidates.get(body, ()):
                facts = proposals(document, ways, conclusion, constraints)
                if facts:
                    counts = counted[body, conclusion]
                    counts.noted.add(len(facts), sum(fact in labels for fact in facts))
                    counts.expected += sum(rates.rate(document, fact) for fact in facts)
    return dict(counted)


def supports(documents: Iterable[Document]) -> Counter[Shape]:
    """For how many pairs each body and conclusion are both noted."""
    found: Counter[Shape] = Counter()
    for document in documents:
        relations: dict[Pair, list[str]] = defaultdict(list)
        for head, tail, relation in document.labels:
            relations[head, tail].append(relation)
        found.update(
            (body, conclusion)
            for body, ways in matches(document.labels).items()
            for pair in ways
            for conclusion in relations.get(pair, ())
            if not body.says(conclusion)
        )
    return found


def proposals(
    document: Document, pairs: Iterable[Pair], conclusion: str, constraints: Constraints
) -> list[Triple]:
    """The facts that a rule speaks of: those that are noted, and those that constraints would let it add."""
    labels = document.labels
    taken = {(head, relation) for head, _, relation in labels}
    return list(_allowed(document, pairs, conclusion, constraints, labels, taken))


def _allowed(
    document: Document, pairs: Iterable[Pair], conclusion: str, constraints: Constraints,
    labels: frozenset[Triple], taken: set[tuple[int, str]],
) -> Iterator[Triple]:  # fmt: skip
    for head, tail in pairs:
        fact = head, tail, conclusion
        if fact in labels or constraints.allow(document, fact, taken):
            yield fact
