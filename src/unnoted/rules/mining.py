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

from unnoted.data.document import Document, Triple
from unnoted.rules.label_frequency import wilson_low
from unnoted.rules.rules import Body, Premises, Rule, RuleKind, derive, match_bodies

MIN_SUPPORT, MIN_CONFIDENCE, MIN_LIFT = 2, 0.2, 2.0
"""What a proposal must have: pairs with body and conclusion labelled, the lower bound of its confidence, and
how many times as often as among pairs of the same types its conclusion is labelled."""


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

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> found = propose_rules(list(generate_documents(40)), multiplier=1)
        >>> "works_for(h, k) & based_in(k, t) -> works_in(h, t)" in [str(each.rule) for each in found]
        True
    """
    candidates: dict[Body, list[Rule]] = defaultdict(list)
    for rule, support in _count_support(documents).items():
        if support >= MIN_SUPPORT:
            candidates[rule.body].append(rule)
    rates = _type_rates(documents)
    counts: dict[Rule, _Counts] = defaultdict(_Counts)
    for document in documents:
        types = [entity.type for entity in document.entities]
        seen = set[tuple[Triple, Rule]]()
        for triple, rule, premises in derive(document, document.labels, candidates):
            rate = rates.get((types[triple[0]], types[triple[1]], rule.conclusion))
            # Between types that the conclusion is never labelled between, nothing follows.
            if rate is None or (triple, rule) in seen:
                continue
            seen.add((triple, rule))
            found = counts[rule]
            found.pairs += 1
            found.expected += rate
            if triple in document.labels:
                found.labelled += 1
            elif not found.example:
                found.example = _in_words(document, premises, triple, name)
        for rule in {rule for _, rule in seen}:
            counts[rule].documents += 1
    proposed = []
    for rule, found in counts.items():
        share, lift = found.labelled / found.pairs, found.labelled / found.expected
        # Pairs of one document stand or fall together: documents are what the interval counts.
        if wilson_low(share, found.documents) * multiplier >= MIN_CONFIDENCE and lift >= MIN_LIFT:
            confidence, added = min(1.0, share * multiplier), found.pairs - found.labelled
            proposed.append(
                ProposedRule(rule, found.labelled, found.pairs, confidence, lift, added, found.example)
            )
    return sorted(proposed, key=lambda each: (-each.added, str(each.rule)))[:limit]


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


@dataclass(slots=True)
class _Counts:
    """Of a rule: pairs of its body, labelled conclusions, documents, and conclusions expected by types alone."""

    pairs: int = 0
    labelled: int = 0
    documents: int = 0
    expected: float = 0.0
    example: str = ""


def _count_support(documents: Iterable[Document]) -> Counter[Rule]:
    """For how many pairs the body and the conclusion of every possible rule are labelled."""
    supports: Counter[Rule] = Counter()
    for document in documents:
        relations: dict[tuple[int, int], list[str]] = defaultdict(list)
        for head, tail, relation in document.labels:
            relations[head, tail].append(relation)
        supports.update(
            Rule(*body, conclusion)
            for body, pair in {(body, pair) for body, pair, _ in match_bodies(document.labels)}
            for conclusion in relations.get(pair, ())
            if body != (RuleKind.SUBSUMPTION, (conclusion,))
        )
    return supports


def _type_rates(documents: Iterable[Document]) -> dict[tuple[str, str, str], float]:
    """How often each relation is labelled among all ordered pairs of the same types, where it ever is."""
    pairs: Counter[tuple[str, str]] = Counter()
    labelled: Counter[tuple[str, str, str]] = Counter()
    for document in documents:
        types = [entity.type for entity in document.entities]
        counts = Counter(types)
        for head, heads in counts.items():
            for tail, tails in counts.items():
                pairs[head, tail] += heads * (tails - (head == tail))
        labelled.update((types[head], types[tail], relation) for head, tail, relation in document.labels)
    return {key: count / max(pairs[key[:2]], 1) for key, count in labelled.items()}


def _in_words(document: Document, premises: Premises, conclusion: Triple, name: Callable[[str], str]) -> str:
    """A fact with its premises: `Porto | country | Portugal -> Porto | located in | Portugal`."""
    words = [
        " | ".join((document.entities[head].name, name(relation), document.entities[tail].name))
        for head, tail, relation in (*premises, conclusion)
    ]
    return f"{' & '.join(words[:-1])} -> {words[-1]}"
