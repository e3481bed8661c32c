import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.losses import NoneClass, ScoreDecoder
from unnoted.losses.links import LINKS, Link, register_link, undo_class_weight
from unnoted.priors import Priors

MARGIN = 0.25
LOSSES = {
    "squared": lambda f, y: 0.25 * (y * f - 1) ** 2,
    "ranking-margin": lambda f, y: 0.25 * (y * f - MARGIN) ** 2,
    "sigmoid": lambda f, y: math.log1p(math.exp(-y * f)),
    "sigmoid-ranking": lambda f, y: math.log1p(math.exp(-y * f)),
    "balanced-softmax": lambda f, y: math.log1p(math.exp(-y * f)),  # these two: with one relation
    "adaptive-focal": lambda f, y: math.log1p(math.exp(-y * f)) * (1 if y < 0 else 1 + 1 / (1 + math.exp(f))),
}
AGAINST_NONE = {"ranking-margin", "sigmoid-ranking", "adaptive-focal"}  # these losses see f_i - f_0


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
    none, score = (0.4, best + 0.4) if name in AGAINST_NONE else (9.0, best)
    scores = torch.tensor([[none, score]], dtype=torch.float64)
    found = undo_class_weight(Link(name, MARGIN)(scores), torch.tensor([weight], dtype=torch.float64))
    assert found.item() == pytest.approx(posterior, abs=1e-6)


@given(st.floats(0, 1), st.sampled_from([0.0, 0.01, 1.0, 50.0, math.inf]))
def test_probabilities_are_probabilities_whatever_the_weight(shown, weight):
    found = undo_class_weight(torch.tensor([[shown]]), torch.tensor([weight])).item()
    assert 0 <= found <= 1
    if weight == math.inf:
        assert found == 0
    if weight == 0:
        assert found == 1


@pytest.mark.parametrize("name", LINKS)
def test_a_relation_of_prior_0_has_probability_0(name):
    scores = torch.tensor([[0.0, 50.0, 50.0]])
    priors = Priors(("a", "b"), (0.0, 0.5), (0.0, 0.5))
    found = ScoreDecoder(NoneClass(), Link(name), priors, class_weighted=True).probabilities(scores)
    assert found[0, 0] == 0 and found[0, 1] > 0.99


@pytest.mark.parametrize("name", LINKS)
def test_a_higher_score_is_never_less_probable(name):
    scores = torch.stack([torch.zeros(50), torch.linspace(-2, 2, 50)], dim=1)
    found = undo_class_weight(Link(name)(scores), torch.tensor([3.0])).squeeze(1)
    assert (found.diff() >= 0).all() and found[-1] > found[0]


@pytest.mark.parametrize("name", LINKS)
@given(st.floats(-(2**100), 2**100, width=32), st.floats(-(2**100), 2**100, width=32))
def test_every_finite_score_has_a_probability(name, none, score):
    assert 0 <= Link(name)(torch.tensor([[none, score]])).item() <= 1


def test_bad_links_are_refused():
    with pytest.raises(ValueError, match="unknown link 'softmax', expected one of squared"):
        Link("softmax")
    with pytest.raises(ValueError, match=r"found margin -0.1, expected 0 or more"):
        Link("ranking-margin", -0.1)


def test_a_margin_of_0_is_the_limit_of_small_ones():
    scores = torch.tensor([[0.5, 0.75, 0.5, 0.25]])
    weight = torch.tensor([2.0, 3.0, 4.0])
    found = undo_class_weight(Link("ranking-margin", 0.0)(scores), weight)
    assert torch.equal(found, undo_class_weight(Link("ranking-margin", 1e-6)(scores), weight))
    assert found.tolist() == [[1.0, 0.25, 0.0]]


def test_a_registered_link_is_known_by_name(monkeypatch):
    monkeypatch.setitem(LINKS, "half", None)
    monkeypatch.delitem(LINKS, "half")
    register_link("half", lambda scores, margin: scores[:, 1:] * 0 + 0.5)
    assert Link("half")(torch.zeros(1, 2)).item() == 0.5
    with pytest.raises(ValueError, match="link 'sigmoid' is registered already"):
        register_link("sigmoid", lambda scores, margin: scores)
