"""The likelihood of the labels, against tests/reference/label_likelihood.py and its theory."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.known_negatives import reviewed_likelihood
from tests.reference.label_likelihood import likelihood_loss
from tests.unit.losses.factories import ReviewedPopulation, reviewed_batch

from unnoted.calibration.propensity import labelling_log_odds
from unnoted.losses import Distillation, LabelLikelihood
from unnoted.priors import Priors

PRIORS = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0))
SLOPES = st.sampled_from([0.0, 0.4, 0.8])


def best_probabilities(loss, size, labelled):
    """The probability of each cell that minimises a loss, where a share `labelled` of its pairs has a label."""
    labels = torch.tensor([[True], [False]]).repeat(len(size), 1)
    weights = torch.stack([size * labelled, size * (1 - labelled)], 1).flatten()
    logits = torch.full((len(size), 1), -1.0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [logits], max_iter=1000, tolerance_grad=1e-13, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        of_both = torch.nn.functional.pad(logits, (1, 0)).repeat_interleave(2, 0)
        value = loss(of_both, labels, weights)
        value.backward()
        return value

    optimiser.step(closure)
    return logits.detach().sigmoid().flatten()


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 9999),
    pairs=st.integers(0, 6),
    share=st.sampled_from([0.0, 0.3]),
    slope=SLOPES,
    spread=st.sampled_from([1.0, 3.0, 6.0]),
)
def test_equals_plain_loops(seed, pairs, share, slope, spread):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(0, spread, (pairs, 4)), rng.random((pairs, 3)) < share
    labels[:, 2] = False  # a relation of prior 0 has no label
    weights = rng.choice([0.5, 1.0, 4.0], pairs)
    found = LabelLikelihood(PRIORS, slope)(*map(torch.tensor, (logits, labels.reshape(pairs, 3), weights)))
    wanted = likelihood_loss(
        logits.tolist(), labels.tolist(), weights.tolist(), PRIORS.labelled, PRIORS.overall, slope
    )
    assert found.item() == pytest.approx(wanted, rel=1e-6, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), slope=SLOPES)
def test_the_gradient_is_that_of_the_plain_loops(seed, slope):
    """Including how the offset moves with every score."""
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(0, 2, (4, 4)), rng.random((4, 3)) < 0.3
    labels[:, 2] = False
    tensor = torch.tensor(logits, requires_grad=True)
    (found,) = torch.autograd.grad(LabelLikelihood(PRIORS, slope)(tensor, torch.tensor(labels)), tensor)
    for place in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-5
        there, back = (
            likelihood_loss(
                (logits + sign * step).tolist(),
                labels.tolist(),
                [1.0] * 4,
                PRIORS.labelled,
                PRIORS.overall,
                slope,
            )
            for sign in (1, -1)
        )
        assert found[place].item() == pytest.approx((there - back) / 2e-5, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_the_minimum_over_a_population_is_the_probability_that_the_relation_holds(slope):
    held = torch.tensor([0.01, 0.2, 0.6, 0.9], dtype=torch.float64)
    size = torch.tensor([0.9, 0.05, 0.03, 0.02], dtype=torch.float64)
    true, frequency = float((size * held).sum()), torch.tensor([0.36], dtype=torch.float64)
    labelling = labelling_log_odds(
        held.logit().unsqueeze(1), (size * held).unsqueeze(1), frequency.logit(), slope
    ).sigmoid()
    assert float((size * held) @ labelling) == pytest.approx(0.36 * true, rel=1e-6)
    loss = LabelLikelihood(Priors(("a",), (0.36 * true,), (true,)), slope)
    found = best_probabilities(loss, size, labelling.squeeze(1) * held)
    assert found.tolist() == pytest.approx(held.tolist(), abs=2e-3)


def test_labels_denser_than_the_assumed_frequency_have_a_finite_optimum():
    """Of evident pairs 60 % are true, and 70 % of these facts labelled: 42 %, where c is assumed to be 0.36.

    A fair sample cannot be so dense: without a propensity the score grows without end.
    """
    size, held = torch.tensor([0.1, 0.9]).double(), torch.tensor([0.6, 0.1]).double()
    labelled, true = held * torch.tensor([0.7, 0.133]), float(size @ held)
    priors = Priors(("a",), (0.36 * true,), (true,))
    assert best_probabilities(LabelLikelihood(priors, 0.0), size, labelled)[0] > 0.9999
    assert best_probabilities(LabelLikelihood(priors, 0.6), size, labelled)[0] < 0.9


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_an_unlabelled_pair_costs_a_bounded_amount(slope):
    loss = LabelLikelihood(Priors(("a",), (0.1,), (0.4,)), slope)
    worst = loss(torch.tensor([[0.0, 1e9]]), torch.tensor([[False]]))
    assert worst.item() == pytest.approx(-np.log(0.75), rel=1e-5)


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_complete_labels_make_it_cross_entropy(slope):
    logits, labels = torch.randn(5, 3), torch.rand(5, 2) < 0.3
    found = LabelLikelihood(Priors(("a", "b"), (0.1, 0.2), (0.1, 0.2)), slope)(logits, labels)
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[:, 1:] - logits[:, :1], labels.float(), reduction="none"
    )
    assert found.item() == pytest.approx(wanted.sum(1).mean().item(), rel=1e-5)


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_gradients_are_finite_for_every_score_and_prior(slope):
    priors = Priors(("all", "none", "unseen"), (0.1, 0.0, 0.0), (0.1, 0.0, 0.2))
    logits = torch.tensor([[0.0, 1e9, -1e9, 0.0], [1e9, -1e9, 1e9, 5.0]], requires_grad=True)
    loss = LabelLikelihood(priors, slope)(logits, torch.tensor([[True, False, False], [False, True, False]]))
    (gradient,) = torch.autograd.grad(loss, logits)
    assert loss.isfinite() and gradient.isfinite().all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 6), st.sampled_from([0.0, 0.4, 1.0]))
def test_known_negatives_equal_plain_loops(seed, pairs, share):
    logits, labels, negatives, weights = reviewed_batch(seed, pairs, share)
    found = LabelLikelihood(PRIORS, propensity_slope=0)(logits, labels, weights, negatives)
    plain = [each.tolist() for each in (logits, labels, negatives, weights)]
    assert found.item() == pytest.approx(reviewed_likelihood(*plain, (1 / 3, 1.0, 1.0)), rel=1e-9)


def test_it_is_right_however_reviewed_pairs_were_chosen():
    """Its minimum over the population shows how often the relation holds in each kind of pair."""
    reviewed = ReviewedPopulation(looked=(0.0, 0.1, 0.8))
    loss = LabelLikelihood(Priors(("a",), (reviewed.first,), (reviewed.overall,)), propensity_slope=0)
    above = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([above], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        logits = torch.stack([torch.zeros(3, dtype=torch.float64), above], 1)[reviewed.kinds]
        value = loss(logits, reviewed.labels, reviewed.weights, reviewed.negatives)
        value.backward()
        return value

    optimiser.step(closure)
    torch.testing.assert_close(torch.sigmoid(above.detach()), reviewed.holds, rtol=1e-4, atol=1e-5)


def test_a_teacher_hands_known_negatives_on():
    logits, labels, negatives, weights = reviewed_batch(4, 8, 0.5)
    loss = LabelLikelihood(PRIORS)
    found = Distillation(loss, 0.0)(logits, labels, weights, negatives, teacher=logits)
    torch.testing.assert_close(found, loss(logits, labels, weights, negatives))
    assert not torch.allclose(found, loss(logits, labels, weights))
