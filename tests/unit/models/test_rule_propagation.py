"""Rule propagation against the plain way; what it leaves alone; equal margins that are not equally probable."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.rule_propagation import propagate

from unnoted.calibration import Calibration, ExpectedFacts
from unnoted.losses import DecisionRule, ScoreDecoder
from unnoted.losses.decoding import Link
from unnoted.models.rule_propagation import RulePropagation
from unnoted.priors import Priors
from unnoted.rules import Rule, RuleKind, parse_rules

NAMES = ["a", "b", "c"]
DECODER = ScoreDecoder(DecisionRule(), Link("sigmoid-ranking"))


def batch_of(pairs, entities=8):
    head, tail = (torch.tensor([pair[side] for pair in pairs], dtype=torch.int64) for side in (0, 1))
    return SimpleNamespace(head=head, tail=tail, entity_document=torch.zeros(entities, dtype=torch.int64))


every_pair = [(head, tail) for head in range(4) for tail in range(4) if head != tail]
some_pairs = st.lists(st.sampled_from(every_pair), unique=True, max_size=8)
some_rules = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=5)


def make(rules):
    kinds = RuleKind.SUBSUMPTION, RuleKind.INVERSION
    return RulePropagation([Rule(kinds[turned], (NAMES[p],), NAMES[c]) for p, c, turned in rules], NAMES)


def logits_of(pairs, seed):
    return torch.randn(len(pairs), 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(
    pairs=some_pairs,
    rules=some_rules,
    reference=st.sampled_from(["threshold-class", "zero"]),
    seed=st.integers(0, 99),
)
def test_against_the_plain_way(pairs, rules, reference, seed):
    logits = logits_of(pairs, seed)
    link = Link("sigmoid-ranking" if reference == "threshold-class" else "sigmoid")
    decoder = ScoreDecoder(DecisionRule(reference), link)
    found, rule = make(rules)(logits, batch_of(pairs), decoder)
    before, after = (decoder.margins(each) for each in (logits, found))
    expected = propagate([(0, *pair) for pair in pairs], before.tolist(), rules)
    torch.testing.assert_close(after, torch.tensor(expected, dtype=torch.float64).reshape(len(pairs), 3))
    assert torch.equal(found[:, 0], logits[:, 0])
    assert torch.equal(found[:, 1:][rule < 0], logits[:, 1:][rule < 0])
    assert (found[:, 1:] > logits[:, 1:])[rule >= 0].all()


PRIORS = Priors(tuple(NAMES), (0.01, 0.1, 0.3), (0.02, 0.2, 0.6))


@given(
    pairs=some_pairs,
    rules=some_rules,
    name=st.sampled_from(["ranking-margin", "sigmoid-ranking"]),
    seed=st.integers(0, 99),
)
def test_with_class_weights_probabilities_are_propagated(pairs, rules, name, seed):
    """Rarer relations have larger margins at the same probability."""
    logits = 0.1 * logits_of(pairs, seed)
    decoder = ScoreDecoder(DecisionRule(), Link(name), PRIORS, class_weighted=True)
    found, rule = make(rules)(logits, batch_of(pairs), decoder)
    before, after = decoder.probabilities(logits), decoder.probabilities(found)
    expected = propagate([(0, *pair) for pair in pairs], before.tolist(), rules)
    expected = torch.tensor(expected, dtype=torch.float64).reshape(len(pairs), 3)
    predicted = decoder.decide(found)
    assert (after >= expected - 1e-5).all()
    higher = after > expected + 1e-5  # only where the conclusion would not be predicted though its premise is
    assert (found[:, 1:] - found[:, :1])[higher].tolist() == pytest.approx(
        [1e-3] * int(higher.sum()), abs=1e-6
    )
    assert torch.equal(found[:, 1:][rule < 0], logits[:, 1:][rule < 0])
    closed = propagate([(0, *pair) for pair in pairs], decoder.decide(logits).double().tolist(), rules)
    assert (predicted >= (torch.tensor(closed).reshape(len(pairs), 3) > 0)).all()


def test_equal_margins_of_class_weighted_losses_are_not_equally_probable():
    """a is rare and b is frequent: b follows with the probability of a, not with its margin."""
    decoder = ScoreDecoder(DecisionRule(), Link("ranking-margin", margin=0.25), PRIORS, class_weighted=True)
    logits = torch.tensor([[0.0, -0.1, -0.2, -0.2]], dtype=torch.float64)
    found, rule = RulePropagation(parse_rules("a(h, t) -> b(h, t)"), NAMES)(
        logits, batch_of([(0, 1)]), decoder
    )
    before, after = decoder.probabilities(logits), decoder.probabilities(found)
    assert after[0, 1] == pytest.approx(max(before[0, 0].item(), before[0, 1].item()), abs=1e-6)
    assert found[0, 2] < -0.1 and rule.tolist() in ([[-1, 0, -1]], [[-1, -1, -1]])


def test_calibrated_probabilities_are_propagated():
    expected = ExpectedFacts((1.0,) * 211, (0.5,) * 211, 1.0)
    calibration = Calibration((-1.0, 1.0), (-3.0, 2.0), expected, 0.2)
    decoder = ScoreDecoder(DecisionRule(), Link("ranking-margin"), PRIORS, True, calibration)
    pairs = [(0, 1), (1, 0)]
    logits = logits_of(pairs, 3)
    found, _ = RulePropagation(parse_rules("a(t, h) -> b(h, t)"), NAMES)(logits, batch_of(pairs), decoder)
    before, after = decoder.probabilities(logits), decoder.probabilities(found)
    torch.testing.assert_close(after[:, 1], before[:, 1].maximum(before[:, 0].flip(0)))
    assert (decoder.decide(found)[:, 1] >= decoder.decide(logits)[:, 0].flip(0)).all()


def test_tuned_thresholds_do_not_separate_a_premise_from_its_conclusion():
    decoder = ScoreDecoder(DecisionRule("zero", (0.0, 2.0, 0.0)), Link("sigmoid"))
    logits = torch.tensor([[0.0, 1.0, -3.0, -3.0]])
    found, rule = RulePropagation(parse_rules("a(h, t) -> b(h, t)"), NAMES)(
        logits, batch_of([(0, 1)]), decoder
    )
    assert decoder.decide(found).tolist() == [[True, True, False]] and rule.tolist() == [[-1, 0, -1]]


def test_it_names_the_rule():
    rules = parse_rules("a(h, t) -> b(h, t)\na(t, h) -> c(h, t)")
    logits = torch.tensor([[0.0, 2.0, 1.0, 0.0], [0.0, -1.0, 5.0, 0.5]])
    found, rule = RulePropagation(rules, NAMES)(logits, batch_of([(0, 1), (1, 0)]), DECODER)
    assert rule.tolist() == [[-1, 0, -1], [-1, -1, 1]]
    assert found.tolist() == [[0.0, 2.0, 2.0, 0.0], [0.0, -1.0, 5.0, 2.0]]


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="'z'"):
        RulePropagation(parse_rules("z(h, t) -> a(h, t)"), NAMES)
