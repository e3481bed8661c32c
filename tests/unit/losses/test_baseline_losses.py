"""The losses of the paper's baselines, and distillation, against tests/reference/baseline_losses.py."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import make_loss
from tests.reference.baseline_losses import LOSSES, baseline_loss, score_difference

from unnoted.losses import (
    AdaptiveFocal,
    AdaptiveThreshold,
    BalancedSoftmax,
    CrossEntropy,
    Distillation,
    Expected,
    LogSigmoid,
    PositiveNegative,
    PULoss,
    Uncorrected,
)
from unnoted.priors import Priors

torch.set_num_threads(1)

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
PRIORS = Priors(("a", "b"), (0.1, 0.2), (0.3, 0.6))


@st.composite
def batches(draw):
    """Scores that float32 holds exactly, those of a teacher, labels and weights."""
    shape = draw(st.integers(0, 6), "pairs"), draw(st.integers(1, 5), "relations")
    share = draw(st.sampled_from([0.0, 0.3, 1.0]), "labelled share")
    rng = np.random.default_rng(draw(st.integers(0, 9999), "seed"))
    scores, teacher = (
        torch.tensor(rng.normal(0, 3, (shape[0], shape[1] + 1)).astype(np.float32)) for _ in range(2)
    )
    weighted = draw(st.booleans(), "weighted")
    weights = torch.tensor(rng.choice([0.5, 1.0, 4.0], shape[0])).float() if weighted else None
    return scores, teacher, torch.tensor(rng.random(shape) < share).reshape(shape), weights


def with_gradient(make_loss, scores, dtype):
    scores = scores.detach().to(dtype, copy=True).requires_grad_()
    loss = make_loss(scores)
    (gradient,) = torch.autograd.grad(loss, scores)
    return loss.detach().double(), gradient.double()


def check(fast, plain, scores):
    expected, expected_gradient = with_gradient(lambda x: plain(x) + 0 * x.sum(), scores, torch.float64)
    for dtype, tolerance in TOLERANCE.items():
        found, gradient = with_gradient(fast, scores, dtype)
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(gradient, expected_gradient, rtol=tolerance, atol=tolerance)


def ones(scores, weights):
    return torch.ones(len(scores)) if weights is None else weights


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=40, deadline=None)
@given(batches())
def test_plain_loops(name, batch):
    scores, _, labels, weights = batch
    check(
        lambda x: make_loss(name)(x, labels, weights),
        lambda x: baseline_loss(name, x, labels, ones(scores, weights)),
        scores,
    )


@pytest.mark.parametrize(("loss", "first"), [("adaptive-focal", 0), ("cross-entropy", 1)])
@settings(max_examples=40, deadline=None)
@given(batches(), st.sampled_from([0.0, 0.25, 1.0]))
def test_distillation_by_plain_loops(loss, first, batch, weight):
    scores, teacher, labels, weights = batch

    def plain(x):
        counted = ones(scores, weights)
        difference = score_difference(x, teacher.double(), counted, first)
        return baseline_loss(loss, x, labels, counted) + weight * difference

    distillation = Distillation(make_loss(loss), weight)
    check(lambda x: distillation(x, labels, weights, teacher=teacher), plain, scores)


LARGEST = torch.finfo(torch.float32).max
FINITE = st.floats(-LARGEST, LARGEST, width=32)


@pytest.mark.parametrize("name", ["atlop", *LOSSES, "distillation"])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_finite_for_all_finite_scores(name, data):
    pairs, relations = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    count = pairs * (relations + 1)
    scores, teacher = (
        torch.tensor(data.draw(st.lists(FINITE, min_size=count, max_size=count))).reshape(pairs, -1)
        if pairs
        else torch.zeros(0, relations + 1)
        for _ in range(2)
    )
    labels = torch.tensor(data.draw(st.lists(st.booleans(), min_size=pairs * relations,
                                             max_size=pairs * relations))).reshape(pairs, relations)  # fmt: skip
    weights = torch.tensor(
        data.draw(st.lists(st.sampled_from([0.0, 1.0, 50.0]), min_size=pairs, max_size=pairs))
    )
    scores.requires_grad_()
    if name == "distillation":
        loss = Distillation(AdaptiveFocal())(scores, labels, weights, teacher=teacher)
    else:
        loss = make_loss(name)(scores, labels, weights)
    loss.backward()
    assert loss.isfinite() and scores.grad.isfinite().all()
    assert loss >= 0
    assert weights.sum() > 0 or loss == 0


def test_cross_entropy_is_pn_with_log_sigmoid():
    torch.manual_seed(0)
    scores, labels, weights = torch.randn(9, 3).double(), torch.rand(9, 2) < 0.4, torch.rand(9)
    pn = PULoss(
        Priors(("a", "b"), (0.1, 0.2), (0.1, 0.2)),
        PositiveNegative(),
        LogSigmoid(),
        Uncorrected(),
        Expected(),
        class_weight=False,
    )
    torch.testing.assert_close(CrossEntropy()(scores, labels, weights), pn(scores, labels, weights) / 2)


def test_balanced_softmax_of_one_relation_is_cross_entropy_of_it_and_of_the_none_class():
    scores, labels = torch.linspace(-5, 5, 22).reshape(11, 2), torch.arange(11)[:, None] % 2 == 0
    none = torch.cat([scores[:, :1]] * 2, 1)
    expected = CrossEntropy()(scores, labels) + CrossEntropy()(none, ~labels)
    torch.testing.assert_close(BalancedSoftmax()(scores, labels), expected)


def test_labelled_relations_compete_under_the_adaptive_threshold_only():
    """A second labelled relation rises; what the first is taught changes or does not."""
    labels = torch.tensor([[True, True]])
    taught = {}
    for loss in (AdaptiveThreshold(), AdaptiveFocal()):
        for second in (0.0, 4.0):
            scores = torch.tensor([[0.0, 1.0, second]], requires_grad=True)
            loss(scores, labels).backward()
            taught[type(loss), second] = scores.grad[0, 1].item()
    assert taught[AdaptiveFocal, 0.0] == taught[AdaptiveFocal, 4.0] < 0
    assert taught[AdaptiveThreshold, 0.0] != taught[AdaptiveThreshold, 4.0]


def test_the_none_class_is_used_by_those_that_say_so():
    torch.manual_seed(0)
    scores, labels = torch.randn(5, 3), torch.rand(5, 2) < 0.5
    moved = scores + torch.tensor([2.0, 0.0, 0.0])
    for name in LOSSES:
        loss = make_loss(name)
        assert torch.equal(loss(scores, labels), loss(moved, labels)) == (
            not loss.decoder.decision.reads_none_class
        )


def test_no_gradient_reaches_the_teacher():
    scores, teacher = (torch.ones(2, 2, requires_grad=True) for _ in range(2))
    Distillation(AdaptiveFocal())(scores, torch.eye(2, 1).bool(), teacher=teacher * 2).backward()
    assert teacher.grad is None and scores.grad.ne(0).any()


def test_distillation_raises_half_precision():
    torch.manual_seed(0)
    scores, teacher = torch.randn(2, 4, 3).bfloat16()
    labels, distillation = torch.rand(4, 2) < 0.5, Distillation(BalancedSoftmax(), 0.5)
    found = distillation(scores, labels, teacher=teacher)
    assert found.dtype == torch.float32
    assert torch.equal(found, distillation(scores.float(), labels, teacher=teacher.float()))
    assert torch.equal(found, distillation(scores.float(), labels, teacher=teacher.double()))


def test_distillation_takes_any_student():
    torch.manual_seed(0)
    scores, labels = torch.randn(4, 3), torch.rand(4, 2) < 0.5
    student = make_loss("ssr-pu", PRIORS)
    found = Distillation(student, 2.0)(scores, labels, teacher=scores + 0.5)
    torch.testing.assert_close(found, student(scores, labels) + 0.5)


def test_distillation_waits_for_no_device():
    scores = torch.zeros(5, 3, device="meta", requires_grad=True)
    labels = torch.zeros(5, 2, dtype=torch.bool, device="meta")
    distillation = Distillation(make_loss("ssr-pu", PRIORS)).to("meta")
    distillation(scores, labels, torch.ones(5, device="meta"), teacher=scores.detach()).backward()
    assert scores.grad.shape == (5, 3)


def test_what_distillation_cannot_use_is_named():
    with pytest.raises(ValueError, match=r"found teacher \[2, 4\], expected \[2, 3\]"):
        Distillation(CrossEntropy())(torch.zeros(2, 3), torch.ones(2, 2).bool(), teacher=torch.zeros(2, 4))
    for weight in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"found weight {weight}, expected a finite number, 0 or more"):
            Distillation(CrossEntropy(), weight)
