"""The likelihood of labels, against tests/reference/label_likelihood.py."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.label_likelihood import likelihood_risk

from unnoted.priors import Priors
from unnoted.risks.label_likelihood import LabelLikelihood

PRIORS = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 9999), pairs=st.integers(0, 6), share=st.sampled_from([0.0, 0.3, 1.0]))
def test_equals_plain_loops(seed, pairs, share):
    rng = np.random.default_rng(seed)
    scores, labels = rng.normal(0, 3, (pairs, 4)), rng.random((pairs, 3)) < share
    weights = rng.choice([0.5, 1.0, 4.0], pairs)
    found = LabelLikelihood(PRIORS)(*map(torch.tensor, (scores, labels.reshape(pairs, 3), weights)))
    wanted = likelihood_risk(
        scores.tolist(), labels.tolist(), weights.tolist(), PRIORS.labelled, PRIORS.overall
    )
    assert found.item() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_the_minimum_over_a_population_is_the_probability_that_the_relation_holds():
    """Half of 30 % is noted: the score that minimises the risk shows 30 %."""
    risk = LabelLikelihood(Priors(("a",), (0.15,), (0.3,)))
    labels = torch.tensor([[True], [False]])
    weights = torch.tensor([0.15, 0.85])
    line = torch.linspace(-4, 4, 8001)
    values = [risk(torch.tensor([[0.0, s], [0.0, s]]), labels, weights).item() for s in line[::10]]
    assert torch.sigmoid(line[::10][int(np.argmin(values))]).item() == pytest.approx(0.3, abs=0.01)


def test_silence_costs_at_most_what_is_noted_seldom():
    risk = LabelLikelihood(Priors(("a",), (0.1,), (0.4,)))
    worst = risk(torch.tensor([[0.0, 1e9]]), torch.tensor([[False]]))
    assert worst.item() == pytest.approx(-np.log(0.75), rel=1e-6)


def test_gradients_are_finite_for_every_score_and_prior():
    priors = Priors(("all", "none", "unseen"), (0.1, 0.0, 0.0), (0.1, 0.0, 0.2))
    scores = torch.tensor([[0.0, 1e9, -1e9, 0.0], [1e9, -1e9, 1e9, 5.0]], requires_grad=True)
    risk = LabelLikelihood(priors)(scores, torch.tensor([[True, False, False], [False, True, False]]))
    (gradient,) = torch.autograd.grad(risk, scores)
    assert risk.isfinite() and gradient.isfinite().all()
    assert not gradient[:, 3].any()  # nothing of it is ever noted: silence says nothing


def test_labels_of_other_relations_are_refused():
    with pytest.raises(ValueError, match="found labels of 2 relations, expected the 3 of the priors"):
        LabelLikelihood(PRIORS)(torch.zeros(1, 3), torch.zeros(1, 2, dtype=torch.bool))
