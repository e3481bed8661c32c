"""Extract and score in one go: the figures of a model, and its curve beyond what it states."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation.benchmarks import DOCRED, Benchmark
from unnoted.evaluation.curve import Curve, precision_recall_curve
from unnoted.evaluation.figures import Evaluation, evaluate
from unnoted.evaluation.gold import Gold, Key
from unnoted.evaluation.reliability import Reliability
from unnoted.inference import Extractor
from unnoted.inference.scoring import Asked, ScoredPairs

FLOOR = 0.01
"""From which probability on facts that a model does not state are in the curve, and in its reliability."""


def evaluate_extractor(
    extractor: Extractor,
    gold: Sequence[Document],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = DOCRED,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: float | None = None,
    target_precision: float | None = None,
    target_recall: float | None = None,
    told: Callable[[int], None] = lambda documents: None,
) -> Evaluation:
    """Score a model on documents with all their facts.

    Args:
        extractor: with the model.
        gold: the documents.
        train: the training documents in use, for Ign F1.
        benchmark: how the figures are reported.
        frequent: how many of the most frequent relations to score apart, or which relations.
        vocabulary: the relations that exist; by default those of gold and train.
        threshold: state the facts of at least this confidence, instead of by the model's rule.
        target_precision: state facts by the line that is expected to have this precision.
        target_recall: the same with a recall.
        told: is given the number of documents that are done.
    """
    ranking = _Ranking(extractor.model.relations.ids, Gold.of(gold).facts)
    asked = Asked(threshold=threshold, target_precision=target_precision, target_recall=target_recall)

    def claims() -> Iterator[Prediction]:
        # A generator, so that gold and train are read, and their faults found, before the long work.
        extracted = extractor.extract(gold, **asked, seen=ranking.add)
        for number, extraction in enumerate(extracted, start=1):
            yield from extraction.predictions()
            told(number)

    evaluation = evaluate(
        gold, claims(), train, benchmark=benchmark, frequent=frequent, vocabulary=vocabulary
    )
    return replace(evaluation, curve=ranking.curve(), reliability=ranking.reliability())


class _Ranking:
    """The confidences that are in the curve, and which of them are of true facts.

    Confidences order facts without ties, also across relations; probabilities only say which are kept. As
    arrays: a model that was hardly trained may give a few hundredths to every relation of every pair.
    """

    def __init__(self, relations: Sequence[str], facts: Collection[Key]) -> None:
        self._relations = {relation: number for number, relation in enumerate(relations)}
        self._facts: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for document, head, tail, relation in facts:
            self._facts[document].append((head, tail, relation))
        self._gold = len(facts)
        self._scores: list[NDArray[np.floating[Any]]] = []
        self._probabilities: list[NDArray[np.floating[Any]]] = []
        self._decided: list[NDArray[np.bool_]] = []
        self._correct: list[NDArray[np.bool_]] = []

    def add(self, scored: ScoredPairs) -> None:
        """Take in a document."""
        rows = {pair: row for row, pair in enumerate(zip(scored.head, scored.tail, strict=True))}
        true = np.zeros_like(scored.decided)  # [P, K]
        for head, tail, relation in self._facts.get(scored.document.id, ()):
            row, number = rows.get((head, tail)), self._relations.get(relation)
            if row is not None and number is not None:
                true[row, number] = True
        kept = scored.decided | (scored.probability >= FLOOR)
        self._scores.append(scored.confidence[kept])
        if scored.calibrated:
            self._probabilities.append(scored.probability[kept])
            self._decided.append(scored.decided[kept])
        self._correct.append(true[kept])

    def curve(self) -> Curve:
        """The curve over all documents."""
        if not self._scores:
            return precision_recall_curve([], [], self._gold)
        return precision_recall_curve(np.concatenate(self._scores), np.concatenate(self._correct), self._gold)

    def reliability(self) -> dict[str, Reliability] | None:
        """Of what is stated, and of all facts of at least `FLOOR`; None without calibrated probabilities."""
        if not self._probabilities:
            return None
        each = (self._probabilities, self._correct, self._decided)
        probability, correct, decided = (np.concatenate(part) for part in each)
        likely = probability >= FLOOR
        return {
            "stated": Reliability.of(probability[decided], correct[decided]),
            f"probability at least {FLOOR:g}": Reliability.of(probability[likely], correct[likely]),
        }
