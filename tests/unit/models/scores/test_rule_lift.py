"""Scores that keep to rules, against the plain way, and what they leave alone."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.rule_lift import lifted

from unnoted.models.scores.rule_lift import RuleLift, inverse_of
from unnoted.rules import Inverse, Rule, SamePair, TwoStep

NAMES = ["a", "b", "c"]


def batch_of(pairs, entities=8):
    head, tail = (torch.tensor([pair[side] for pair in pairs], dtype=torch.int64) for side in (0, 1))
    return SimpleNamespace(head=head, tail=tail, entity_document=torch.zeros(entities, dtype=torch.int64))


every_pair = [(head, tail) for head in range(4) for tail in range(4) if head != tail]
some_pairs = st.lists(st.sampled_from(every_pair), unique=True, max_size=8)
some_rules = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=5)


@given(pairs=some_pairs, rules=some_rules, from_threshold_class=st.booleans(), seed=st.integers(0, 99))
def test_against_the_plain_way(pairs, rules, from_threshold_class, seed):
    scores = torch.randn(len(pairs), 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    made = [Rule((Inverse if turned else SamePair)(NAMES[p]), NAMES[c]) for p, c, turned in rules]
    found, rule = RuleLift(made, NAMES)(scores, batch_of(pairs), from_threshold_class)
    zero = scores[:, :1] if from_threshold_class else 0.0
    expected = lifted([(0, *pair) for pair in pairs], (scores[:, 1:] - zero).tolist(), rules)
    expected = torch.tensor(expected, dtype=torch.float64).reshape(len(pairs), 3)
    torch.testing.assert_close(found[:, 1:] - zero, expected)
    assert torch.equal(found[:, 0], scores[:, 0])
    assert torch.equal(found[:, 1:][rule < 0], scores[:, 1:][rule < 0])
    assert (found[:, 1:] > scores[:, 1:])[rule >= 0].all()


def test_it_names_the_rule():
    rules = [Rule(SamePair("a"), "b"), Rule(Inverse("a"), "c")]
    scores = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, -1.0, 5.0, 0.5]])
    lift, rule = RuleLift(rules, NAMES)(scores, batch_of([(0, 1), (1, 0)]), True)
    assert rule.tolist() == [[-1, 0, -1], [-1, -1, 1]]
    assert lift.tolist() == [[0.0, 2.0, 2.0, 0.0], [0.0, -1.0, 5.0, 2.0]]


def test_the_other_way_round():
    assert inverse_of(batch_of([(0, 1), (2, 1), (1, 0)])).tolist() == [2, 3, 0]


def test_rules_of_two_steps_are_left_out():
    assert RuleLift([Rule(TwoStep("a", "b"), "c")], NAMES).rules == ()


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="rules: found the relation 'z', expected relations of the model"):
        RuleLift([Rule(SamePair("z"), "a")], NAMES)
