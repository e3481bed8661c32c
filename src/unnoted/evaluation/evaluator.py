"""From gold, predictions and train to every figure that is reported; `evaluate_extractor` extracts and scores."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation.chemdisgene import PublishedScore, published_score
from unnoted.evaluation.curves import Curve, Reliability, precision_recall_curve
from unnoted.evaluation.incomplete import CorrectedScores, LabelFrequency, Ranking, correct_scores
from unnoted.evaluation.metrics import (
    Distance,
    Gold,
    IgnScore,
    Key,
    Score,
    TrainOverlap,
    evidence_score,
    relation_of,
    scores_by,
    scores_by_distance,
    scores_by_frequency,
    total,
)
from unnoted.progress import show_progress
from unnoted.utils import nearest

if TYPE_CHECKING:  # torch takes seconds to load, and predictions in a file need none
    from unnoted.inference import Extractor
    from unnoted.inference.scoring import DecisionOptions, DocumentScores

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

        Raises:
            PredictionError: some have a score and some have not.
        """
        distinct: dict[Key, Prediction] = {}
        count = 0
        for prediction in predictions:
            distinct.setdefault(prediction.key, prediction)
            count += 1
        scored = sum(prediction.score is not None for prediction in distinct.values())
        if 0 < scored < len(distinct):
            raise PredictionError(f"{scored} of {len(distinct)} predictions have a score; give all or none")
        problems = {key: _find_problem(key, gold, relations) for key in distinct if key not in gold.facts}
        invalid = {key: problem for key, problem in problems.items() if problem is not None}
        return cls(distinct, count - len(distinct), invalid)

    @property
    def scores(self) -> list[float] | None:
        """The score of each prediction; None if they have none."""
        scores = [each.score for each in self.by_key.values() if each.score is not None]
        return scores if len(scores) == len(self.by_key) else None

    def at_least(self, threshold: float) -> "Predictions":
        """The predictions whose score reaches a threshold.

        Raises:
            PredictionError: predictions have no scores.
            ValueError: the threshold is not a number.
        """
        if math.isnan(threshold):
            raise ValueError(f"threshold: {threshold} is not a number")
        if self.scores is None:
            raise PredictionError("a threshold needs predictions with scores")
        kept = {
            key: prediction
            for (key, prediction), score in zip(self.by_key.items(), self.scores, strict=True)
            if score >= threshold
        }
        return Predictions(kept, self.repeated, {k: p for k, p in self.invalid.items() if k in kept})

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
    corrected: CorrectedScores | None = None

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
        figures = ("overall", "ignoring_train", "evidence", "published", "curve", "corrected")
        parts = ("distances", "train_frequencies", "reliability", "relations")
        frequent = {"relations": list(self.frequent_relations), **self.frequent.to_json()}
        found: dict[str, Any] = {
            "benchmark": self.benchmark.name,
            "documents": self.documents,
            "predictions": self.predictions.to_json(),
            "macro_f1": self.macro_f1,
            "frequent": frequent,
        }
        for name in figures:
            figure = getattr(self, name)
            found[name] = None if figure is None else figure.to_json()
        for name in parts:
            each = getattr(self, name)
            found[name] = (
                None if each is None else {str(part): score.to_json() for part, score in each.items()}
            )
        return found


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
    label_frequency: LabelFrequency | None = None,
    checked: tuple[int, int] | None = None,
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
        label_frequency: the share of true facts that the gold has, so that scores are also corrected for the rest.
        checked: as for `correct_scores`.

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
    known = vocabulary
    if known is None:
        known = truth.relations.keys() | (overlap.relations.keys() if overlap else set())
    everything = Predictions.collect(predictions, truth, known)
    decided = everything if threshold is None else everything.at_least(threshold)
    claimed = decided.by_key.keys()
    relations = scores_by(relation_of, claimed, truth.facts)
    often = _frequent_relations(benchmark.frequent if frequent is None else frequent, truth.relations, known)
    overall = Score.count(claimed, truth.facts)
    published = None
    if overlap and benchmark.has_published_denominator:
        published = published_score(claimed, truth, overlap.relations, often)
    curve = None
    if everything.scores is not None:
        correct = [key in truth.facts for key in everything.by_key]
        curve = precision_recall_curve(everything.scores, correct, len(truth.facts))
    reliability = None
    if probabilities:
        if not decided.scores or not all(0 <= score <= 1 for score in decided.scores):
            raise PredictionError(
                "reliability needs predictions whose scores are probabilities, between 0 and 1"
            )
        correct = [key in truth.facts for key in claimed]
        reliability = {"predicted": Reliability.from_scores(decided.scores, correct)}
    corrected = None
    if label_frequency is not None:
        ranking = None
        if everything.scores is not None:
            keys = list(everything.by_key)
            correct = [key in truth.facts for key in keys]
            ranking = Ranking([key[0] for key in keys], [key[3] for key in keys], everything.scores, correct)
        corrected = correct_scores(truth, claimed, label_frequency, ranking=ranking, checked=checked)
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
        published=published,
        curve=curve,
        reliability=reliability,
        corrected=corrected,
    )


def _frequent_relations(
    frequent: int | Sequence[str], counts: Mapping[str, int], known: Collection[str]
) -> tuple[str, ...]:
    """The relations that are scored together: those that a user names, or so many; ties go by name."""
    if isinstance(frequent, int):
        if frequent < 1:
            raise ValueError(f"the number of frequent relations must be at least 1, not {frequent}")
        return tuple(sorted(counts, key=lambda relation: (-counts[relation], relation))[:frequent])
    for relation in frequent:
        if relation not in known:
            raise ValueError(
                f"neither gold nor train has the relation {relation!r}{nearest(relation, known)}"
            )
    return tuple(dict.fromkeys(frequent))


def evaluate_extractor(
    extractor: "Extractor",
    gold: Sequence[Document],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = DOCRED,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: "float | DecisionOptions | None" = None,
    label_frequency: LabelFrequency | None = None,
    checked: tuple[int, int] | None = None,
) -> Evaluation:
    """Extract facts from documents with all their facts, and score them.

    The curve and the reliability are of all facts that the model gives at least `FLOOR`, or predicts.

    Args:
        extractor: with the model.
        gold: the documents.
        train: the training documents in use, for Ign F1.
        benchmark: how the figures are reported.
        frequent: how many of the most frequent relations to score together, or which relations.
        vocabulary: the relations that exist; by default those of gold and train.
        threshold: as for `Extractor.extract`.
        label_frequency: as for `evaluate`.
        checked: as for `correct_scores`.
    """
    truth = Gold.from_documents(gold)
    facts, ids = truth.facts, extractor.model.relations.ids
    relations = {relation: number for number, relation in enumerate(ids)}
    of_document: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for document, head, tail, relation in facts:
        of_document[document].append((head, tail, relation))
    # Score, probability, whether it is decided, whether it is correct, and the relation. As arrays: a model that
    # was hardly trained may give a few hundredths to every relation of every pair.
    kept: list[tuple[NDArray[Any], ...]] = [
        tuple(np.zeros(0, kind) for kind in (float, float, bool, bool, int))
    ]
    titles: list[str] = []  # the document of each

    def keep(scored: "DocumentScores") -> None:
        rows = {pair: row for row, pair in enumerate(zip(scored.head, scored.tail, strict=True))}
        correct = np.zeros_like(scored.decided)  # [P, K]
        for head, tail, relation in of_document[scored.document.id]:
            if (head, tail) in rows and relation in relations:
                correct[rows[head, tail], relations[relation]] = True
        likely = scored.decided | (scored.probability >= FLOOR)
        columns = scored.score, scored.probability, scored.decided, correct
        kept.append((*(column[likely] for column in columns), np.nonzero(likely)[1]))
        titles.extend([scored.document.id] * len(kept[-1][0]))
        progress.advance(scored.document.word_count)

    def claims() -> Iterator[Prediction]:
        # A generator, so that gold and train are read, and their faults found, before the long work.
        extracted = extractor.extract(gold, threshold=threshold, on_scores=keep)
        for extraction in extracted:
            yield from extraction.predictions()

    with show_progress(sum(document.word_count for document in gold), "scoring") as progress:
        evaluation = evaluate(
            gold, claims(), train, benchmark=benchmark, frequent=frequent, vocabulary=vocabulary
        )
    # Scores order facts without ties, also across relations; probabilities say which are kept.
    score, probability, decided, correct, which = map(np.concatenate, zip(*kept, strict=True))
    curve, reliability, corrected = precision_recall_curve(score, correct, len(facts)), None, None
    if extractor.is_calibrated:
        likely = probability >= FLOOR
        reliability = {
            "predicted": Reliability.from_scores(probability[decided], correct[decided]),
            f"score at least {FLOOR:g}": Reliability.from_scores(probability[likely], correct[likely]),
        }
    if label_frequency is not None:
        ranking = Ranking(titles, [ids[number] for number in which.tolist()], score, correct)
        claimed = evaluation.predictions.by_key.keys()
        corrected = correct_scores(truth, claimed, label_frequency, ranking=ranking, checked=checked)
    return replace(evaluation, curve=curve, reliability=reliability, corrected=corrected)
