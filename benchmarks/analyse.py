"""What finished runs say where all facts are known: held-out ranking, calibration, suggestions, completeness.

The truth is that of `train_revised.json`, for the documents of `train_annotated.json` that are in both. Scores
are out of fold, as `best` keeps them in a run's folder.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted import suggest
from unnoted.calibration import OutOfFoldScores, TargetUnreachableError, fit_calibration
from unnoted.data import Document, Entity, load_documents
from unnoted.data.compare import LabellingComparison, match_entities
from unnoted.data.document import Triple
from unnoted.data.hide_labels import PopularityBiasedLabelDropout, UniformLabelDropout, hide_labels
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import LabelFrequency, Reliability, Score, correct_scores, precision_recall_curve
from unnoted.evaluation.incomplete import Ranking
from unnoted.evaluation.metrics import Gold, Key
from unnoted.inference import DecisionOptions, Extractor
from unnoted.priors import Priors
from unnoted.suggestions import (
    BelowCutoff,
    Order,
    ReviewDecision,
    SuggestionSet,
    estimate_completeness,
)

Row = dict[str, Any]
Truth = dict[str, frozenset[Triple]]
"""All facts of documents, by document, in the entities of the incomplete labels."""

FIRST = (100, 200, 500, 1000)
SLOPES = (None, 0.0, 0.4, 0.8)
TARGETS = (0.5, 0.7, 0.8, 0.9)
REVIEWS, DECISIONS = 200, (50, 200, 500)
PREDICTED = (2_000, 5_000, 10_000, 20_000)
CHECKS = 200
LEVELS = (0.1, 0.2, 0.36, 0.5, 0.8)


@cache
def read_truth(data: Path) -> Truth:
    """The complete labels of the training documents that have them.

    Entities are matched one to one by their mentions where that is possible. Where the complete labels merge
    or split entities, a fact holds between all entities that share a mention with those it is labelled with.
    """
    folder = data / "data" / "docred"
    complete = {document.id: document for document in load_documents(folder / "train_revised.json")}
    truth = {}
    for document in load_documents(folder / "train_annotated.json"):
        other = complete.get(document.id)
        if other is not None and other.sentences == document.sentences:
            own = _matches(document, other)
            truth[document.id] = frozenset(
                (head, tail, relation)
                for h, t, relation in other.labels
                for head in own[h]
                for tail in own[t]
                if head != tail
            )
    return truth


def _matches(document: Document, other: Document) -> dict[int, list[int]]:
    """The entities of a document that each entity of the other labelling stands for."""
    mapping = match_entities(document, other)
    own: dict[int, list[int]] = {index: [] for index in range(len(other.entities))}
    for index, entity in enumerate(document.entities):
        for theirs, candidate in enumerate(other.entities):
            if mapping[index] == theirs if mapping is not None else _share_a_mention(entity, candidate):
                own[theirs].append(index)
    return own


def _share_a_mention(entity: Entity, other: Entity) -> bool:
    return bool({mention.span for mention in entity.mentions} & {mention.span for mention in other.mentions})


def _load_scores(run: Path) -> OutOfFoldScores:
    return OutOfFoldScores.load(run / "folds" / "scores.npz")


def _known_pairs(scores: OutOfFoldScores, truth: Truth) -> NDArray[np.bool_]:
    """Which pairs are of documents whose truth is known, bool [P]."""
    known = [number for number, name in enumerate(scores.documents) if name in truth]
    return np.isin(scores.document, known)


def held_out(run: Path, data: Path, multiplier: float) -> list[Row]:
    """Average precision and the best F1 of one threshold, on the labels and on all facts."""
    scores, truth = _load_scores(run), read_truth(data)
    known = _known_pairs(scores, truth)
    rows = []
    for name, correct in (
        ("labels", scores.labelled[known]),
        ("all facts", scores.relabelled(truth).labelled[known]),
    ):
        curve = precision_recall_curve(scores.margin[known].ravel(), correct.ravel(), int(correct.sum()))
        best = curve.best
        rows.append(
            {"on": name, "AP": 100 * curve.average_precision, "best F1": 100 * best.f1 if best else 0.0}
        )
    return rows


def calibration(run: Path, data: Path, multiplier: float) -> list[Row]:
    """Expected and actual F1, calibration errors and precision, by the slope of the labelling propensity."""
    scores, truth = _load_scores(run), read_truth(data)
    known = _known_pairs(scores, truth)
    margin, true = scores.margin[known], scores.relabelled(truth).labelled[known]
    share = scores.labelled_share
    priors = Priors(scores.relations, tuple(share), tuple(np.minimum(share * multiplier, 0.99)))
    rows = []
    for slope in SLOPES:
        fitted = fit_calibration(scores, priors, propensity_slope=slope)
        p = fitted.probabilities(torch.from_numpy(margin.astype(np.float64))).numpy()
        predicted = p > fitted.threshold
        row: Row = {
            "slope": f"{fitted.propensity_slope:.2g}" + (" (fitted)" if slope is None else ""),
            "expected F1": 100 * fitted.expected.best_f1,
            "F1": 100 * _score(predicted, true).f1,
            "mean score": p[predicted].mean(),
            "true": true[predicted].mean(),
            "error of predictions": Reliability.from_scores(p[predicted], true[predicted]).error,
            "error of scores ≥ 0.01": Reliability.from_scores(p[p >= 0.01], true[p >= 0.01]).error,
        }
        for target in TARGETS:
            try:
                threshold = fitted.expected.threshold_at_precision(target)
                row[f"precision at target {target}"] = _score(p > threshold, true).precision
            except TargetUnreachableError:
                row[f"precision at target {target}"] = None
        rows.append(row)
    return rows


def test_scores(run: Path, data: Path, multiplier: float) -> list[Row]:
    """What the test set says of scores and of target precisions: predicted facts beside complete labels."""
    gold = load_documents(data / "data" / "docred" / "test_revised.json").documents
    total = sum(len(document.labels) for document in gold)
    extractor = Extractor(run)
    rows = []
    for target in (None, *TARGETS):
        options = DecisionOptions(target_precision=target)
        try:
            found = list(extractor.extract(gold, threshold=options))
        except TargetUnreachableError:
            continue
        facts = [
            (fact.score, (fact.head, fact.tail, fact.relation) in document.labels)
            for document, each in zip(gold, found, strict=True)
            for fact in each.facts
        ]
        scores, true = (np.array(column) for column in zip(*facts, strict=True))
        score = Score(int(true.sum()), len(true), total)
        rows.append(
            {
                "threshold": "of the best expected F1" if target is None else f"target precision {target}",
                "facts": len(true),
                "mean score": scores.mean(),
                "P": 100 * score.precision,
                "R": 100 * score.recall,
                "F1": 100 * score.f1,
                "calibration error": Reliability.from_scores(scores, true).error,
            }
        )
    return rows


def _score(predicted: NDArray[np.bool_], true: NDArray[np.bool_]) -> Score:
    return Score(int((predicted & true).sum()), int(predicted.sum()), int(true.sum()))


def suggestions(run: Path, data: Path, multiplier: float) -> list[Row]:
    """The fraction of the first suggestions that is true."""
    scores, truth = _load_scores(run), read_truth(data)
    known = _known_pairs(scores, truth)
    open_ = ~scores.labelled & known[:, None]
    ranking = np.where(open_, scores.margin, -np.inf).ravel()
    true = scores.relabelled(truth).labelled.ravel()
    top = np.argsort(-ranking, kind="stable")[: FIRST[-1]]
    return [{f"first {first:,}": true[top[:first]].mean() for first in FIRST}]


def coverage(run: Path, data: Path, multiplier: float) -> list[Row]:
    """How often the interval of completeness holds the truth, over simulated reviews in random order."""
    found = suggest(
        data / "data" / "docred" / "train_annotated.json",
        scores=run / "folds" / "scores.npz",
        prior_multiplier=multiplier,
    )
    return simulate_reviews(found, read_truth(data))


def simulate_reviews(found: SuggestionSet, truth: Truth) -> list[Row]:
    """Coverage and width of the interval, after so many decisions in random order."""
    listed = [each for each in found.suggestions if each.document in truth and not each.labelled]
    holds = np.array([each.triple in truth[each.document] for each in listed])
    scores = np.array([each.score for each in listed])
    labelled = sum(len(found.documents[name].labels & truth[name]) for name in truth)
    total = sum(map(len, truth.values()))
    # Of what was not listed, as much as these documents are of all suggestions.
    share = len(listed) / sum(not each.labelled for each in found.suggestions)
    below = BelowCutoff(
        round(found.below_cutoff.candidates * share), (found.below_cutoff.expected or 0.0) * share
    )
    rows = []
    for number in DECISIONS:
        covers, widths = [], []
        for seed in range(REVIEWS):
            drawn = np.random.default_rng(seed).permutation(len(listed))[:number].tolist()
            decisions = [
                ReviewDecision(i, bool(holds[i]), Order.RANDOM, False, n) for n, i in enumerate(drawn)
            ]
            result = estimate_completeness(labelled, scores, decisions, below)
            covers.append(result.low <= result.found / total <= result.high)
            widths.append(result.high - result.low)
        rows.append({"decisions": number, "coverage": np.mean(covers), "width": np.mean(widths)})
    return rows


def incomplete_gold(run: Path, data: Path, multiplier: float) -> list[Row]:
    """F1 estimated from DocRED's own labels, beside F1 with complete labels, for so many first predictions.

    The label frequency is that of the documents (one for all relations), or that of 20 documents by relation.
    """
    scores, truth = _load_scores(run), read_truth(data)
    labels = {
        document.id: document
        for document in load_documents(data / "data" / "docred" / "train_annotated.json")
        if document.id in truth
    }
    gold = Gold.from_documents(labels.values())
    complete = {(name, *triple) for name, triples in truth.items() for triple in triples}
    margin = np.where(_known_pairs(scores, truth)[:, None], scores.margin, -np.inf).ravel()
    best = np.argsort(-margin, kind="stable")[: PREDICTED[-1]]
    pairs, relations = np.divmod(best, len(scores.relations))
    ranked = [
        (scores.documents[scores.document[p]], int(scores.head[p]), int(scores.tail[p]), scores.relations[k])
        for p, k in zip(pairs.tolist(), relations.tolist(), strict=True)
    ]
    share = len(gold.facts) / len(complete)
    one = LabelFrequency.from_range(share, share)
    ids = list(gold.relations)
    counted = Priors.from_counts(ids, gold.relations, scores.pairs)
    sample = random.Random(0).sample(sorted(truth), 20)
    compared = LabellingComparison(
        in_a=Counter(key[3] for key in gold.facts if key[0] in sample),
        in_b=Counter(key[3] for key in complete if key[0] in sample),
    )
    multipliers = {name: value["multiplier"] for name, value in compared.priors(ids).items()}
    overall = [
        prior * multipliers.get(name, multipliers["*"])
        for name, prior in zip(ids, counted.labelled, strict=True)
    ]
    by_relation = LabelFrequency.from_priors(replace(counted, overall=tuple(overall)))
    rows = []
    for number in PREDICTED:
        predicted = ranked[:number]
        true = Score.count(predicted, complete)
        corrected = correct_scores(gold, predicted, one)
        rows.append(
            {
                "predictions": f"{number:,}",
                "F1, complete labels": 100 * true.f1,
                "F1, DocRED's labels": 100 * Score.count(predicted, gold.facts).f1,
                "one label frequency": 100 * corrected.estimate.f1,
                "by relation": 100 * correct_scores(gold, predicted, by_relation).estimate.f1,
                "at least": 100 * corrected.least.f1,
                "at most": 100 * corrected.most.f1,
                "ρ": f"{sum(key in gold.facts for key in predicted) / true.correct / share:.2f}",
            }
            | _checked_rows(gold, predicted, complete, one, true.f1)
        )
    return rows


def _checked_rows(
    gold: Gold, predicted: list[Key], complete: set[Key], one: LabelFrequency, f1: float
) -> Row:
    """The mean estimate from 100 checked predictions, its root mean square error, and the interval's coverage."""
    holds = [key in complete for key in predicted if key not in gold.facts]
    found = [
        correct_scores(
            gold, predicted, one, checked=(sum(random.Random(seed).sample(holds, 100)), 100), resamples=200
        )
        for seed in range(CHECKS)
    ]
    errors = np.array([each.estimate.f1 - f1 for each in found])
    return {
        "100 checked": 100 * (f1 + errors.mean()),
        "error of 100 checked": 100 * np.sqrt((errors**2).mean()),
        "interval holds F1": np.mean([each.low.f1 <= f1 <= each.high.f1 for each in found]),
    }


def incomplete_generated(run: Path, data: Path, multiplier: float) -> list[Row]:
    """Noisy predictions of generated documents, scored against fewer and fewer labels.

    Labels are hidden at random, or such that frequent relations and often mentioned entities keep more of them;
    the predictions find the latter more often, too.
    """
    documents = list(generate_documents(300, seed=1))
    complete = Gold.from_documents(documents)
    rng = np.random.default_rng(0)
    scored: dict[Key, float] = {}
    names = sorted(complete.relations.elements())
    for key in complete.facts:
        entities = complete.documents[key[0]].entities
        mentions = len(entities[key[1]].mentions) * len(entities[key[2]].mentions)
        scored[key] = rng.normal(0.5 + 0.5 * np.log(mentions))
        head, tail = rng.choice(len(entities), 2, replace=False).tolist()
        wrong = key[0], head, tail, names[rng.integers(len(names))]
        if wrong not in complete.facts:
            scored[wrong] = rng.normal(0.2)
    predicted = [key for key, score in scored.items() if score > 0.5]
    true = Score.count(predicted, complete.facts)
    rows = []
    for rule in (UniformLabelDropout, partial(PopularityBiasedLabelDropout.fit, documents)):
        for level in LEVELS:
            gold = Gold.from_documents(hide_labels(documents, rule(level), seed=2))
            share = len(gold.facts) / len(complete.facts)
            columns = [key[0] for key in scored], [key[3] for key in scored], list(scored.values())
            ranking = Ranking(*columns, [key in gold.facts for key in scored])
            area = precision_recall_curve(
                columns[2], [key in complete.facts for key in scored], len(complete.facts)
            )
            raw = precision_recall_curve(columns[2], ranking.labelled, len(gold.facts))
            found = correct_scores(gold, predicted, LabelFrequency.from_range(share, share), ranking=ranking)
            labelled = sum(key in gold.facts for key in predicted)
            rows.append(
                {
                    "labels": ("at random" if rule is UniformLabelDropout else "as in DocRED")
                    + f", {100 * level:.0f} %",
                    "F1, complete": 100 * true.f1,
                    "F1, measured": 100 * Score(labelled, len(predicted), len(gold.facts)).f1,
                    "F1, estimated": 100 * found.estimate.f1,
                    "interval": f"{100 * found.low.f1:.1f} to {100 * found.high.f1:.1f}",
                    "ρ": f"{labelled / true.correct / share:.2f}",
                    "AP, complete": 100 * area.average_precision,
                    "AP, measured": 100 * raw.average_precision,
                    "AP, estimated": 100 * (found.estimate.average_precision or 0.0),
                }
            )
    return rows


ANALYSES: dict[str, Callable[[Path, Path, float], list[Row]]] = {
    "held-out": held_out,
    "calibration": calibration,
    "test-scores": test_scores,
    "suggestions": suggestions,
    "coverage": coverage,
    "incomplete-gold": incomplete_gold,
    "incomplete-generated": incomplete_generated,
}
"""Each takes a run's folder, the data folder and the multiplier of the run's labels."""
