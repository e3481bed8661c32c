"""Rule proposals mined from labels, for a person to confirm.

Labels alone do not tell a rule that always holds from one that often does. Someone who knows what the
relations mean sees it at a glance, with an example. So rules are counted, and put before a person:

    P(s | body) = P(s labelled | body) / c,

where c is the label frequency of the conclusion. A proposal must be right more often than the types of head
and tail alone make it. No proposal is ever applied by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from unnoted.data.document import Document, Triple
from unnoted.rules.label_frequency import wilson_low
from unnoted.rules.rules import Body, Premises, Rule, RuleKind, match_bodies

MIN_SUPPORT, MIN_CONFIDENCE, MIN_LIFT = 2, 0.2, 2.0
"""What a proposal must have: pairs with body and conclusion labelled, the lower bound of its confidence, and
how many times as often as among pairs of the same types its conclusion is labelled."""

Shape: TypeAlias = tuple[Body, str]


@dataclass(frozen=True, slots=True)
class ProposedRule:
    """A rule, its counts among the labels, and what it would add.

    Attributes:
        rule: the rule.
        support: pairs for which body and conclusion are labelled.
        pairs: pairs for which the body is labelled.
        confidence: how often the conclusion holds there, estimated.
        lift: how many times as often the conclusion is labelled as among pairs of the same types.
        added: facts that it would add to the labels.
        example: one of them, in words; empty where there is none.
    """

    rule: Rule
    support: int
    pairs: int
    confidence: float
    lift: float
    added: int
    example: str


def propose_rules(
    documents: Sequence[Document],
    multiplier: float,
    *,
    name: Callable[[str], str] = str,
    limit: int | None = None,
) -> list[ProposedRule]:
    """Rules that labels speak for; those that would add most come first.

    Args:
        documents: with their labels.
        multiplier: true facts for each labelled one.
        name: from the id of a relation to its readable name.
        limit: how many rules to give.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> found = propose_rules(list(generate_documents(40)), multiplier=1)
        >>> "works_for(h, k) & based_in(k, t) -> works_in(h, t)" in [str(each.rule) for each in found]
        True
    """
    found = []
    for (body, conclusion), counts in _count(documents).items():
        share = counts.labelled / counts.pairs
        lift = counts.labelled / counts.expected if counts.expected else 0.0
        if wilson_low(share, counts.documents) * multiplier >= MIN_CONFIDENCE and lift >= MIN_LIFT:
            found.append(
                ProposedRule(
                    Rule(*body, conclusion),
                    counts.labelled,
                    counts.pairs,
                    min(1.0, share * multiplier),
                    lift,
                    counts.pairs - counts.labelled,
                    _in_words(*counts.example, name) if counts.example else "",
                )
            )
    return sorted(found, key=lambda each: (-each.added, str(each.rule)))[:limit]


def proposals_text(found: Sequence[ProposedRule], name: Callable[[str], str] = str) -> str:
    """Proposals as a file in which a person removes the # of those that always hold.

    Example:
        >>> rule = Rule(RuleKind.INVERSION, ("spouse",), "spouse")
        >>> print(proposals_text([ProposedRule(rule, 4, 9, 0.9, 8.0, 2, "Bo | spouse | Al -> ...")]))
        # Remove the first # of every rule that always holds; `--rules FILE` applies them.
        <BLANKLINE>
        # spouse(t, h) -> spouse(h, t)  # 4 of 9 labelled, would add 2: Bo | spouse | Al -> ...
        <BLANKLINE>
    """
    lines = ["# Remove the first # of every rule that always holds; `--rules FILE` applies them.", ""]
    for each in found:
        comment = f"{each.support:,} of {each.pairs:,} labelled, would add {each.added:,}: {each.example}"
        lines.append(f"# {each.rule.to_text(name)}  # {comment}")
    return "\n".join((*lines, ""))


class _TypeRates:
    """How often each relation is labelled among all ordered pairs of the same types."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.labelled: Counter[tuple[str, str, str]] = Counter()
        for document in documents:
            types = [entity.type for entity in document.entities]
            counts = Counter(types)
            for head, heads in counts.items():
                for tail, tails in counts.items():
                    self.pairs[head, tail] += heads * (tails - (head == tail))
            self.labelled.update(
                (types[head], types[tail], relation) for head, tail, relation in document.labels
            )

    def rate(self, document: Document, fact: Triple) -> float:
        types = _pair_types(document, fact)
        return self.labelled[*types, fact[2]] / max(self.pairs[types], 1)


def _pair_types(document: Document, fact: Triple) -> tuple[str, str]:
    return document.entities[fact[0]].type, document.entities[fact[1]].type


@dataclass(slots=True)
class _Counts:
    """Of a rule: pairs of its body, labelled conclusions, documents, and conclusions expected by types alone."""

    pairs: int = 0
    labelled: int = 0
    documents: int = 0
    expected: float = 0.0
    example: tuple[Document, Premises, Triple] | None = None


def _count(documents: Sequence[Document]) -> dict[Shape, _Counts]:
    """Count every rule with support.

    Pairs of types that the conclusion is never labelled between are not counted, nor are known negatives.
    Pairs of one document stand or fall together, so that documents, not pairs, are what an interval counts.
    """
    rates = _TypeRates(documents)
    supports: Counter[Shape] = Counter()
    for document in documents:
        relations: dict[tuple[int, int], list[str]] = defaultdict(list)
        for head, tail, relation in document.labels:
            relations[head, tail].append(relation)
        supports.update(
            (body, conclusion)
            for body, pair in {(body, pair) for body, pair, _ in match_bodies(document.labels)}
            for conclusion in relations.get(pair, ())
            if body != (RuleKind.SUBSUMPTION, (conclusion,))
        )
    conclusions: dict[Body, list[str]] = defaultdict(list)
    for (body, conclusion), support in supports.items():
        if support >= MIN_SUPPORT:
            conclusions[body].append(conclusion)
    counts: dict[Shape, _Counts] = defaultdict(_Counts)
    for document in documents:
        labels, negatives = document.labels, frozenset(document.negatives)
        ways = {(body, pair): premises for body, pair, premises in match_bodies(labels)}
        here = set[Shape]()
        for (body, (head, tail)), premises in ways.items():
            for conclusion in conclusions.get(body, ()):
                fact = head, tail, conclusion
                rate = rates.rate(document, fact)
                if head == tail or fact in negatives or not rate:
                    continue
                found = counts[body, conclusion]
                found.pairs += 1
                found.labelled += fact in labels
                found.documents += (body, conclusion) not in here
                found.expected += rate
                if fact not in labels and found.example is None:
                    found.example = document, premises, fact
                here.add((body, conclusion))
    return dict(counts)


def _in_words(document: Document, premises: Premises, conclusion: Triple, name: Callable[[str], str]) -> str:
    """A fact with its premises: `Porto | country | Portugal -> Porto | located in | Portugal`."""
    words = [
        " | ".join((document.entities[head].name, name(relation), document.entities[tail].name))
        for head, tail, relation in (*premises, conclusion)
    ]
    return f"{' & '.join(words[:-1])} -> {words[-1]}"
