"""Extract and score in one go: the figures of a model, and its curve beyond what it states."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from unnoted.documents.readers.predictions import Prediction
from unnoted.documents.schema import Document
from unnoted.evaluation.benchmarks import DOCRED, Benchmark
from unnoted.evaluation.curve import precision_recall_curve
from unnoted.evaluation.evaluate import Evaluation, evaluate
from unnoted.evaluation.gold import Gold
from unnoted.extraction import Extractor

FLOOR = 0.01
"""From which probability on facts that a model does not state are in the curve: below, there are millions."""


def evaluate_extractor(
    extractor: Extractor,
    gold: Sequence[Document],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = DOCRED,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: float | None = None,
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
        threshold: state the facts of at least this probability, instead of by the model's rule.
        told: is given the number of documents that are done.
    """
    considered: list[Prediction] = []

    def claims() -> Iterator[Prediction]:
        # A generator, so that gold and train are read, and their faults found, before the long work.
        extracted = extractor.extract(gold, threshold=threshold, floor=FLOOR)
        for number, extraction in enumerate(extracted, start=1):
            for fact, prediction in zip(extraction.facts, extraction.predictions(), strict=True):
                considered.append(prediction)
                if fact.decided:
                    yield prediction
            told(number)

    evaluation = evaluate(
        gold, claims(), train, benchmark=benchmark, frequent=frequent, vocabulary=vocabulary
    )
    facts = Gold.of(gold).facts
    scores = [prediction.score for prediction in considered if prediction.score is not None]
    correct = [prediction.key in facts for prediction in considered]
    return replace(evaluation, curve=precision_recall_curve(scores, correct, len(facts)))
