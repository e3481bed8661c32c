"""Curves, thresholds and JSON of a calibration."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.calibration import on_curve

from unnoted.calibration import Calibration, ExpectedFacts

RISING = st.lists(st.floats(0.01, 3), min_size=1, max_size=6)
EXPECTED = ExpectedFacts.from_probabilities(np.linspace(0.001, 0.99, 500), np.ones(500), pairs=1000)


@given(st.floats(-2, 2), RISING, RISING, st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_curve_against_one_point_at_a_time(start, widths, rises, margins):
    count = min(len(widths), len(rises))
    x = [start, *(start + np.cumsum(widths[:count])).tolist()]
    y = [-start, *(-start + np.cumsum(rises[:count])).tolist()]
    calibration = Calibration(tuple(x), tuple(y), EXPECTED, 0.3)
    found = calibration.probabilities(torch.tensor(margins, dtype=torch.float64))
    assert found.tolist() == pytest.approx([on_curve(x, y, margin) for margin in margins], rel=1e-6, abs=1e-9)
    ranked = torch.tensor(sorted(set(np.round(margins, 3))), dtype=torch.float64)
    assert (calibration.curve(ranked).diff() > 0).all()  # no ties
    assert (
        Calibration.from_json(json.loads(json.dumps(calibration.to_json(), allow_nan=False))) == calibration
    )
    back = torch.tensor([calibration.margin_threshold], dtype=torch.float64)
    assert calibration.probabilities(back).item() == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("margins", "log_odds", "threshold"),
    [((0.0, 1.0), (1.0, 1.0), 0.5), ((0.0,), (1.0,), 0.5), ((0.0, 1.0), (0.0, 1.0), 1.0)],
)
def test_what_is_no_calibration_is_refused(margins, log_odds, threshold):
    with pytest.raises(ValueError, match=r"knots|decision_threshold"):
        Calibration(margins, log_odds, EXPECTED, threshold)
