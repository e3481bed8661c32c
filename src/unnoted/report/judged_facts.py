"""What became of each fact: labelled, hidden and found, hidden and missed, or predicted but wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from unnoted.data.document import Document, Fact, Triple
from unnoted.inference import ExtractedFact, Extraction


class State(Enum):
    """What became of a fact: a symbol, a title, and what it means. In the order of reading."""

    LABELLED = "●", "Labelled", "true, and known in training"
    FOUND = "✓", "Hidden, found", "true, hidden in training, predicted by at least one method"
    MISSED = "○", "Hidden, missed", "true, hidden in training, predicted by no method"
    WRONG = "✗", "Predicted, but wrong", "predicted by at least one method, not true"

    def __init__(self, symbol: str, title: str, meaning: str) -> None:
        self.symbol, self.title, self.meaning = symbol, title, meaning


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact, what became of it, and what each method says of it.

    Attributes:
        triple: head, tail and relation.
        state: what became of it.
        evidence: the sentences that support it; of a wrong fact, those that a method looked at.
        found: by its title, the fact as each method lists it; None where it does not.
    """

    triple: Triple
    state: State
    evidence: tuple[int, ...]
    found: Mapping[str, ExtractedFact | None]


def judge(
    document: Document, hidden: Iterable[Fact], extractions: Mapping[str, Extraction]
) -> tuple[JudgedFact, ...]:
    """Every fact that is true or predicted, by its state; wrong ones from the surest down.

    Args:
        document: with its labelled facts.
        hidden: the true facts that are not labelled.
        extractions: what each method found in the document, by the method's title.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> from unnoted.inference import ExtractedFact
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> document = Document("d", (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "spouse"),))
        >>> found = Extraction(document, (ExtractedFact(1, 0, "spouse", "spouse", 0.9),))
        >>> [fact.state.title for fact in judge(document, [Fact(1, 0, "spouse")], {"A": found})]
        ['Labelled', 'Hidden, found']
    """
    listed = {
        title: {(fact.head, fact.tail, fact.relation): fact for fact in extraction.facts}
        for title, extraction in extractions.items()
    }
    # A later method's sentences stand where several predict the same wrong fact.
    predicted = {
        triple: fact.evidence for facts in listed.values() for triple, fact in facts.items() if fact.decided
    }
    labelled = {fact.triple: fact.evidence for fact in document.facts}
    true = {fact.triple: fact.evidence for fact in hidden} | labelled

    def state(triple: Triple) -> State:
        if triple in labelled:
            return State.LABELLED
        if triple not in true:
            return State.WRONG
        return State.FOUND if triple in predicted else State.MISSED

    def falling(triple: Triple) -> tuple[float, Triple]:
        return -max(facts[triple].score for facts in listed.values() if triple in facts), triple

    wrong = {triple: predicted[triple] for triple in sorted(predicted.keys() - true.keys(), key=falling)}
    judged = [
        JudgedFact(
            triple, state(triple), evidence, {title: facts.get(triple) for title, facts in listed.items()}
        )
        for triple, evidence in (true | wrong).items()
    ]
    return tuple(sorted(judged, key=lambda fact: list(State).index(fact.state)))
