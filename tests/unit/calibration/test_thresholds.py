"""Thresholds for each relation against trying every one (tests/reference/thresholds.py)."""

import json

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reference.thresholds import best_kept

from unnoted.calibration import NEVER, tune_thresholds
from unnoted.losses import DecisionRule

SCORES = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]) | st.floats(-1e9, 1e9, width=32)
NEIGHBOURS = [1.0, 1.0 + 2**-23, 1.0 + 2**-22]  # float32 has none between them


@given(st.lists(st.tuples(SCORES, st.booleans(), SCORES, st.booleans()), max_size=12))
@example([(score, score > 1, -score, True) for score in NEIGHBOURS])
@example([(1e-45, True, -1e-45, True), (0.0, False, 0.0, False)])
def test_trying_every_threshold(rows):
    scores = torch.tensor([[7.0, row[0], row[2]] for row in rows]).reshape(-1, 3)
    labels = torch.tensor([[row[1], row[3]] for row in rows], dtype=torch.bool).reshape(-1, 2)
    thresholds = tune_thresholds(scores, labels)
    decided = DecisionRule("zero", thresholds).decide(scores)
    for k in range(2):
        expected = best_kept(scores[:, k + 1].tolist(), labels[:, k].tolist())
        if expected is None:
            assert thresholds[k] == NEVER and not decided[:, k].any()
        else:
            assert {j for j in range(len(rows)) if decided[j, k]} == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_midway_in_every_precision(dtype):
    scores = torch.tensor([[0.0, 3.0], [0.0, 2.0], [0.0, 1.0]], dtype=dtype)
    assert tune_thresholds(scores, torch.tensor([[True], [True], [False]])) == (1.5,)


def test_everything_is_kept_only_just():
    (threshold,) = tune_thresholds(torch.tensor([[0.0, 3.0], [0.0, 2.0]]), torch.tensor([[True], [True]]))
    assert 1.999 < threshold < 2


def test_a_relation_that_never_fires_survives_json():
    rule = DecisionRule("zero", tune_thresholds(torch.zeros(1, 3), torch.tensor([[False, True]])))
    again = DecisionRule.from_json(json.loads(json.dumps(rule.to_json(), allow_nan=False)))
    assert again == rule
    assert (
        DecisionRule("zero", (NEVER,)).decide(torch.tensor([[0.0, NEVER], [0.0, 1e9]])).any().item() is False
    )
