import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.losses.decisions import Fixed, FixedTopK, NoneClass, TopK, decision_from_json

RULES = [
    NoneClass(), Fixed(), Fixed(0.5), Fixed((0.5, -1.0, 2.0)), TopK(), TopK(1), TopK(2),
    FixedTopK(), FixedTopK(0.5, 1), FixedTopK((0.5, -1.0, 2.0), 2),
]  # fmt: skip


@given(st.lists(st.lists(st.floats(-3, 3), min_size=4, max_size=4), max_size=5))
def test_decisions_equal_plain_loops(rows):
    scores = torch.tensor(rows).reshape(-1, 4)
    for rule in RULES:
        found = rule(scores)
        assert found.shape == (len(rows), 3) and found.dtype == torch.bool
        for row, pair in enumerate(scores.tolist()):
            for k in range(3):
                f = pair[k + 1]
                match rule:
                    case NoneClass():
                        expected = f > pair[0]
                    case Fixed(tuple() as thresholds):
                        expected = f > thresholds[k]
                    case Fixed(threshold):
                        expected = f > threshold
                    case TopK(count):
                        expected = f > pair[0] and sum(other > f for other in pair[1:]) < count
                    case FixedTopK(threshold, count):
                        asked = threshold[k] if isinstance(threshold, tuple) else threshold
                        expected = f > asked and sum(other > f for other in pair) < count
                assert bool(found[row, k]) is expected


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_survives_json(rule):
    assert decision_from_json(json.loads(json.dumps(rule.to_json()))) == rule


def test_bad_rules_are_refused():
    with pytest.raises(ValueError, match="found decision rule 'best', expected one of 'none-class', 'fixed'"):
        decision_from_json({"rule": "best"})
    with pytest.raises(ValueError, match=r"decision rule 'top-k': .*'threshold'"):
        decision_from_json({"rule": "top-k", "threshold": 1.0})
    with pytest.raises(ValueError, match="found k = 0, expected at least 1"):
        TopK(0)
    with pytest.raises(ValueError, match="found k = 0, expected at least 1"):
        FixedTopK(k=0)
    with pytest.raises(ValueError, match="found 2 thresholds, expected one for each of 3 relations"):
        Fixed((0.0, 1.0))(torch.zeros(1, 4))


def test_margins_are_above_0_exactly_where_a_rule_without_a_limit_decides():
    scores = torch.tensor([[0.25, 0.5, 0.0, 0.25], [1.0, -1.0, 3.0, 0.5]])
    for rule in RULES[:4]:
        assert torch.equal(rule.margins(scores) > 0, rule(scores))
    assert torch.equal(TopK(1).margins(scores), NoneClass().margins(scores))
    assert torch.equal(FixedTopK(0.5, 1).margins(scores), Fixed(0.5).margins(scores))
