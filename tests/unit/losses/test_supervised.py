"""Supervised losses and distillation, and their gradients, against plain loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import make_loss
from tests.reference.baseline_losses import LOSSES, baseline_loss, score_difference
from tests.reference.pu_losses import adaptive_threshold_loss

from unnoted.losses import (
    AdaptiveFocal,
    BalancedSoftmax,
    CrossEntropy,
    Distillation,
    LogSigmoid,
    PositiveNegative,
    PULoss,
)
from unnoted.priors import Priors

torch.set_num_threads(1)

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
NAMES = ["atlop", *LOSSES]


@st.composite
def batches(draw):
    """Logits that float32 holds exactly, those of a teacher, labels and weights."""
    shape = draw(st.integers(0, 6), "pairs"), draw(st.integers(1, 5), "relations")
    share = draw(st.sampled_from([0.0, 0.3, 1.0]), "labelled share")
    rng = np.random.default_rng(draw(st.integers(0, 9999), "seed"))
    logits, teacher = (
        torch.tensor(rng.normal(0, 3, (shape[0], shape[1] + 1)).astype(np.float32)) for _ in range(2)
    )
    weights = torch.tensor(rng.choice([0.5, 1.0, 4.0], shape[0])).float() if draw(st.booleans()) else None
    return logits, teacher, torch.tensor(rng.random(shape) < share).reshape(shape), weights


def check(fast, plain, logits):
    def with_gradient(loss, dtype):
        inputs = logits.detach().to(dtype, copy=True).requires_grad_()
        value = loss(inputs)
        return value.detach().double(), torch.autograd.grad(value, inputs)[0].double()

    expected, expected_gradient = with_gradient(lambda x: plain(x) + 0 * x.sum(), torch.float64)
    for dtype, tolerance in TOLERANCE.items():
        found, gradient = with_gradient(fast, dtype)
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(gradient, expected_gradient, rtol=tolerance, atol=tolerance)


def ones(logits, weights):
    return torch.ones(len(logits)) if weights is None else weights


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(batches())
def test_plain_loops(name, batch):
    logits, _, labels, weights = batch

    def plain(x):
        if name == "atlop":
            return adaptive_threshold_loss(x, labels, ones(logits, weights))
        return baseline_loss(name, x, labels, ones(logits, weights))

    check(lambda x: make_loss(name)(x, labels, weights), plain, logits)


@pytest.mark.parametrize(("name", "first"), [("adaptive-focal", 0), ("cross-entropy", 1)])
@settings(max_examples=40, deadline=None)
@given(batches(), st.sampled_from([0.0, 0.25, 1.0]))
def test_distillation_by_plain_loops(name, first, batch, weight):
    logits, teacher, labels, weights = batch

    def plain(x):
        counted = ones(logits, weights)
        difference = score_difference(x, teacher.double(), counted, first)
        return baseline_loss(name, x, labels, counted) + weight * difference

    distillation = Distillation(make_loss(name), weight)
    check(lambda x: distillation(x, labels, weights, teacher=teacher), plain, logits)


FINITE = st.floats(-torch.finfo(torch.float32).max, torch.finfo(torch.float32).max, width=32)


@pytest.mark.parametrize("name", [*NAMES, "distillation"])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_finite_for_all_finite_logits(name, data):
    pairs, relations = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))

    def drawn(strategy, *shape):
        size = math.prod(shape)
        return torch.tensor(data.draw(st.lists(strategy, min_size=size, max_size=size))).reshape(shape)

    logits, teacher = (drawn(FINITE, pairs, relations + 1).float() for _ in range(2))
    labels = drawn(st.booleans(), pairs, relations).bool()
    weights = drawn(st.sampled_from([0.0, 1.0, 50.0]), pairs).float()
    logits.requires_grad_()
    if name == "distillation":
        loss = Distillation(AdaptiveFocal())(logits, labels, weights, teacher=teacher)
    else:
        loss = make_loss(name)(logits, labels, weights)
    loss.backward()
    assert loss.isfinite() and logits.grad.isfinite().all()
    assert loss >= 0
    assert weights.sum() > 0 or loss == 0


def test_cross_entropy_is_pn_with_log_sigmoid():
    torch.manual_seed(0)
    logits, labels, weights = torch.randn(9, 3).double(), torch.rand(9, 2) < 0.4, torch.rand(9)
    priors = Priors(("a", "b"), (0.1, 0.2), (0.1, 0.2))
    pn = PULoss(priors, PositiveNegative(), LogSigmoid(), "none", "expected", class_weight=False)
    torch.testing.assert_close(CrossEntropy()(logits, labels, weights), pn(logits, labels, weights) / 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_threshold_class_is_used_by_those_that_say_so(name):
    torch.manual_seed(0)
    logits, labels, loss = torch.randn(5, 3), torch.rand(5, 2) < 0.5, make_loss(name)
    moved = logits + torch.tensor([2.0, 0.0, 0.0])
    same = torch.equal(loss(logits, labels), loss(moved, labels))
    assert same == (not loss.decoder.decision.uses_threshold_class)


def test_no_gradient_reaches_the_teacher():
    logits, teacher = (torch.ones(2, 2, requires_grad=True) for _ in range(2))
    Distillation(AdaptiveFocal())(logits, torch.eye(2, 1).bool(), teacher=teacher * 2).backward()
    assert teacher.grad is None and logits.grad.ne(0).any()


def test_distillation_raises_half_precision():
    torch.manual_seed(0)
    logits, teacher = torch.randn(2, 4, 3).bfloat16()
    labels, distillation = torch.rand(4, 2) < 0.5, Distillation(BalancedSoftmax(), 0.5)
    found = distillation(logits, labels, teacher=teacher)
    assert found.dtype == torch.float32
    assert torch.equal(found, distillation(logits.float(), labels, teacher=teacher.float()))
    assert torch.equal(found, distillation(logits.float(), labels, teacher=teacher.double()))


def test_distillation_takes_any_student():
    torch.manual_seed(0)
    logits, labels = torch.randn(4, 3), torch.rand(4, 2) < 0.5
    student = make_loss("ssr-pu", Priors(("a", "b"), (0.1, 0.2), (0.3, 0.6)))
    found = Distillation(student, 2.0)(logits, labels, teacher=logits + 0.5)
    torch.testing.assert_close(found, student(logits, labels) + 0.5)
    meta = torch.zeros(5, 3, device="meta", requires_grad=True)  # nothing waits for the device
    labels = torch.zeros(5, 2, dtype=torch.bool, device="meta")
    Distillation(student)(meta, labels, torch.ones(5, device="meta"), teacher=meta.detach()).backward()
    assert meta.grad.shape == (5, 3)


def test_what_distillation_cannot_use_is_refused():
    with pytest.raises(ValueError, match="teacher"):
        Distillation(CrossEntropy())(torch.zeros(2, 3), torch.ones(2, 2).bool(), teacher=torch.zeros(2, 4))
    for weight in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="weight"):
            Distillation(CrossEntropy(), weight)
