"""From judged pairs to a list: what is probable and not labelled, and what is labelled and looks wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document, Triple
from unnoted.inference.scoring import supporting_sentences
from unnoted.rules import RuleSet, close
from unnoted.suggestions.judged import JudgedPairs
from unnoted.suggestions.suggestion import Suggestion, Unlisted


@dataclass(frozen=True, slots=True)
class ListLimits:
    """What comes onto the list.

    Attributes:
        at_least: the lowest probability; without a calibration, the lowest confidence.
        most: suggestions at most; the most probable ones are kept.
        doubtful: labelled facts that look wrong, at most: those of the lowest probability.
    """

    at_least: float = 0.01
    most: int = 200_000
    doubtful: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.at_least <= 1:
            raise ValueError(f"at_least: found {self.at_least}, expected a probability from 0 to 1")
        if self.most < 1 or self.doubtful < 0:
            raise ValueError(f"found a list of {self.most} and {self.doubtful}, expected at least one")


@dataclass(frozen=True, slots=True)
class RuleTrace:
    """The rule that implies a fact, as people read it, and the sentences that its premises were noted in."""

    line: str
    evidence: tuple[int, ...]


def list_suggestions(
    judged: JudgedPairs,
    documents: Mapping[str, Document],
    limits: ListLimits,
    rules: RuleSet | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[tuple[Suggestion, ...], Unlisted]:
    """The list, best first, with doubtful labels after it; and what did not come onto it.

    Args:
        judged: what was said of the pairs.
        documents: by id. What they say does not hold is not suggested again.
        limits: what comes onto the list.
        rules: those that are named where they imply a suggestion.
        names: readable names of relations, for the rules.
    """
    scores, probable = judged.scores, judged.if_unlabelled()
    ranked = judged.confidence if probable is None else probable
    open_ = ~scores.labelled
    for row, column in _rejected(judged, documents):
        open_[row, column] = False
    candidates = np.flatnonzero(open_.ravel() & (ranked.ravel() >= limits.at_least))
    # The confidence decides between equals, such as probabilities that are all 0.
    keys = -judged.confidence.ravel()[candidates], -ranked.ravel()[candidates]
    chosen = candidates[np.lexsort(keys)][: limits.most]
    traces = _traces(documents, rules, names or {})
    build = _Builder(judged, documents, traces)
    listed = [build.suggestion(index, probable, False) for index in chosen.tolist()]
    doubtful = _doubtful(judged, limits.doubtful)
    listed += [build.suggestion(index, judged.probability, True) for index in doubtful]
    total = None
    if probable is not None:
        total = float(probable[open_].sum(dtype=np.float64) - probable.ravel()[chosen].sum(dtype=np.float64))
    return tuple(listed), Unlisted(int(open_.sum()) - len(chosen), None if total is None else max(total, 0.0))


def _doubtful(judged: JudgedPairs, most: int) -> list[int]:
    """The labelled facts of the lowest confidence below the line, the lowest first."""
    labelled = np.flatnonzero(judged.scores.labelled.ravel())
    confidence = judged.confidence.ravel()[labelled]
    order = np.argsort(confidence, kind="stable")[:most]
    found: list[int] = labelled[order[confidence[order] < 0.5]].tolist()
    return found


def _rejected(judged: JudgedPairs, documents: Mapping[str, Document]) -> Iterator[tuple[int, int]]:
    """Row and column of each fact that a person said does not hold."""
    scores = judged.scores
    numbers = {name: number for number, name in enumerate(scores.documents)}
    columns = {relation: column for column, relation in enumerate(scores.relations)}
    wanted = [
        (numbers[name], triple)
        for name, document in documents.items()
        for triple in document.negatives
        if name in numbers and triple[2] in columns
    ]
    if not wanted:
        return
    of = np.isin(scores.document, [number for number, _ in wanted])
    pairs = np.stack([scores.document, scores.head, scores.tail], 1)
    rows = {tuple(pairs[row].tolist()): int(row) for row in np.flatnonzero(of)}
    for number, (head, tail, relation) in wanted:
        if (number, head, tail) in rows:
            yield rows[number, head, tail], columns[relation]


def _traces(
    documents: Mapping[str, Document], rules: RuleSet | None, names: Mapping[str, str]
) -> dict[tuple[str, Triple], RuleTrace]:
    """What follows from noted facts, and by which rule."""
    if not rules:
        return {}
    return {
        (closed.document.id, derived.fact.triple): RuleTrace(
            derived.rule.line(lambda relation: names.get(relation, relation)), derived.fact.evidence
        )
        for closed in close(documents.values(), rules)
        for derived in closed.derived
    }


class _Builder:
    """Makes suggestions of positions in the arrays."""

    def __init__(
        self,
        judged: JudgedPairs,
        documents: Mapping[str, Document],
        traces: Mapping[tuple[str, Triple], RuleTrace],
    ) -> None:
        self.judged, self.documents, self.traces = judged, documents, traces
        self.evidence: dict[int, tuple[int, ...]] = {}

    def suggestion(self, index: int, probability: NDArray[np.float32] | None, labelled: bool) -> Suggestion:
        scores = self.judged.scores
        row, column = divmod(index, len(scores.relations))
        name = scores.documents[scores.document[row]]
        triple = int(scores.head[row]), int(scores.tail[row]), scores.relations[column]
        trace = None if labelled else self.traces.get((name, triple))
        evidence = self._evidence(row, self.documents[name], *triple[:2])
        return Suggestion(
            name,
            *triple,
            None if probability is None else round(float(probability[row, column]), 6),
            round(float(self.judged.confidence[row, column]), 6),
            evidence if trace is None or not trace.evidence else trace.evidence,
            None if trace is None else trace.line,
            labelled,
        )

    def _evidence(self, row: int, document: Document, head: int, tail: int) -> tuple[int, ...]:
        if row not in self.evidence:
            self.evidence[row] = mentioning_sentences(document, head, tail)
        return self.evidence[row]


def mentioning_sentences(document: Document, head: int, tail: int) -> tuple[int, ...]:
    """The sentences to look at: those that mention both, else those that mention them most.

    Out-of-fold models are gone when the list is made, so that their attention is not asked.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> ada, bo = (Entity((Mention(sentence, 0, 1, "PER", "x"),)) for sentence in (0, 1))
        >>> mentioning_sentences(Document("d", (("x",), ("x",)), (ada, bo)), 0, 1)
        (0, 1)
    """
    entities = document.entities[head], document.entities[tail]
    shares = np.zeros(len(document.sentences))
    for entity in entities:
        for mention in entity.mentions:
            shares[mention.sentence] += 1 / len(entity.mentions)
    return supporting_sentences(*entities, shares)
