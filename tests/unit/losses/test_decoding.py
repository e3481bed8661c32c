"""Decision rules, links and score decoders, with and without a calibration."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.calibration import Calibration, ExpectedFacts
from unnoted.losses import LINKS, DecisionRule, Link, ScoreDecoder, register_link
from unnoted.losses.decoding import undo_class_weight
from unnoted.priors import Priors

torch.set_num_threads(1)

RULES = [
    DecisionRule(reference, threshold, top_k)
    for reference, thresholds in (("threshold-class", [0.0]), ("zero", [0.0, 0.5, (0.5, -1.0, 2.0)]))
    for threshold in thresholds
    for top_k in (None, 1, 2, 4)
]


@given(st.lists(st.lists(st.floats(-3, 3), min_size=4, max_size=4), max_size=5))
def test_decisions_equal_plain_loops(rows):
    logits = torch.tensor(rows).reshape(-1, 4)
    for rule in RULES:
        found = rule.decide(logits)
        assert found.shape == (len(rows), 3) and found.dtype == torch.bool
        for row, pair in enumerate(logits.tolist()):
            for k, f in enumerate(pair[1:]):
                if rule.reference == "threshold-class":
                    threshold = pair[0]
                else:
                    threshold = rule.threshold[k] if isinstance(rule.threshold, tuple) else rule.threshold
                is_best = rule.top_k is None or sum(other > f for other in pair) < rule.top_k
                assert bool(found[row, k]) is (f > threshold and is_best)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_survives_json_and_its_margins_decide(rule):
    assert DecisionRule.from_json(json.loads(json.dumps(rule.to_json()))) == rule
    logits = torch.tensor([[0.25, 0.5, 0.0, 0.25], [1.0, -1.0, 3.0, 0.5]])
    assert torch.equal(rule.margins(logits) > 0, replace(rule, top_k=None).decide(logits))


def test_bad_rules_are_refused():
    for options in ({"reference": "best"}, {"top_k": 0}, {"threshold": 1.0}):
        with pytest.raises(ValueError, match="|".join(["reference", "top_k", "threshold"])):
            DecisionRule(**options)
    with pytest.raises(ValueError, match="thresholds"):
        DecisionRule("zero", (0.0, 1.0)).decide(torch.zeros(1, 4))


# --- Links ---

MARGIN = 0.25
LOSSES = {
    "squared": lambda f, y: 0.25 * (y * f - 1) ** 2,
    "ranking-margin": lambda f, y: 0.25 * (y * f - MARGIN) ** 2,
    "sigmoid": lambda f, y: math.log1p(math.exp(-y * f)),
    "sigmoid-ranking": lambda f, y: math.log1p(math.exp(-y * f)),
    "balanced-softmax": lambda f, y: math.log1p(math.exp(-y * f)),  # these two: with one relation
    "adaptive-focal": lambda f, y: math.log1p(math.exp(-y * f)) * (1 if y < 0 else 1 + 1 / (1 + math.exp(f))),
}
RANKING = {"ranking-margin", "sigmoid-ranking", "adaptive-focal"}  # these losses see f_i - f_0


def minimiser(loss, low=-30.0, high=30.0):
    """The minimum of a function with one, by golden-section search."""
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-9:
        one, other = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, other) if loss(one) < loss(other) else (one, high)
    return (low + high) / 2


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weight", [0.5, 1.0, 7.0])
@pytest.mark.parametrize("posterior", [0.03, 0.5, 0.9])
def test_the_link_inverts_the_optimum_of_the_weighted_loss(name, weight, posterior):
    loss = LOSSES[name]
    best = minimiser(lambda f: weight * posterior * loss(f, 1) + (1 - posterior) * loss(f, -1))
    threshold_class, logit = (0.4, best + 0.4) if name in RANKING else (9.0, best)
    logits = torch.tensor([[threshold_class, logit]], dtype=torch.float64)
    found = undo_class_weight(Link(name, MARGIN)(logits), torch.tensor([weight], dtype=torch.float64))
    assert found.item() == pytest.approx(posterior, abs=1e-6)


@pytest.mark.parametrize("name", LINKS)
def test_the_inverse_of_a_link(name):
    shown = torch.tensor([[0.01, 0.5, 0.99]], dtype=torch.float64)
    logits = torch.cat([torch.zeros(1, 1), Link(name).inverse(shown)], 1)
    torch.testing.assert_close(Link(name)(logits), shown, rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", LINKS)
def test_a_relation_of_prior_0_has_probability_0(name):
    logits, priors = torch.tensor([[0.0, 50.0, 50.0]]), Priors(("a", "b"), (0.0, 0.5), (0.0, 0.5))
    found = ScoreDecoder(DecisionRule(), Link(name), priors, class_weighted=True).probabilities(logits)
    assert found[0, 0] == 0 and found[0, 1] > 0.99


@pytest.mark.parametrize("name", LINKS)
@given(st.floats(-(2**100), 2**100, width=32), st.floats(-(2**100), 2**100, width=32))
def test_every_finite_logit_has_a_probability(name, threshold_class, logit):
    assert 0 <= Link(name)(torch.tensor([[threshold_class, logit]])).item() <= 1


def test_bad_links_are_refused():
    with pytest.raises(ValueError, match="link 'softmax'"):
        Link("softmax")
    with pytest.raises(ValueError, match="margin"):
        Link("ranking-margin", -0.1)


def test_a_registered_link_is_known_by_name(monkeypatch):
    monkeypatch.setitem(LINKS, "half", None)
    monkeypatch.delitem(LINKS, "half")
    register_link("half", lambda logits, margin: logits[:, 1:] * 0 + 0.5)
    assert Link("half")(torch.zeros(1, 2)).item() == 0.5
    with pytest.raises(ValueError, match="sigmoid"):
        register_link("sigmoid", lambda logits, margin: logits)


# --- Score decoders ---

EXPECTED = ExpectedFacts.from_probabilities(np.linspace(0.001, 0.99, 500), np.ones(500), pairs=1000)
PLAIN = ScoreDecoder(DecisionRule(), Link("ranking-margin"))
CALIBRATED = replace(
    PLAIN, calibration=Calibration((-1.0, 0.0, 1.0), (-4.0, -1.0, 3.0), EXPECTED, threshold=0.3)
)
LOGITS = torch.cat(
    [torch.full((400, 1), 0.25), 0.8 * torch.randn(400, 2, generator=torch.Generator().manual_seed(0))], 1
)


@pytest.mark.parametrize("decoder", [PLAIN, CALIBRATED])
def test_scores_order_as_margins_without_ties_and_decide(decoder):
    scores, margins, decided = decoder.scores(LOGITS).numpy(), decoder.margins(LOGITS), decoder.decide(LOGITS)
    for k in range(2):
        ranked = scores[np.argsort(margins[:, k].numpy()), k]
        assert (np.diff(ranked) > 0).all() and ranked[0] > 0 and ranked[-1] < 1
    assert 0 < decided.sum() < decided.numel()
    assert torch.equal(decided, margins > 0) and torch.equal(decided, decoder.distances(LOGITS) > 0)
    assert np.array_equal(decided.numpy(), scores > decoder.threshold)


def test_a_calibrated_decoder_predicts_above_its_threshold():
    assert torch.equal(CALIBRATED.decide(LOGITS), CALIBRATED.probabilities(LOGITS) > 0.3)
    limited = replace(CALIBRATED, decision=DecisionRule(top_k=1))
    assert (CALIBRATED.decide(LOGITS).sum(1) == 2).any() and (limited.decide(LOGITS).sum(1) <= 1).all()
    assert torch.equal(limited.decide(LOGITS).any(1), CALIBRATED.decide(LOGITS).any(1))
    # A calibrated threshold below the threshold class: that takes none of the k places.
    low = replace(limited, calibration=replace(limited.calibration, threshold=0.01))
    assert low.decide(torch.tensor([[0.0, -0.5, -1.0]])).tolist() == [[True, False]]


@pytest.mark.parametrize("decoder", [PLAIN, CALIBRATED])
@pytest.mark.parametrize("top_k", [None, 1])
def test_a_given_threshold_decides_as_the_stored_one_also_at_the_threshold(decoder, top_k):
    at_threshold = [[0.0, decoder.calibration.margin_threshold if decoder.calibration else 0.0, -5.0]]
    logits = torch.cat([LOGITS.double(), torch.tensor(at_threshold, dtype=torch.float64)])
    if decoder.calibration:
        threshold = decoder.scores(logits)[-1, 0].item()
        decoder = replace(decoder, calibration=replace(decoder.calibration, threshold=threshold))
    decoder = replace(decoder, decision=DecisionRule(top_k=top_k))
    stored, given_ = decoder.decide(logits), decoder.decide(logits, decoder.threshold)
    assert torch.equal(stored, given_) and not stored[-1].any() and stored.any()


def test_a_given_threshold_keeps_the_scores_above_it():
    for decoder in (PLAIN, CALIBRATED):
        for threshold in (0.0, 0.2, 0.7):
            assert torch.equal(decoder.decide(LOGITS, threshold), decoder.scores(LOGITS) > threshold)


def test_saved_and_read_again():
    for decoder in (
        PLAIN,
        CALIBRATED,
        replace(PLAIN, priors=Priors(("a",), (0.1,), (0.2,)), class_weighted=True),
    ):
        read = json.loads(json.dumps(decoder.to_json(), allow_nan=False))
        assert ScoreDecoder.from_json(read) == decoder
        assert read == decoder.to_json()  # checkpoints compare what they read with what a model has
    assert CALIBRATED.is_comparable_to(PLAIN) and not replace(PLAIN, link=Link("sigmoid")).is_comparable_to(
        PLAIN
    )


def test_without_a_calibration_the_rule_and_the_link_speak():
    assert torch.equal(PLAIN.decide(LOGITS), DecisionRule().decide(LOGITS))
    assert torch.equal(PLAIN.probabilities(LOGITS), PLAIN.link(LOGITS))
