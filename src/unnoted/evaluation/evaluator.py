"""From gold, predictions and train to every figure that is reported; `evaluate_extractor` extracts and scores."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation.chemdisgene import PublishedScore, published_score
from unnoted.evaluation.curves import Curve, Reliability, precision_recall_curve
from unnoted.evaluation.metrics import (
    Distance,
    Gold,
    IgnScore,
    Key,
    Score,
    TrainOverlap,
    evidence_score,
    most_frequent,
    relation_of,
    scores_by,
    scores_by_distance,
    scores_by_frequency,
    select_relations,
    total,
)

if TYPE_CHECKING:  # torch takes seconds to load, and predictions in a file need none
    from unnoted.inference import Extractor
    from unnoted.inference.scoring import DecisionOptions, ScoredPairs

FLOOR = 0.01
"""From which probability on facts that a model does not predict are in the curve and the reliability."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """How a benchmark is reported.

    Args:
        name: what it is called.
        frequent: how many of the most frequent relations are scored together.
        has_published_denominator: whether its published scores leave out facts (see `chemdisgene`).
    """

    name: str
    frequent: int
    has_published_denominator: bool


PLAIN = Benchmark("plain", frequent=10, has_published_denominator=False)
DOCRED = Benchmark("docred", frequent=10, has_published_denominator=False)
CHEMDISGENE = Benchmark("chemdisgene", frequent=5, has_published_denominator=True)

BENCHMARKS = {benchmark.name: benchmark for benchmark in (PLAIN, DOCRED, CHEMDISGENE)}
"""Every benchmark by name."""


class PredictionError(ValueError):
    """Predictions that cannot be scored as requested."""


class Invalid(Enum):
    """Why a prediction can never be correct. It counts against precision all the same."""

    UNKNOWN_DOCUMENT = "the gold has no document of that title"
    NO_SUCH_ENTITY = "the document has no entity of that index"
    SAME_ENTITY = "head and tail are one entity"
    UNKNOWN_RELATION = "the relation is not in the vocabulary"

    @property
    def slug(self) -> str:
        """Its name in tables and JSON."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class Predictions:
    """Distinct predictions; of one that is repeated the first counts, with its evidence and its score.

    Args:
        by_key: the distinct predictions.
        repeated: how many were left out because an earlier one claims the same fact.
        invalid: those that can never be correct.
    """

    by_key: Mapping[Key, Prediction]
    repeated: int
    invalid: Mapping[Key, Invalid]

    @classmethod
    def collect(
        cls, predictions: Iterable[Prediction], gold: Gold, relations: Collection[str]
    ) -> "Predictions":
        """Index predictions by their facts, and check what they claim.

        Args:
            predictions: as the system gives them.
            gold: the documents they are about.
            relations: the relations that exist.
        """
        distinct: dict[Key, Prediction] = {}
        count = 0
        for prediction in predictions:
            distinct.setdefault(prediction.key, prediction)
            count += 1
        invalid = {
            key: problem
            for key in distinct
            if key not in gold.facts and (problem := _find_problem(key, gold, relations)) is not None
        }
        return cls(distinct, count - len(distinct), invalid)

    def at_least(self, threshold: float) -> "Predictions":
        """The predictions whose score reaches a threshold.

        Raises:
            PredictionError: a prediction has no score.
            ValueError: the threshold is not a number.
        """
        if math.isnan(threshold):
            raise ValueError(f"threshold: {threshold} is not a number")
        if not self.have_scores:
            raise PredictionError("a threshold needs predictions with scores")
        kept = {
            key: prediction
            for key, prediction in self.by_key.items()
            if prediction.score is not None and prediction.score >= threshold
        }
        return Predictions(kept, self.repeated, {k: p for k, p in self.invalid.items() if k in kept})

    @property
    def have_scores(self) -> bool:
        """Whether the predictions have scores.

        Raises:
            PredictionError: some have and some have not.
        """
        scored = sum(prediction.score is not None for prediction in self.by_key.values())
        if 0 < scored < len(self.by_key):
            raise PredictionError(
                f"{scored} of {len(self.by_key)} predictions have a score; give all or none"
            )
        return scored == len(self.by_key)

    @property
    def scores(self) -> list[float]:
        """The score of each prediction that has one."""
        return [prediction.score for prediction in self.by_key.values() if prediction.score is not None]

    def examples(self, problem: Invalid) -> list[Key]:
        """The first predictions with a problem."""
        return [key for key, each in self.invalid.items() if each is problem][:5]

    def to_json(self) -> dict[str, Any]:
        """How many there are, and every kind of invalid ones with its first examples."""
        counts = Counter(self.invalid.values())
        invalid = {
            problem.slug: {
                "meaning": problem.value,
                "count": counts[problem],
                "examples": [list(key) for key in self.examples(problem)],
            }
            for problem in Invalid
            if counts[problem]
        }
        return {"distinct": len(self.by_key), "repeated": self.repeated, "invalid": invalid}


def _find_problem(key: Key, gold: Gold, relations: Collection[str]) -> Invalid | None:
    """Why a prediction can never be correct; None if it could."""
    title, head, tail, relation = key
    document = gold.documents.get(title)
    if document is None:
        return Invalid.UNKNOWN_DOCUMENT
    entities = len(document.entities)
    if not (0 <= head < entities and 0 <= tail < entities):
        return Invalid.NO_SUCH_ENTITY
    if head == tail:
        return Invalid.SAME_ENTITY
    return None if relation in relations else Invalid.UNKNOWN_RELATION


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Every figure of one set of predictions. `print` shows them as a table.

    Args:
        benchmark: how the figures are reported.
        documents: how many gold documents there are.
        predictions: those that were decided on, each once.
        overall: all facts.
        ignoring_train: no credit for facts known from train; None without train.
        evidence: the evidence sentences; None if none was predicted.
        frequent_relations: the relations that are scored together, by default the most frequent.
        frequent: their score.
        relations: the score of each relation, the most frequent of the gold first.
        distances: intra- and cross-sentence.
        train_frequencies: groups of relations by their facts in train; None without train.
        published: over the facts that published systems could reach; None without train or where the
            benchmark has no such figure.
        curve: precision and recall at every threshold; None if predictions have no scores.
        reliability: of the scores of predicted facts, and of more where a model gave them; None if scores are
            not calibrated probabilities.
    """

    benchmark: Benchmark
    documents: int
    predictions: Predictions
    overall: Score
    ignoring_train: IgnScore | None
    evidence: Score | None
    frequent_relations: tuple[str, ...]
    frequent: Score
    relations: Mapping[str, Score]
    distances: Mapping[Distance, Score]
    train_frequencies: Mapping[str, Score] | None
    published: PublishedScore | None
    curve: Curve | None
    reliability: Mapping[str, Reliability] | None = None

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the relations that the gold has, each counting once however frequent it is."""
        present = [score.f1 for score in self.relations.values() if score.gold]
        return sum(present) / len(present) if present else 0.0

    def __str__(self) -> str:
        from unnoted.evaluation.report import format_evaluation

        return format_evaluation(self)

    def to_json(self) -> dict[str, Any]:
        """Everything but the points of the curve, as plain data; fractions, not per cent."""
        return {
            "benchmark": self.benchmark.name,
            "documents": self.documents,
            "predictions": self.predictions.to_json(),
            "overall": self.overall.to_json(),
            "macro_f1": self.macro_f1,
            "ignoring_train": self.ignoring_train.to_json() if self.ignoring_train else None,
            "evidence": self.evidence.to_json() if self.evidence else None,
            "frequent": {"relations": list(self.frequent_relations), **self.frequent.to_json()},
            "distances": _to_json(self.distances),
            "train_frequencies": _to_json(self.train_frequencies),
            "published": self.published.to_json() if self.published else None,
            "curve": self.curve.to_json() if self.curve is not None else None,
            "reliability": _to_json(self.reliability),
            "relations": _to_json(self.relations),
        }


def _to_json(parts: Mapping[Any, Score] | Mapping[str, Reliability] | None) -> dict[str, Any] | None:
    return None if parts is None else {str(name): part.to_json() for name, part in parts.items()}


def evaluate(
    gold: Iterable[Document],
    predictions: Iterable[Prediction],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = PLAIN,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: float | None = None,
    probabilities: bool = False,
) -> Evaluation:
    """Score predictions against gold documents, as the official scorers do.

    Args:
        gold: the documents with their facts.
        predictions: what a system claims; a repeated claim counts once, an impossible one counts as wrong.
        train: the training documents in use, for Ign F1 and scores by frequency in train.
        benchmark: how the figures are reported.
        frequent: how many of the most frequent relations of the gold to score together, or which relations;
            by default as many as the benchmark does.
        vocabulary: the relations that exist; by default those of gold and train.
        threshold: only predictions whose score is at least this are decided on; all are in the curve.
        probabilities: scores are calibrated probabilities, so that their reliability is computed.

    Raises:
        ValueError: gold without a fact or with two documents of one id; scores for a part of the predictions.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> facts = (Fact(0, 1, "spouse"), Fact(1, 0, "spouse"))
        >>> gold = [Document("d", (("Ada", "Bo"),), (ada, bo), facts)]
        >>> evaluation = evaluate(gold, [Prediction("d", 0, 1, "spouse"), Prediction("d", 0, 1, "child")])
        >>> evaluation.overall
        Score(correct=1, predicted=2, gold=2)
    """
    truth = Gold.from_documents(gold)
    overlap = None if train is None else TrainOverlap.from_documents(truth, train)
    seen = truth.relations.keys() | (overlap.relations.keys() if overlap else set())
    known = seen if vocabulary is None else vocabulary
    everything = Predictions.collect(predictions, truth, known)
    decided = everything if threshold is None else everything.at_least(threshold)
    claimed = decided.by_key.keys()
    relations = scores_by(relation_of, claimed, truth.facts)
    often = _frequent_relations(benchmark.frequent if frequent is None else frequent, truth.relations, known)
    overall = Score.count(claimed, truth.facts)
    has_published = overlap is not None and benchmark.has_published_denominator
    return Evaluation(
        benchmark=benchmark,
        documents=len(truth.documents),
        predictions=decided,
        overall=overall,
        ignoring_train=IgnScore(overall, len(claimed & overlap.known)) if overlap else None,
        evidence=evidence_score(decided.by_key, truth),
        frequent_relations=often,
        frequent=total(score for relation, score in relations.items() if relation in often),
        relations=dict(sorted(relations.items(), key=lambda row: (-row[1].gold, row[0]))),
        distances=scores_by_distance(claimed, truth),
        train_frequencies=scores_by_frequency(relations, overlap.relations) if overlap else None,
        published=published_score(claimed, truth, overlap.relations, often)
        if overlap and has_published
        else None,
        curve=_curve(everything, truth),
        reliability=_reliability(decided, truth) if probabilities else None,
    )


def _frequent_relations(
    frequent: int | Sequence[str], counts: Mapping[str, int], known: Collection[str]
) -> tuple[str, ...]:
    if not isinstance(frequent, int):
        return select_relations(frequent, known)
    if frequent < 1:
        raise ValueError(f"the number of frequent relations must be at least 1, not {frequent}")
    return most_frequent(counts, frequent)


def _curve(predictions: Predictions, gold: Gold) -> Curve | None:
    if not predictions.have_scores:
        return None
    correct = [key in gold.facts for key in predictions.by_key]
    return precision_recall_curve(predictions.scores, correct, len(gold.facts))


def _reliability(predictions: Predictions, gold: Gold) -> dict[str, Reliability]:
    scores = predictions.scores
    if not scores or not predictions.have_scores or not all(0 <= score <= 1 for score in scores):
        raise PredictionError("reliability needs predictions whose scores are probabilities, between 0 and 1")
    return {"predicted": Reliability.from_scores(scores, [key in gold.facts for key in predictions.by_key])}


def evaluate_extractor(
    extractor: "Extractor",
    gold: Sequence[Document],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = DOCRED,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: "float | DecisionOptions | None" = None,
    progress: Callable[[int], None] = lambda documents: None,
) -> Evaluation:
    """Extract facts from documents with all their facts, and score them.

    Args:
        extractor: with the model.
        gold: the documents.
        train: the training documents in use, for Ign F1.
        benchmark: how the figures are reported.
        frequent: how many of the most frequent relations to score together, or which relations.
        vocabulary: the relations that exist; by default those of gold and train.
        threshold: as for `Extractor.extract`.
        progress: called with the number of documents that are done.
    """
    ranking = _Ranking(extractor.model.relations.ids, Gold.from_documents(gold).facts)

    def claims() -> Iterator[Prediction]:
        # A generator, so that gold and train are read, and their faults found, before the long work.
        extracted = extractor.extract(gold, threshold=threshold, on_scores=ranking.add)
        for number, extraction in enumerate(extracted, start=1):
            yield from extraction.predictions()
            progress(number)

    evaluation = evaluate(
        gold, claims(), train, benchmark=benchmark, frequent=frequent, vocabulary=vocabulary
    )
    return replace(evaluation, curve=ranking.curve(), reliability=ranking.reliability())


class _Ranking:
    """The scores that are in the curve, and which of them are of true facts.

    Scores order facts without ties, also across relations; probabilities say which are kept. As arrays: a
    model that was hardly trained may give a few hundredths to every relation of every pair.
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

    def add(self, scored: "ScoredPairs") -> None:
        """Take in a document."""
        rows = {pair: row for row, pair in enumerate(zip(scored.head, scored.tail, strict=True))}
        true = np.zeros_like(scored.decided)  # [P, K]
        for head, tail, relation in self._facts.get(scored.document.id, ()):
            row, number = rows.get((head, tail)), self._relations.get(relation)
            if row is not None and number is not None:
                true[row, number] = True
        kept = scored.decided | (scored.probability >= FLOOR)
        self._scores.append(scored.score[kept])
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
        """Of predicted facts, and of all facts of at least `FLOOR`; None without calibrated probabilities."""
        if not self._probabilities:
            return None
        each = (self._probabilities, self._correct, self._decided)
        probability, correct, decided = (np.concatenate(part) for part in each)
        likely = probability >= FLOOR
        return {
            "predicted": Reliability.from_scores(probability[decided], correct[decided]),
            f"score at least {FLOOR:g}": Reliability.from_scores(probability[likely], correct[likely]),
        }
