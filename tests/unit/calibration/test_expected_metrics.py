"""The threshold of the best expected F1 against trying every set of facts (tests/reference/calibration.py)."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.calibration import best_set, log_odds

from unnoted.calibration import ExpectedFacts, TargetUnreachableError

PROBABILITIES = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=8)
ELSEWHERE = st.floats(0, 20)


@settings(max_examples=60)
@given(PROBABILITIES, ELSEWHERE)
def test_no_set_of_facts_is_better_than_a_threshold_at_half_the_best_f1(probabilities, elsewhere):
    best, sets = best_set(probabilities, elsewhere)
    chosen = {i for i, p in enumerate(probabilities) if p > best / 2}
    assert chosen in sets or min(abs(p - best / 2) for p in probabilities) < 1e-9


@settings(max_examples=60)
@given(PROBABILITIES, ELSEWHERE)
def test_the_kept_thresholds_are_fine_enough(probabilities, elsewhere):
    count = np.ones(len(probabilities))
    expected = ExpectedFacts.from_probabilities(
        np.array(probabilities), count, pairs=10, facts_elsewhere=elsewhere
    )
    best, _ = best_set(probabilities, elsewhere)
    # A kept threshold may take in or leave out facts whose log odds are within 0.1 of it.
    assert expected.total == pytest.approx((sum(probabilities) + elsewhere) / 10)
    assert best - 0.05 <= expected.best_f1 <= best + 1e-9
    apart = [abs(log_odds(p) - log_odds(best / 2)) for p in probabilities]
    if min(apart) > 0.2:
        assert expected.best_f1 == pytest.approx(best)
    assert ExpectedFacts.from_json(json.loads(json.dumps(expected.to_json()))) == expected


def many():
    p = np.random.default_rng(0).beta(0.2, 2, 20_000)
    return p, ExpectedFacts.from_probabilities(p, np.ones(len(p)), pairs=1000)


@pytest.mark.parametrize("target", [0.3, 0.6, 0.8])
def test_targets_are_met_on_the_sample(target):
    p, expected = many()
    threshold = expected.threshold_at_precision(target)
    assert p[p > threshold].mean() == pytest.approx(target, abs=0.01)
    assert expected.metrics_at(threshold)["precision"] == pytest.approx(target, abs=0.01)
    threshold = expected.threshold_at_recall(target)
    assert p[p > threshold].sum() / p.sum() == pytest.approx(target, abs=0.01)
    assert expected.metrics_at(threshold)["recall"] == pytest.approx(target, abs=0.01)


def test_the_best_threshold_has_the_best_metrics():
    _, expected = many()
    assert expected.metrics_at(expected.best_threshold)["f1"] == pytest.approx(expected.best_f1, rel=1e-3)


def test_unreachable_targets_are_errors():
    expected = ExpectedFacts.from_probabilities(np.array([0.6, 0.5]), np.ones(2), pairs=2)
    with pytest.raises(TargetUnreachableError, match="target_precision"):
        expected.threshold_at_precision(0.9)
    with pytest.raises(ValueError, match="target_precision"):
        expected.threshold_at_precision(1.5)
    low = ExpectedFacts.from_probabilities(np.array([0.6, 1e-5]), np.array([1, 1e5]), pairs=2)
    with pytest.raises(TargetUnreachableError, match="target_recall"):
        low.threshold_at_recall(0.9)
