"""P3M's loss and its views against plain loops."""

import pytest
import torch
from tests.making import make_loss
from tests.reference.p3m import p3m_loss

from unnoted.losses import Views
from unnoted.priors import Priors

PRIORS = Priors(("a", "b"), (0.2, 0.3), (0.6, 0.5))


def batch():
    torch.manual_seed(3)
    labels = torch.tensor([[True, True], [False, True], [False, False], [True, False], [False, False]])
    scores, weights = (
        torch.rand(5, 3, dtype=torch.float64) - 0.5,
        torch.tensor([1.0, 2.0, 1.0, 1.0, 3.0]).double(),
    )
    facts = labels.nonzero().tolist()
    second, mixed = torch.rand(2, len(facts), 3, dtype=torch.float64) - 0.5
    return scores, labels, weights, facts, second, mixed, torch.rand(len(facts), dtype=torch.float64)


@pytest.mark.parametrize("correction", ["none", "clamp", "flip"])
def test_values_and_gradients_are_those_of_plain_loops(correction):
    scores, labels, weights, facts, second, mixed, share = batch()
    inputs = [each.requires_grad_() for each in (scores, second, mixed)]
    pair, relation = torch.tensor(facts).unbind(1)
    loss = make_loss("p3m", PRIORS, correction=correction, mixup_weight=0.3)
    found = loss.with_views(scores, labels, weights, Views(pair, relation, second, mixed, share))
    expected = p3m_loss(
        scores, labels, weights, PRIORS.labelled, PRIORS.overall, facts, second, mixed, share, 0.3, correction
    )
    torch.testing.assert_close(found, expected)
    for one, other in zip(*(torch.autograd.grad(value, inputs) for value in (found, expected)), strict=True):
        torch.testing.assert_close(one, other)


def test_without_views_it_is_the_risk_of_the_scores():
    scores, labels, weights, facts, *_ = batch()
    pair, relation = torch.tensor(facts).unbind(1)
    loss = make_loss("p3m", PRIORS)
    assert torch.equal(
        loss.with_views(scores, labels, weights, Views(pair, relation)), loss(scores, labels, weights)
    )
    same = loss.with_views(scores, labels, weights, Views(pair, relation, second=scores[pair]))
    torch.testing.assert_close(same, loss(scores, labels, weights))


def test_what_is_wanted_follows_the_switches():
    assert make_loss("p3m", PRIORS, second_view=False, mixup_weight=0).wanted_views is None
    assert not make_loss("p3m", PRIORS, second_view=False).wanted_views.second
    assert make_loss("ssr-pu", PRIORS).wanted_views is None
    with pytest.raises(NotImplementedError, match="wants no views"):
        make_loss("ssr-pu", PRIORS).with_views(*batch()[:3], Views(torch.zeros(0), torch.zeros(0)))
