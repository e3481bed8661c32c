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
    logits, weights = (
        torch.rand(5, 3, dtype=torch.float64) - 0.5,
        torch.tensor([1.0, 2.0, 1.0, 1.0, 3.0]).double(),
    )
    facts = labels.nonzero().tolist()
    second, mixed = torch.rand(2, len(facts), 3, dtype=torch.float64) - 0.5
    return logits, labels, weights, facts, second, mixed, torch.rand(len(facts), dtype=torch.float64)


@pytest.mark.parametrize("correction", ["none", "clamp", "flip"])
def test_values_and_gradients_are_those_of_plain_loops(correction):
    logits, labels, weights, facts, second, mixed, share = batch()
    inputs = [each.requires_grad_() for each in (logits, second, mixed)]
    pair, relation = torch.tensor(facts).unbind(1)
    loss = make_loss("p3m", PRIORS, correction=correction, mixup_weight=0.3)
    found = loss.with_views(logits, labels, weights, Views(pair, relation, second, mixed, share))
    expected = p3m_loss(
        logits, labels, weights, PRIORS.labelled, PRIORS.overall, facts, second, mixed, share, 0.3, correction
    )
    torch.testing.assert_close(found, expected)
    for one, other in zip(*(torch.autograd.grad(value, inputs) for value in (found, expected)), strict=True):
        torch.testing.assert_close(one, other)


def test_without_views_it_is_the_loss_of_the_logits():
    logits, labels, weights, facts, *_ = batch()
    pair, relation = torch.tensor(facts).unbind(1)
    loss = make_loss("p3m", PRIORS)
    assert torch.equal(
        loss.with_views(logits, labels, weights, Views(pair, relation)), loss(logits, labels, weights)
    )
    same = loss.with_views(logits, labels, weights, Views(pair, relation, second=logits[pair]))
    torch.testing.assert_close(same, loss(logits, labels, weights))


def test_the_options_say_which_views_are_needed():
    assert not make_loss("p3m", PRIORS, second_view=False, mixup_weight=0).needs_views
    assert make_loss("p3m", PRIORS, second_view=False).needs_views


def test_known_negatives_reach_the_loss():
    logits, labels, weights, facts, *_ = batch()
    pair, relation = torch.tensor(facts).unbind(1)
    negatives, loss = (
        torch.tensor([[False, False]] * 4 + [[True, False]]),
        make_loss("p3m", PRIORS, correction="none"),
    )
    found = loss.with_views(logits, labels, weights, Views(pair, relation), negatives)
    torch.testing.assert_close(found, loss(logits, labels, weights, negatives))
