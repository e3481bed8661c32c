"""A fact that somebody should look at, and how many more like it are thought to be missing."""

from dataclasses import dataclass

from unnoted.data.document import Triple


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A fact that somebody should look at.

    Attributes:
        document: the document's id.
        head: the head's index among the document's entities.
        tail: the tail's index.
        relation: the relation's id.
        probability: that the fact holds; None where what judged is not calibrated.
        confidence: orders suggestions; 0.5 is where the model draws its line.
        evidence: the sentences that support it.
        rule: the rule that implies it, as people read it; None if none does.
        labelled: a labelled fact that looks wrong; its probability is still that it holds.
    """

    document: str
    head: int
    tail: int
    relation: str
    probability: float | None
    confidence: float
    evidence: tuple[int, ...] = ()
    rule: str | None = None
    labelled: bool = False

    @property
    def triple(self) -> Triple:
        """Head, tail and relation."""
        return self.head, self.tail, self.relation


@dataclass(frozen=True, slots=True)
class MissingLabels:
    """How many labels of a relation are thought to be missing.

    Attributes:
        relation: the relation's id.
        labelled: how many labels there are.
        missing: how many more facts are thought to hold.
        low: the lower end of the interval of `missing`.
        high: its upper end.
    """

    relation: str
    labelled: int
    missing: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Unlisted:
    """What was judged and did not come onto the list: too improbable, or one too many.

    Attributes:
        candidates: how many unlabelled facts.
        expected: how many of them are thought to hold; None where what judged is not calibrated.
    """

    candidates: int = 0
    expected: float | None = None
