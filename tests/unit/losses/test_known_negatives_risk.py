"""Known negatives in the losses: against plain loops, and on populations that are written out in full."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.known_negatives import reviewed_likelihood, reviewed_loss

from unnoted.losses import (
    LOSSES,
    Distillation,
    LabelLikelihood,
    PULoss,
    Views,
    loss_named,
)
from unnoted.losses.corrections import CORRECTIONS, Clamp, Flip, Uncorrected
from unnoted.losses.estimators import ESTIMATORS, ShiftedPositiveUnlabelled
from unnoted.losses.normalisations import NORMALISATIONS
from unnoted.losses.surrogates import LogSigmoid, LogSigmoidRanking, Squared, SquaredRanking
from unnoted.priors import Priors

SURROGATES = {
    "squared": Squared(),
    "squared-ranking": SquaredRanking(0.25),
    "log-sigmoid": LogSigmoid(),
    "log-sigmoid-ranking": LogSigmoidRanking(),
}
PRIORS = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0))


def drawn(seed, pairs, share):
    """Scores, labels, known negatives that are no labels, and weights."""
    rng = np.random.default_rng(seed)
    labels = rng.random((pairs, 3)) < 0.3
    negatives = ~labels & (rng.random((pairs, 3)) < share)
    found = rng.normal(0, 2, (pairs, 4)), labels, negatives, rng.choice([0.5, 1.0, 4.0], pairs)
    return tuple(map(torch.tensor, found))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 9999), st.integers(1, 6), st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from(sorted(ESTIMATORS)), st.sampled_from(sorted(SURROGATES)),
    st.sampled_from(["none", "clamp", "flip"]), st.sampled_from(sorted(NORMALISATIONS)), st.booleans(),
)  # fmt: skip
def test_equals_plain_loops(seed, pairs, share, estimator, loss, correction, normalisation, class_weight):
    scores, labels, negatives, weights = drawn(seed, pairs, share)
    scores.requires_grad_()
    composed = PULoss(
        PRIORS, ESTIMATORS[estimator], SURROGATES[loss], CORRECTIONS[correction],
        NORMALISATIONS[normalisation], class_weight,
    )  # fmt: skip
    found = composed(scores, labels, weights, negatives)
    wanted = reviewed_loss(
        scores, labels, negatives, weights, PRIORS.labelled, PRIORS.overall, estimator=estimator, loss=loss,
        margin=0.25, normalisation=normalisation, class_weight=class_weight, correction=correction,
    )  # fmt: skip
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)
    gradients = [torch.autograd.grad(each, scores, allow_unused=True)[0] for each in (found, wanted)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 6), st.sampled_from([0.0, 0.4, 1.0]))
def test_the_likelihood_equals_plain_loops(seed, pairs, share):
    scores, labels, negatives, weights = drawn(seed, pairs, share)
    found = LabelLikelihood(PRIORS, propensity_slope=0)(scores, labels, weights, negatives)
    plain = [each.tolist() for each in (scores, labels, negatives, weights)]
    assert found.item() == pytest.approx(reviewed_likelihood(*plain, (1 / 3, 1.0, 1.0)), rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_none_known_is_as_it_was(name):
    """Bit for bit, for every loss; and a loss that takes all the unlabelled for negatives knows it all."""
    scores, labels, negatives, weights = drawn(1, 9, 0.4)
    scores = scores / scores.norm(dim=1, keepdim=True)
    named = loss_named(name)
    loss = named(PRIORS) if named.needs_priors else named()
    plain = loss(scores, labels, weights)
    assert torch.equal(loss(scores, labels, weights, None), plain)
    torch.testing.assert_close(loss(scores, labels, weights, torch.zeros_like(negatives)), plain)
    if not named.needs_priors:
        assert torch.equal(loss(scores, labels, weights, negatives), plain)


class Reviewed:
    """Three kinds of pair and one relation. A review looks at pairs that are not labelled, by kind.

    What it finds to hold is labelled, what it finds not to hold is a known negative. `label` is the chance
    that a fact was labelled before, `looked` the chance that an unlabelled pair of a kind is looked at.
    """

    share = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    holds = torch.tensor([0.05, 0.4, 0.9], dtype=torch.float64)

    def __init__(self, looked, label=0.25):
        rows = []
        for kind, holds, labelled, seen in product(range(3), (True, False), (True, False), (True, False)):
            chance = self.holds[kind] if holds else 1 - self.holds[kind]
            noted = (label if labelled else 1 - label) if holds else float(not labelled)
            opened = (looked[kind] if seen else 1 - looked[kind]) if not labelled else float(not seen)
            weight = float(self.share[kind] * chance * noted * opened)
            rows.append((kind, holds and (labelled or seen), not holds and seen, weight))
        self.kinds = torch.tensor([row[0] for row in rows])
        self.labels, self.negatives = (torch.tensor([[row[at]] for row in rows]) for at in (1, 2))
        self.weights = torch.tensor([row[3] for row in rows], dtype=torch.float64)
        self.overall = float(self.share @ self.holds)
        self.first = label * self.overall
        self.labelled = float(self.weights @ self.labels[:, 0].double())

    def supervised(self, scores, surrogate):
        """What one would minimise if everything were known."""
        if_positive, if_negative = surrogate(scores)
        losses = self.holds * if_positive[:, 0] + (1 - self.holds) * if_negative[:, 0]
        return (self.share * losses).sum()

    def priors(self):
        return Priors(("a",), (self.labelled,), (self.overall,))


SCORES = torch.tensor([[0.1, -0.6], [0.0, 0.3], [-0.2, 0.7]], dtype=torch.float64)


@pytest.mark.parametrize("normalisation", NORMALISATIONS.values())
@pytest.mark.parametrize("surrogate", SURROGATES.values())
def test_a_review_that_does_not_choose_by_score_leaves_the_risk_unbiased(surrogate, normalisation):
    population = Reviewed(looked=(0.3, 0.3, 0.3))
    loss = PULoss(
        population.priors(), ShiftedPositiveUnlabelled(), surrogate, Uncorrected(), normalisation, False
    )
    found = loss(SCORES[population.kinds], population.labels, population.weights, population.negatives)
    torch.testing.assert_close(found, population.supervised(SCORES, surrogate), rtol=1e-12, atol=0)


def test_choosing_by_score_biases_it_by_how_much_easier_the_accepted_facts_are():
    """By (π − π_l) (E over labelled − E over hidden positives) of ℓ(+1) − ℓ(−1), as the page says."""
    population, surrogate = Reviewed(looked=(0.0, 0.1, 0.8)), LogSigmoidRanking()
    loss = PULoss(
        population.priors(), ShiftedPositiveUnlabelled(), surrogate, Uncorrected(), class_weight=False
    )
    found = loss(SCORES[population.kinds], population.labels, population.weights, population.negatives)
    if_positive, if_negative = surrogate(SCORES)
    gain = (if_positive - if_negative)[:, 0]
    labelled = torch.zeros(3, dtype=torch.float64).index_add(
        0, population.kinds, population.weights * population.labels[:, 0]
    )
    hidden = population.share * population.holds - labelled
    bias = hidden.sum() * ((labelled @ gain) / labelled.sum() - (hidden @ gain) / hidden.sum())
    assert abs(bias) > 0.01
    torch.testing.assert_close(found - population.supervised(SCORES, surrogate), bias)


def test_the_likelihood_is_right_however_pairs_were_chosen():
    """Its minimum over the population shows how often the relation holds in each kind of pair."""
    population = Reviewed(looked=(0.0, 0.1, 0.8))
    loss = LabelLikelihood(Priors(("a",), (population.first,), (population.overall,)), propensity_slope=0)
    above = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([above], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        scores = torch.stack([torch.zeros(3, dtype=torch.float64), above], 1)[population.kinds]
        value = loss(scores, population.labels, population.weights, population.negatives)
        value.backward()
        return value

    optimiser.step(closure)
    torch.testing.assert_close(torch.sigmoid(above.detach()), population.holds, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("correction", [Clamp(), Flip()])
def test_no_correction_takes_a_known_negative_away(correction):
    """The estimate is below 0: without knowing, the unlabelled pair teaches nothing, or the wrong way."""
    scores = torch.tensor([[0.0, 3.0], [0.0, 0.0]], requires_grad=True)
    labels, negatives = torch.tensor([[True], [False]]), torch.tensor([[False], [True]])
    loss = PULoss(
        Priors(("a",), (0.1,), (0.6,)), ShiftedPositiveUnlabelled(), LogSigmoidRanking(), correction
    )
    (silent,) = torch.autograd.grad(loss(scores, labels), scores)
    (known,) = torch.autograd.grad(loss(scores, labels, negatives=negatives), scores)
    assert silent[1, 1] <= 0 < known[1, 1]


def test_a_running_estimate_judges_what_is_left():
    scores, labels, negatives, weights = drawn(3, 12, 0.5)
    priors = Priors(("a", "b", "c"), (0.3, 0.3, 0.3), (0.4, 0.5, 0.6))
    loss = loss_named("ssr-pu")(priors, correction="running", normalisation="expected")
    loss(scores, labels, weights, negatives)
    if_negative = SquaredRanking(0.25)(scores)[1]
    left = ((~labels & ~negatives) * weights[:, None] * if_negative).sum(0)
    wanted = left / (~labels * weights[:, None]).sum(0)
    torch.testing.assert_close(loss.recent.means()[0].double(), wanted, rtol=1e-5, atol=1e-6)


def test_views_and_a_teacher_hand_them_on():
    scores, labels, negatives, weights = drawn(4, 8, 0.5)
    scores = scores / scores.norm(dim=1, keepdim=True)
    pair, relation = labels.nonzero(as_tuple=True)
    metric = loss_named("p3m")(PRIORS)
    views = Views(pair, relation)
    told = metric.with_views(scores, labels, weights, views, negatives)
    torch.testing.assert_close(told, metric(scores, labels, weights, negatives))
    likelihood = LabelLikelihood(PRIORS)
    taught = Distillation(likelihood, 0.0)(scores, labels, weights, negatives, teacher=scores)
    torch.testing.assert_close(taught, likelihood(scores, labels, weights, negatives))
    assert not torch.allclose(taught, likelihood(scores, labels, weights))


def test_negatives_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"found negatives \[2, 2\], expected \[2, 3\]"):
        LabelLikelihood(PRIORS)(
            torch.zeros(2, 4), torch.zeros(2, 3, dtype=torch.bool), negatives=torch.zeros(2, 2)
        )
