"""Precision-recall curves and average precision."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evaluation.factories import document, entity

from unnoted.evaluation import Prediction, Score, evaluate, precision_recall_curve

GOLD = [
    document(
        "one",
        [entity("Ada", 0), entity("Bo", 0), entity("Cy", 0)],
        [(0, 1, "spouse"), (1, 0, "spouse"), (1, 2, "child"), (0, 2, "child")],
    )
]


def claims(*rows):
    return [Prediction("one", *key, score=score) for *key, score in rows]


def test_worked_example():
    curve = precision_recall_curve([0.2, 0.9, 0.5, 0.5], [True, True, False, True], gold=5)
    # 0.9: 1 of 1 right; 0.5: 2 of 3; 0.2: 3 of 4; recalls 1/5, 2/5, 3/5
    assert curve.thresholds.tolist() == [0.9, 0.5, 0.2]
    assert curve.precisions.tolist() == [1, 2 / 3, 3 / 4]
    assert curve.recalls.tolist() == [1 / 5, 2 / 5, 3 / 5]
    assert curve.average_precision == pytest.approx((1 + 2 / 3 + 3 / 4) / 5)
    # F1: 1/3, 1/2, 2 · (3/4)(3/5) / (27/20) = 2/3
    assert curve.best.threshold == 0.2 and curve.best.f1 == pytest.approx(2 / 3)
    assert curve.end == 3 / 5


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]), st.booleans()), min_size=1, max_size=20
    ).filter(lambda rows: any(right for _, right in rows)),
    st.integers(0, 5),
)
def test_equals_scikit_learn_where_it_can_say(rows, missing):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is an oracle here")
    scores, right = zip(*rows, strict=True)
    curve = precision_recall_curve(scores, right, sum(right) + missing)
    share = sum(right) / (sum(right) + missing)
    assert curve.average_precision == pytest.approx(metrics.average_precision_score(right, scores) * share)
    precisions, recalls, thresholds = metrics.precision_recall_curve(right, scores)
    assert np.allclose(curve.thresholds[::-1], thresholds)
    assert np.allclose(curve.precisions[::-1], precisions[:-1])
    assert np.allclose(curve.recalls[::-1], recalls[:-1] * share)


@pytest.mark.parametrize(
    ("scores", "correct", "gold", "message"),
    [
        ([0.1, float("nan")], [True, False], 3, "score nan"),
        ([float("inf")], [True], 3, "score inf"),
        ([0.1], [True, False], 3, "do not match"),
        ([0.1, 0.2], [True, True], 1, "2 predictions"),
    ],
)
def test_bad_input(scores, correct, gold, message):
    with pytest.raises(ValueError, match=message):
        precision_recall_curve(scores, correct, gold)


def test_threshold_decides_and_the_curve_keeps_all():
    rows = claims((0, 1, "spouse", 0.9), (1, 0, "spouse", 0.5), (2, 0, "child", 0.5), (1, 2, "child", 0.1))
    evaluation = evaluate(GOLD, rows, threshold=0.5)
    assert evaluation.overall == Score(2, 3, 4)
    assert len(evaluation.curve) == 3 and evaluation.curve.end == 3 / 4
    best = evaluation.curve.best
    assert evaluate(GOLD, rows, threshold=best.threshold).overall.f1 == pytest.approx(best.f1)
    impossible = claims((0, 9, "spouse", 0.1))
    assert evaluate(GOLD, rows + impossible, threshold=0.5).predictions.invalid == {}


def test_scores_for_all_or_none():
    mixed = [*claims((0, 1, "spouse", 0.9)), Prediction("one", 1, 0, "spouse")]
    with pytest.raises(ValueError, match="1 of 2"):
        evaluate(GOLD, mixed)
    without = [Prediction("one", 1, 0, "spouse")]
    assert evaluate(GOLD, without).curve is None
    assert "the predictions have no scores" in str(evaluate(GOLD, without))
    with pytest.raises(ValueError, match="threshold"):
        evaluate(GOLD, without, threshold=0.5)
    with pytest.raises(ValueError, match="threshold: nan"):
        evaluate(GOLD, claims((0, 1, "spouse", 0.9)), threshold=float("nan"))


def test_csv(tmp_path):
    evaluation = evaluate(GOLD, claims((0, 1, "spouse", 0.9), (2, 0, "spouse", 1 / 3)))
    path = tmp_path / "curve.csv"
    evaluation.curve.write_csv(path)
    rows = list(csv.DictReader(path.open()))
    assert [float(row["threshold"]) for row in rows] == [0.9, 1 / 3]
    assert [float(row["precision"]) for row in rows] == [1, 0.5]
    assert [float(row["recall"]) for row in rows] == [0.25, 0.25]
    assert [float(row["f1"]) for row in rows] == pytest.approx([0.4, 1 / 3])
