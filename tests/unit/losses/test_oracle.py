"""Every loss and its gradient against the plain loops of tests/reference/losses.py."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reference.pu_losses import (
    LOSSES,
    adaptive_threshold_loss,
    class_terms,
    coefficients,
    positive_unlabelled_loss,
)

from unnoted.losses.adaptive_threshold import AdaptiveThreshold
from unnoted.losses.corrections import CORRECTIONS
from unnoted.losses.estimators import ESTIMATORS
from unnoted.losses.normalisations import NORMALISATIONS
from unnoted.losses.positive_unlabelled import PULoss
from unnoted.losses.surrogates import SURROGATES, SquaredRanking
from unnoted.priors import Priors

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
FACTORS = list(product(ESTIMATORS, SURROGATES, NORMALISATIONS))
OF_ONE_BATCH = [name for name, correction in CORRECTIONS.items() if not correction.is_running]

torch.set_num_threads(1)


def batch(seed, pairs, relations, labelled_share=0.3, weighted=True, spread=1.0):
    """Scores that float32 holds exactly, labels and weights."""
    rng = np.random.default_rng(seed)
    scores = torch.tensor(rng.normal(0, spread, (pairs, relations + 1)).astype(np.float32))
    labels = torch.tensor(rng.random((pairs, relations)) < labelled_share)
    weights = torch.tensor(rng.choice([1.0, 2.0, 0.5, 4.0], pairs)) if weighted else torch.ones(pairs)
    return scores, labels, weights.float()


def with_gradient(make_loss, scores, dtype):
    scores = scores.detach().to(dtype, copy=True).requires_grad_()
    loss = make_loss(scores)
    (gradient,) = torch.autograd.grad(loss, scores)
    return loss.detach().double(), gradient.double()


def check(fast, plain, scores, dtype, value_scale=None, least_gradient=0.0):
    """Values relative to their terms, gradients relative to the largest one: differences cancel digits."""
    found, found_gradient = with_gradient(fast, scores, dtype)
    # The loops over no pair, or over no loss that counts, give a constant.
    expected, expected_gradient = with_gradient(lambda x: plain(x) + 0 * x.sum(), scores, torch.float64)
    value_scale = expected.abs() if value_scale is None else value_scale
    # A loss like −log(1 − 1e-8) is 0 up to the rounding of 1.
    assert (found - expected).abs() <= TOLERANCE[dtype] * value_scale + torch.finfo(dtype).eps
    if scores.numel():
        gradient_scale = max(least_gradient, expected_gradient.abs().max())
        assert (found_gradient - expected_gradient).abs().max() <= TOLERANCE[dtype] * gradient_scale


def make(priors, estimator, surrogate, correction, normalisation, class_weight, margin):
    chosen = SquaredRanking(margin) if surrogate == "squared-ranking" else SURROGATES[surrogate]()
    return PULoss(
        priors,
        ESTIMATORS[estimator],
        chosen,
        CORRECTIONS[correction],
        NORMALISATIONS[normalisation],
        class_weight,
    )


@pytest.mark.parametrize("class_weight", [True, False])
@pytest.mark.parametrize("correction", OF_ONE_BATCH)
@pytest.mark.parametrize(("estimator", "surrogate", "normalisation"), FACTORS)
def test_every_composition(estimator, surrogate, normalisation, correction, class_weight):
    scores, labels, weights = batch(seed=3, pairs=11, relations=4)
    # Class 0 has a negative part below 0, the others have not; class 3 was never labelled in training.
    labelled, overall = (0.2, 0.4, 0.05, 0.0), (0.9, 0.42, 0.05, 0.1)
    scores[labels[:, 0], 1], scores[~labels[:, 0], 1] = 3.0, scores[~labels[:, 0], 0]
    if SURROGATES[surrogate].needs_cosines:
        scores /= 8
    choices = {
        "estimator": estimator,
        "loss": surrogate,
        "margin": 0.25,
        "normalisation": normalisation,
        "class_weight": class_weight,
    }
    terms = [
        class_terms(scores.double(), labels, weights, labelled[k], overall[k], k, **choices) for k in range(4)
    ]
    assert (terms[0][1] + terms[0][2] < 0) == (estimator != "pn")
    assert terms[1][1] + terms[1][2] > 0

    loss = make(Priors(("a", "b", "c", "d"), labelled, overall), estimator, surrogate, correction,
                normalisation, class_weight, 0.25)  # fmt: skip

    def plain(x):
        return positive_unlabelled_loss(
            x, labels, weights, labelled, overall, correction=correction, **choices
        )

    for dtype in TOLERANCE:
        check(lambda x: loss(x, labels, weights), plain, scores, dtype)


@st.composite
def priors_of(draw, relations):
    shares = st.just(0.0) | st.floats(1e-9, 0.9)  # a labelled prior is a count of pairs over all pairs
    labelled = [draw(shares) for _ in range(relations)]
    rest = [draw(st.just(0.0) | st.floats(1e-9, 0.99)) for _ in range(relations)]
    overall = [prior + (1 - prior) * share for prior, share in zip(labelled, rest, strict=True)]
    return Priors(tuple(f"r{k}" for k in range(relations)), tuple(labelled), tuple(overall))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_made_shapes_priors_labels_and_weights(data):
    pairs, relations = data.draw(st.integers(0, 7), "pairs"), data.draw(st.integers(1, 4), "relations")
    priors = data.draw(priors_of(relations), "priors")
    share = data.draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]), "labelled share")
    weighted = data.draw(st.booleans(), "weighted")
    scores, labels, weights = batch(data.draw(st.integers(0, 999), "seed"), pairs, relations, share, weighted)
    estimator, loss, normalisation = data.draw(st.sampled_from(FACTORS), "composition")
    correction, class_weight = data.draw(st.sampled_from(OF_ONE_BATCH)), data.draw(st.booleans())
    margin = data.draw(st.sampled_from([0.0, 0.1, 0.25, 1.0]), "margin")
    choices = {"estimator": estimator, "loss": loss, "margin": margin, "normalisation": normalisation,
               "class_weight": class_weight}  # fmt: skip
    scale = torch.zeros((), dtype=torch.float64)
    for k in range(relations):
        prior = priors.labelled[k], priors.overall[k]
        terms = class_terms(scores.double(), labels, weights, *prior, k, **choices)
        size = sum(term.abs() for term in terms)
        negative = terms[1] + terms[2]
        assume(negative == 0 or abs(negative) > 1e-4 * size)  # else rounding decides whether it is corrected
        scale = scale + size

    loss = make(priors, estimator, loss, correction, normalisation, class_weight, margin)
    given_weights = weights if weighted else None

    def plain(x):
        return positive_unlabelled_loss(
            x, labels, weights, priors.labelled, priors.overall, correction=correction, **choices
        )

    for dtype in TOLERANCE:
        check(lambda x: loss(x, labels, given_weights), plain, scores, dtype, scale)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 6), st.integers(1, 5), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.integers(0, 999)
)
def test_adaptive_threshold(pairs, relations, share, weighted, seed):
    scores, labels, weights = batch(seed, pairs, relations, share, weighted, spread=3.0)

    def plain(x):
        return adaptive_threshold_loss(x, labels, weights)

    # A soft-max that is all but decided has a loss far below the scores it is the difference of.
    scale = plain(scores.double()).clamp(min=1)
    for dtype in TOLERANCE:
        check(
            lambda x: AdaptiveThreshold()(x, labels, weights if weighted else None),
            plain, scores, dtype, scale, least_gradient=1 / max(1, pairs),
        )  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_coefficients_are_the_papers(estimator):
    priors = Priors(("a", "b", "c"), (0.01, 0.2, 0.0), (0.03, 0.2, 0.4))
    found = ESTIMATORS[estimator].coefficients(priors)
    for k in range(3):
        expected = coefficients(estimator, priors.labelled[k], priors.overall[k])
        assert (found.positive[k], found.unlabelled[k], -found.labelled[k]) == pytest.approx(
            expected, rel=1e-14
        )


def test_the_losses_have_the_papers_names():
    assert set(LOSSES) == set(SURROGATES)


def test_gradients_by_finite_differences():
    """Independent of any autograd formula; the corrections are away from their edge here."""
    scores, labels, weights = batch(seed=5, pairs=6, relations=3)
    priors = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.5, 0.1))
    for surrogate, correction in product(SURROGATES, CORRECTIONS):
        loss = make(priors, "s-pu", surrogate, correction, "per-batch", True, 0.25)
        assert torch.autograd.gradcheck(
            lambda x, loss=loss: loss(x, labels, weights), scores.double().requires_grad_()
        )
