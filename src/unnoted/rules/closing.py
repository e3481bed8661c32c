"""Closing documents under rules: what follows from their facts, and what it follows from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unnoted.data.document import Document, Fact, Triple
from unnoted.rules.bodies import Matches, Premises, RuleBody, matches
from unnoted.rules.rule import Rule, RuleSet

DEPTH = 2
"""How many rounds of rules are applied unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A fact that a rule brought.

    Attributes:
        fact: with the evidence of its premises.
        rule: that brought it.
        premises: the facts that it rests on, noted or derived.
        confidence: that of the rule times that of the least certain premise; a noted fact has 1.
        round: in which it was added, from 1.
    """

    fact: Fact
    rule: Rule
    premises: Premises
    confidence: float
    round: int


@dataclass(frozen=True, slots=True)
class ClosedDocument:
    """A document with its noted and derived facts, and where the derived ones are from."""

    document: Document
    derived: tuple[Derived, ...] = ()


def close(documents: Iterable[Document], rules: RuleSet, depth: int = DEPTH) -> list[ClosedDocument]:
    """Add what follows by rules, and say how.

    In each round all rules are applied to what is there. Of several ways to a fact, the surest counts; where
    two facts exclude each other, the surer one is added. Noted facts are never changed or taken away, and
    what a person rejected is never added.

    Args:
        documents: with their noted facts.
        rules: with the constraints on their conclusions.
        depth: rounds at most; it ends earlier once nothing follows.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> from unnoted.rules import Constraints, Inverse
        >>> pair = [Entity((Mention(0, i, i + 1, "PER", name),)) for i, name in enumerate(("Ada", "Bo"))]
        >>> document = Document("d", (("Ada", "Bo"),), tuple(pair), (Fact(0, 1, "spouse", (0,)),))
        >>> symmetric = RuleSet((Rule(Inverse("spouse"), "spouse", 0.9),),
        ...                     Constraints({"spouse": frozenset({("PER", "PER")})}))
        >>> (closed,) = close([document], symmetric)
        >>> [(each.fact.triple, each.premises, each.confidence) for each in closed.derived]
        [((1, 0, 'spouse'), ((0, 1, 'spouse'),), 0.9)]
    """
    if depth < 0:
        raise ValueError(f"depth: found {depth}, expected 0 or more rounds")
    by_body: dict[RuleBody, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_body[rule.body].append(rule)
    return [_closed(document, rules, by_body, depth) for document in documents]


def conclusions(
    found: Matches, by_body: dict[RuleBody, list[Rule]]
) -> Iterator[tuple[Triple, Rule, Premises]]:
    """Everything that rules say of matched bodies, each way of saying it; also what is there already."""
    for body in found.keys() & by_body.keys():
        for rule in by_body[body]:
            for (head, tail), ways in found[body].items():
                for premises in ways:
                    yield (head, tail, rule.conclusion), rule, premises


def _closed(
    document: Document, rules: RuleSet, by_body: dict[RuleBody, list[Rule]], depth: int
) -> ClosedDocument:
    facts = {fact.triple: fact for fact in document.facts}
    confidence = dict.fromkeys(facts, 1.0)
    taken = {(head, relation) for head, _, relation in facts}
    rejected = frozenset(document.negatives)
    derived: list[Derived] = []
    for round_ in range(1, depth + 1):
        new = _surest(conclusions(matches(facts), by_body), confidence)
        before = len(derived)
        for triple, (sureness, rule, premises) in sorted(
            new.items(), key=lambda each: (-each[1][0], each[0])
        ):
            if triple not in rejected and rules.constraints.allow(document, triple, taken):
                evidence = {sentence for premise in premises for sentence in facts[premise].evidence}
                fact = Fact(*triple, tuple(sorted(evidence)))
                derived.append(Derived(fact, rule, premises, sureness, round_))
                taken.add((fact.head, fact.relation))
        for each in derived[before:]:
            facts[each.fact.triple], confidence[each.fact.triple] = each.fact, each.confidence
        if len(derived) == before:
            break
    added = (each.fact for each in derived)
    return ClosedDocument(document.with_facts((*document.facts, *added)), tuple(derived))


def _surest(
    said: Iterable[tuple[Triple, Rule, Premises]], confidence: dict[Triple, float]
) -> dict[Triple, tuple[float, Rule, Premises]]:
    """What is not there yet, each fact in its surest way; of equally sure ones the first by name."""
    best: dict[Triple, tuple[float, Rule, Premises]] = {}
    for triple, rule, premises in said:
        if triple in confidence:
            continue
        way = rule.confidence * min(confidence[premise] for premise in premises), rule, premises
        if triple not in best or _order(way) < _order(best[triple]):
            best[triple] = way
    return best


def _order(way: tuple[float, Rule, Premises]) -> tuple[float, str, Premises]:
    sureness, rule, premises = way
    return -sureness, str(rule), premises
