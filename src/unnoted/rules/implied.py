"""How complete labels are, told by rules: of the facts that follow from noted ones, how many were noted?

If a rule always holds, every fact that follows from a noted one is true. The share of these that was noted is
a sample of c, the share of all true facts that were noted: no model is needed for it, and nobody has to say
how incomplete the labels are. It takes it that annotators note what follows from a noted fact as often as any
other true fact.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from unnoted.data.document import Document, Triple
from unnoted.rules.bodies import matches
from unnoted.rules.bounds import DocumentShare
from unnoted.rules.rule import RuleSet


@dataclass(frozen=True, slots=True)
class ImpliedFacts:
    """Facts that follow from noted ones.

    Attributes:
        implied: how many there are.
        noted: how many of these were noted.
        low: the lower end of a 90 % interval of their share, over documents.
        high: its upper end.

    Example:
        >>> found = ImpliedFacts(implied=59, noted=19, low=0.25, high=0.4)
        >>> found.multiplier, found.interval
        (3.0, (2.5, 4.0))
    """

    implied: int
    noted: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of the facts that follow, the share that was noted; 1 if nothing follows."""
        return self.noted / self.implied if self.implied else 1.0

    @property
    def multiplier(self) -> float:
        """True facts for each noted one; one more of both is counted, so that a few say nothing wild."""
        return (self.implied + 1) / (self.noted + 1)

    @property
    def interval(self) -> tuple[float, float]:
        """90 % of the multiplier, as far as annotators note what follows like any other fact."""
        return 1 / self.high, 1 / self.low if self.low else math.inf


def implied_facts(documents: Iterable[Document], rules: RuleSet) -> ImpliedFacts:
    """Count what follows from the noted facts of documents, in one step.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> from unnoted.rules.written import written_rules
        >>> entities = [Entity((Mention(0, i, i + 1, "PER", name),)) for i, name in enumerate("abc")]
        >>> noted = (Fact(0, 1, "spouse"), Fact(1, 0, "spouse"), Fact(0, 2, "spouse"))
        >>> document = Document("d", (("a", "b", "c"),), tuple(entities), noted)
        >>> found = implied_facts([document], written_rules("spouse(t, h) -> spouse(h, t)"))
        >>> found.implied, found.noted
        (3, 2)
    """
    counted = DocumentShare()
    for document in documents:
        implied = _implied(document, rules)
        if implied:
            counted.add(len(implied), len(implied & document.labels))
    return ImpliedFacts(counted.pairs, int(counted.hits), counted.low(), counted.high())


def _implied(document: Document, rules: RuleSet) -> set[Triple]:
    labels = document.labels
    found = matches(labels)
    return {
        (head, tail, rule.conclusion)
        for rule in rules
        for head, tail in found.get(rule.body, {})
        if (head, tail, rule.conclusion) in labels
        or rules.constraints.types_allow(document, (head, tail, rule.conclusion))
    }
