"""A decoder with a calibration: how it decides, orders and is saved; and without one, as before."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.calibration import Calibration, ExpectedFacts
from unnoted.losses import Lined, Link, NoneClass, ScoreDecoder, TopK, confidence_of, distance_of

EXPECTED = ExpectedFacts.from_probabilities(np.linspace(0.001, 0.99, 500), np.ones(500), pairs=1000)
CALIBRATION = Calibration((-1.0, 0.0, 1.0), (-4.0, -1.0, 3.0), EXPECTED, 0.3)
PLAIN = ScoreDecoder(NoneClass(), Link("ranking-margin"))
CALIBRATED = replace(PLAIN, calibration=CALIBRATION)
SCORES = torch.cat(
    [torch.full((400, 1), 0.25), 3 * torch.randn(400, 2, generator=torch.Generator().manual_seed(0))], 1
)


def test_facts_above_the_line_are_stated():
    probability, decided = CALIBRATED.probabilities(SCORES), CALIBRATED.decide(SCORES)
    assert torch.equal(decided, probability > 0.3) and 0 < decided.sum() < decided.numel()
    assert torch.equal(decided, CALIBRATED.margins(SCORES) > 0)
    assert torch.equal(decided, torch.from_numpy(confidence_of(CALIBRATED.distances(SCORES).numpy()) > 0.5))


@pytest.mark.parametrize("decoder", [PLAIN, CALIBRATED])
def test_confidence_orders_as_the_margin_does_without_ties(decoder):
    confidence, margin = confidence_of(decoder.distances(SCORES).numpy()), decoder.margins(SCORES).numpy()
    for k in range(2):
        ranked = confidence[np.argsort(margin[:, k]), k]
        assert (np.diff(ranked) > 0).all() and ranked[0] > 0 and ranked[-1] < 1


def test_the_limit_of_a_rule_stays():
    limited = replace(CALIBRATED, decision=TopK(1))
    assert (CALIBRATED.decide(SCORES).sum(1) == 2).any()
    assert (limited.decide(SCORES).sum(1) <= 1).all()
    assert torch.equal(limited.decide(SCORES).any(1), CALIBRATED.decide(SCORES).any(1))


@pytest.mark.parametrize("rule", [NoneClass(), TopK(1)])
def test_lines_at_0_change_nothing(rule):
    assert torch.equal(Lined(rule, 0.0)(SCORES), rule(SCORES))


def test_saved_and_read_again():
    assert ScoreDecoder.from_json(json.loads(json.dumps(CALIBRATED.to_json(), allow_nan=False))) == CALIBRATED
    assert set(PLAIN.to_json()) == {
        "decision",
        "link",
        "priors",
        "class_weighted",
    }  # as earlier versions wrote
    assert CALIBRATED.has_scale_of(PLAIN)


def test_without_a_calibration_all_is_as_the_rule_and_the_link_say():
    assert torch.equal(PLAIN.decide(SCORES), NoneClass()(SCORES))
    assert torch.equal(PLAIN.margins(SCORES), NoneClass().margins(SCORES))
    assert torch.equal(PLAIN.probabilities(SCORES), PLAIN.link(SCORES))
    for refused in (PLAIN.at_precision, PLAIN.at_recall):
        with pytest.raises(ValueError, match="found a model that is not calibrated, expected one with"):
            refused(0.8)


def test_a_target_moves_the_line():
    high, low = CALIBRATED.at_precision(0.9), CALIBRATED.at_recall(0.95)
    assert high.calibration.threshold > 0.3 > low.calibration.threshold
    assert torch.equal(high.probabilities(SCORES), CALIBRATED.probabilities(SCORES))
    assert high.decide(SCORES).sum() < CALIBRATED.decide(SCORES).sum() < low.decide(SCORES).sum()


@given(st.floats(-1e6, 1e6))
def test_confidence_and_distance_are_inverse(distance):
    confidence = float(confidence_of(np.array(distance)))
    assert 0 < confidence < 1 and (confidence > 0.5) == (distance > 1e-15 or confidence > 0.5)
    assert distance_of(confidence) == pytest.approx(distance, rel=1e-6, abs=1e-9)
