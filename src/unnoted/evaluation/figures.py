"""From gold, predictions and train to every figure that is reported."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation.benchmarks import PLAIN, Benchmark
from unnoted.evaluation.breakdowns import (
    Distance,
    chosen,
    most_frequent,
    relation_of,
    scores_by,
    scores_by_distance,
    scores_by_frequency,
    total,
)
from unnoted.evaluation.curve import Curve, precision_recall_curve
from unnoted.evaluation.evidence import evidence_score
from unnoted.evaluation.gold import Gold, Key, TrainOverlap
from unnoted.evaluation.published import PublishedScore, published_score
from unnoted.evaluation.reliability import Reliability
from unnoted.evaluation.score import IgnScore, Score
from unnoted.evaluation.submission import Submission
from unnoted.evaluation.table import text_table


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Every figure of one submission. `print` shows them as a table.

    Args:
        benchmark: how the figures are reported.
        documents: how many gold documents there are.
        submission: the predictions that were decided on, each once, with their faults.
        overall: all facts.
        ignoring_train: no credit for facts known from train; None without train.
        evidence: the supporting sentences; None if none was predicted.
        frequent_relations: the relations that are scored together, by default the most frequent.
        frequent: their score.
        relations: the score of each relation, the most frequent of the gold first.
        distances: within and across sentences.
        train_frequencies: groups of relations by their facts in train; None without train.
        published: over the facts that published systems could reach; None without train or where the
            benchmark has no such figure.
        curve: precision and recall at every threshold; None if predictions have no scores.
        reliability: of the probabilities of what is stated, and of more where a model gave it; None if
            predictions have no probabilities.
    """

    benchmark: Benchmark
    documents: int
    submission: Submission
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
        return text_table(self)

    def to_json(self) -> dict[str, Any]:
        """Everything but the points of the curve, as plain data; shares, not per cent."""
        return {
            "benchmark": self.benchmark.name,
            "documents": self.documents,
            "predictions": self.submission.to_json(),
            "overall": self.overall.to_json(),
            "macro_f1": self.macro_f1,
            "ignoring_train": self.ignoring_train.to_json() if self.ignoring_train else None,
            "evidence": self.evidence.to_json() if self.evidence else None,
            "frequent": {"relations": list(self.frequent_relations), **self.frequent.to_json()},
            "distances": _scores(self.distances),
            "train_frequencies": _scores(self.train_frequencies) if self.train_frequencies else None,
            "published": self.published.to_json() if self.published else None,
            "curve": _summary(self.curve) if self.curve is not None else None,
            "reliability": (
                {name: each.to_json() for name, each in self.reliability.items()}
                if self.reliability
                else None
            ),
            "relations": _scores(self.relations),
        }


def evaluate(
    gold: Iterable[Document],
    predictions: Iterable[Prediction],
    train: Iterable[Document] | None = None,
    *,
    benchmark: Benchmark = PLAIN,
    frequent: int | Sequence[str] | None = None,
    vocabulary: Collection[str] | None = None,
    threshold: float | None = None,
) -> Evaluation:
    """Score predictions against gold documents, as the official scorers do.

    Args:
        gold: the documents with their facts.
        predictions: what a system claims; a repeated claim counts once, an impossible one counts as wrong.
        train: the training documents in use, for Ign F1 and all else that asks what train has.
        benchmark: how the figures are reported.
        frequent: how many of the most frequent relations of the gold to score apart, or which relations;
            by default as many as the benchmark does.
        vocabulary: the relations that exist; by default those of gold and train.
        threshold: only predictions whose score is at least this are decided on; all are in the curve.

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
    truth = Gold.of(gold)
    overlap = None if train is None else TrainOverlap.of(truth, train)
    seen = truth.relations.keys() | (overlap.relations.keys() if overlap else set())
    known = seen if vocabulary is None else vocabulary
    everything = Submission.of(predictions, truth, known)
    submission = everything if threshold is None else everything.at_least(threshold)
    claimed = submission.predictions.keys()
    relations = scores_by(relation_of, claimed, truth.facts)
    often = _frequent(benchmark.frequent if frequent is None else frequent, truth.relations, known)
    overall = Score.of(claimed, truth.facts)
    return Evaluation(
        benchmark=benchmark,
        documents=len(truth.documents),
        submission=submission,
        overall=overall,
        ignoring_train=IgnScore(overall, len(claimed & overlap.known)) if overlap else None,
        evidence=evidence_score(submission, truth),
        frequent_relations=often,
        frequent=total(score for relation, score in relations.items() if relation in often),
        relations=dict(sorted(relations.items(), key=lambda row: (-row[1].gold, row[0]))),
        distances=scores_by_distance(claimed, truth),
        train_frequencies=scores_by_frequency(relations, overlap.relations) if overlap else None,
        published=_published(benchmark, claimed, truth, overlap, often),
        curve=_curve(everything, truth),
        reliability=_reliability(submission, truth),
    )


def _published(
    benchmark: Benchmark,
    claimed: Collection[Key],
    truth: Gold,
    overlap: TrainOverlap | None,
    frequent: Collection[str],
) -> PublishedScore | None:
    if overlap is None or not benchmark.has_published_denominator:
        return None
    return published_score(claimed, truth, overlap.relations, frequent)


def _frequent(
    wanted: int | Sequence[str], counts: Mapping[str, int], known: Collection[str]
) -> tuple[str, ...]:
    if not isinstance(wanted, int):
        return chosen(wanted, known)
    if wanted < 1:
        raise ValueError(f"most frequent relations: found {wanted}, expected at least 1")
    return most_frequent(counts, wanted)


def _curve(submission: Submission, gold: Gold) -> Curve | None:
    if not submission.is_scored:
        return None
    scores = [item.score for item in submission.predictions.values() if item.score is not None]
    correct = [key in gold.facts for key in submission.predictions]
    return precision_recall_curve(scores, correct, len(gold.facts))


def _reliability(submission: Submission, gold: Gold) -> dict[str, Reliability] | None:
    said = {key: item.probability for key, item in submission.predictions.items()}
    known = {key: probability for key, probability in said.items() if probability is not None}
    if not known or len(known) < len(said):
        return None
    return {"stated": Reliability.of(list(known.values()), [key in gold.facts for key in known])}


def _scores(scores: Mapping[Any, Score]) -> dict[str, Any]:
    return {str(name): score.to_json() for name, score in scores.items()}


def _summary(curve: Curve) -> dict[str, Any]:
    return {
        "average_precision": curve.average_precision,
        "recall_at_end": curve.end,
        "best": curve.best.to_json() if curve.best else None,
    }
