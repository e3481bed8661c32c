"""What became of each fact: labelled, hidden and found, hidden and missed, or predicted but wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from unnoted.documents.schema import Document, Fact, Triple
from unnoted.extraction import ExtractedFact, Extraction


class State(Enum):
    """What became of a fact: a symbol, a title, and what it means. In the order of reading."""

    LABELLED = "●", "Labelled", "true, and known in training"
    FOUND = "✓", "Hidden, found", "true, hidden in training, predicted by at least one method"
    MISSED = "○", "Hidden, missed", "true, hidden in training, predicted by no method"
    WRONG = "✗", "Predicted, but wrong", "predicted by at least one method, not true"

    def __init__(self, symbol: str, title: str, meaning: str) -> None:
        self.symbol, self.title, self.meaning = symbol, title, meaning


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one method says of one fact; no probability where the method does not list the fact."""

    predicted: bool = False
    probability: float | None = None

    def shown(self, state: State) -> str:
        """A tick if predicted and true, a cross if predicted and wrong; in brackets if not predicted.

        Example:
            >>> Verdict(True, 0.934).shown(State.FOUND), Verdict(False, 0.21).shown(State.FOUND)
            ('✓ 0.93', '(0.21)')
        """
        if self.probability is None:
            return "–"
        # Never rounded up to certainty.
        written = f"{min(self.probability, 0.99) if self.probability < 1 else 1:.2f}"
        symbol = State.WRONG.symbol if state is State.WRONG else State.FOUND.symbol
        return f"{symbol} {written}" if self.predicted else f"({written})"


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
    """Every fact that is true or predicted, by its state; wrong ones from the most probable down.

    Args:
        document: with its labelled facts.
        hidden: the true facts that are not labelled.
        extractions: what each method found in the document, by the method's title.

    Example:
        >>> from unnoted.documents.schema import Entity, Mention
        >>> from unnoted.extraction import ExtractedFact
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> document = Document("d", (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "spouse"),))
        >>> found = Extraction(document, (ExtractedFact(1, 0, "spouse", "spouse", 0.9, 0.1),))
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
    unlabelled = {fact.triple: fact.evidence for fact in hidden if fact.triple not in labelled}

    def falling(triple: Triple) -> tuple[float, Triple]:
        return -max(facts[triple].probability for facts in listed.values() if triple in facts), triple

    by_state: dict[State, Mapping[Triple, tuple[int, ...]]] = {
        State.LABELLED: labelled,
        State.FOUND: {triple: unlabelled[triple] for triple in unlabelled if triple in predicted},
        State.MISSED: {triple: unlabelled[triple] for triple in unlabelled if triple not in predicted},
        State.WRONG: {
            triple: predicted[triple]
            for triple in sorted(predicted.keys() - labelled.keys() - unlabelled.keys(), key=falling)
        },
    }
    return tuple(
        JudgedFact(
            triple, state, evidence, {title: _verdict(facts.get(triple)) for title, facts in listed.items()}
        )
        for state, facts in by_state.items()
        for triple, evidence in facts.items()
    )


def _verdict(fact: ExtractedFact | None) -> Verdict:
    return Verdict() if fact is None else Verdict(fact.decided, fact.probability)
