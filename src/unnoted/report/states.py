"""What became of each fact: labelled, hidden and found, hidden and missed, or stated but wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from unnoted.documents.schema import Document, Fact, Triple
from unnoted.extraction import Extraction


class State(Enum):
    """What became of a fact: a symbol, a title, and what it means. In the order of reading."""

    LABELLED = "●", "Labelled", "true, and known in training"
    FOUND = "✓", "Hidden, found", "true, hidden in training, stated by at least one method"
    MISSED = "○", "Hidden, missed", "true, hidden in training, stated by no method"
    WRONG = "✗", "Stated, but wrong", "stated by at least one method, not true"

    @property
    def symbol(self) -> str:
        """One character for it."""
        return self.value[0]

    @property
    def title(self) -> str:
        """A few words for it."""
        return self.value[1]

    @property
    def meaning(self) -> str:
        """What it says about a fact."""
        return self.value[2]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one method says of one fact.

    Attributes:
        stated: whether the method states it.
        probability: that the method gives it; None where the method does not list the fact.
    """

    stated: bool
    probability: float | None


NOT_LISTED = Verdict(stated=False, probability=None)


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact, what became of it, and what each method says of it.

    Attributes:
        triple: head, tail and relation.
        state: what became of it.
        evidence: the sentences that support it; of a wrong fact, those that a method looked at.
        verdicts: what each method says, by its title.
    """

    triple: Triple
    state: State
    evidence: tuple[int, ...]
    verdicts: Mapping[str, Verdict]


def judge(
    document: Document, hidden: Iterable[Fact], extractions: Mapping[str, Extraction]
) -> tuple[JudgedFact, ...]:
    """Every fact that is true or stated, in the order of the states; wrong ones from the most probable down.

    Args:
        document: with its labelled facts.
        hidden: the true facts that are not labelled.
        extractions: what each method found in the document, by the method's title.

    Example:
        >>> from unnoted.documents.schema import Entity, Mention
        >>> from unnoted.extraction import ExtractedFact
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> document = Document("d", (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "spouse"),))
        >>> stated = Extraction(document, (ExtractedFact(1, 0, "spouse", "spouse", 0.9, 0.1),))
        >>> [fact.state.title for fact in judge(document, [Fact(1, 0, "spouse")], {"A": stated})]
        ['Labelled', 'Hidden, found']
    """
    listed = {
        title: {(fact.head, fact.tail, fact.relation): fact for fact in extraction.facts}
        for title, extraction in extractions.items()
    }
    verdicts = {
        title: {triple: Verdict(fact.decided, fact.probability) for triple, fact in facts.items()}
        for title, facts in listed.items()
    }
    labelled = {fact.triple: fact.evidence for fact in document.facts}
    unlabelled = {fact.triple: fact.evidence for fact in hidden if fact.triple not in labelled}
    # A later method's sentences stand where several state the same wrong fact.
    stated = {
        triple: fact.evidence for facts in listed.values() for triple, fact in facts.items() if fact.decided
    }
    judged = [
        JudgedFact(
            triple,
            _state(triple in labelled, triple in unlabelled, triple in stated),
            evidence,
            {title: given.get(triple, NOT_LISTED) for title, given in verdicts.items()},
        )
        for triple, evidence in (stated | unlabelled | labelled).items()
    ]
    return tuple(_ordered(judged, [*labelled, *unlabelled]))


def _state(labelled: bool, hidden: bool, stated: bool) -> State:
    if labelled:
        return State.LABELLED
    if not hidden:
        return State.WRONG
    return State.FOUND if stated else State.MISSED


def _ordered(facts: Sequence[JudgedFact], true: Sequence[Triple]) -> list[JudgedFact]:
    states, places = list(State), {triple: place for place, triple in enumerate(true)}

    def key(fact: JudgedFact) -> tuple[int, int, float, Triple]:
        highest = max((verdict.probability or 0.0 for verdict in fact.verdicts.values()), default=0.0)
        return states.index(fact.state), places.get(fact.triple, 0), -highest, fact.triple

    return sorted(facts, key=key)
