"""Finite values and gradients for every input, in every precision; and nothing that makes a device wait."""

import math
from itertools import product

import pytest
import torch
from tests.making import make_loss

from unnoted.losses.base import LARGEST_SCORE
from unnoted.losses.corrections import CORRECTIONS
from unnoted.losses.losses import LOSSES
from unnoted.losses.normalisations import NORMALISATIONS
from unnoted.priors import Priors

torch.set_num_threads(1)

BELOW_ONE = math.nextafter(1, 0)
USUAL = Priors(("a", "b"), (0.01, 0.2), (0.03, 0.6))
MIXED = torch.tensor([[True, False], [False, True], [False, False]])

PRIORS_AT_THEIR_LIMITS = {  # (labelled, overall)
    "usual": (0.01, 0.03),
    "complete": (0.2, 0.2),
    "never labelled": (0.0, 0.0),
    "never labelled, prior given": (0.0, 0.5),
    "certain": (0.3, BELOW_ONE),
    "certain, never labelled": (0.0, BELOW_ONE),
    "everything labelled": (BELOW_ONE, BELOW_ONE),
    "almost everything labelled": (0.999999, 0.999999),
    "tiny": (1e-40, 1e-40),
    "smallest": (5e-324, 5e-324),
    "smallest and certain": (5e-324, BELOW_ONE),
}
LABELLINGS = {  # of three pairs
    "one": [True, False, False],
    "none": [False, False, False],
    "all": [True, True, True],
}


def is_composed(loss):
    """Whether a loss has a correction and a normalisation to choose."""
    return {"correction", "normalisation"} <= loss.options.model_fields.keys()


COMPOSITIONS = [
    (name, correction, normalisation, class_weight)
    for name, correction, normalisation, class_weight in product(
        LOSSES, CORRECTIONS, NORMALISATIONS, [True, False]
    )
    if (is_composed(LOSSES[name]) and (correction, normalisation) != ("flip", "expected"))
    or (correction, normalisation, class_weight) == ("flip", "per-batch", True)
]


def losses(priors):
    for name, correction, normalisation, class_weight in COMPOSITIONS:
        options = {"correction": correction, "normalisation": normalisation, "class_weight": class_weight}
        yield make_loss(name, priors, **(options if is_composed(LOSSES[name]) else {}))


def limits(pairs=3):
    """A class for every prior with every labelling, all in one batch."""
    columns = list(product(PRIORS_AT_THEIR_LIMITS, LABELLINGS))
    labelled = tuple(PRIORS_AT_THEIR_LIMITS[prior][0] for prior, _ in columns)
    overall = tuple(PRIORS_AT_THEIR_LIMITS[prior][1] for prior, _ in columns)
    priors = Priors(tuple(map(" / ".join, columns)), labelled, overall)
    return priors, torch.tensor([LABELLINGS[labelling] for _, labelling in columns]).T[:pairs]


def score_cases(labels, dtype):
    pairs, relations = labels.shape
    huge = torch.finfo(dtype).max
    signs = torch.ones(pairs, relations + 1, dtype=dtype)
    signs[:, ::2] = -1
    yield torch.randn(pairs, relations + 1, generator=torch.Generator().manual_seed(0)).to(dtype)
    yield torch.zeros(pairs, relations + 1, dtype=dtype)
    yield huge * signs
    yield -huge * signs


def value_and_gradient(loss, scores, labels):
    loss.forget()
    scores = scores.clone().requires_grad_()
    value = loss(scores, labels)
    value.backward()
    return value.detach(), scores.grad


@pytest.mark.parametrize("pairs", [3, 0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_finite(dtype, pairs):
    priors, labels = limits(pairs)
    for loss, scores in product(losses(priors), score_cases(labels, dtype)):
        value, gradient = value_and_gradient(loss, scores, labels)
        assert value.shape == () and value.isfinite(), (loss, scores)
        assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert gradient.dtype == dtype and gradient.isfinite().all(), (loss, scores)


def test_float16_is_float32_rounded():
    """A gradient that float16 cannot hold stays infinite: that is what loss scaling waits for."""
    priors, labels = limits()
    for loss, scores in product(losses(priors), score_cases(labels, torch.float16)):
        value, gradient = value_and_gradient(loss, scores, labels)
        raised_value, raised_gradient = value_and_gradient(loss, scores.float(), labels)
        assert torch.equal(value, raised_value) and value.isfinite()
        assert torch.equal(gradient, raised_gradient.half()) and raised_gradient.isfinite().all()


def test_no_pair_has_risk_zero_and_keeps_the_graph():
    for loss in losses(USUAL):
        scores = torch.zeros(0, 3, requires_grad=True)
        value = loss(scores, torch.zeros(0, 2, dtype=torch.bool))
        assert value.item() == 0 and value.requires_grad


def test_weights_of_zero_are_no_pairs():
    scores = torch.randn(3, 3)
    for loss in losses(USUAL):
        assert loss(scores, MIXED, torch.zeros(3)).item() == 0


def test_a_relation_that_never_holds_has_no_positive_term():
    """π = π_l = 0: what is left is the mean negative loss of the unlabelled pairs, whatever is labelled."""
    labels = MIXED[:, :1]
    scores = torch.randn(3, 2, requires_grad=True)
    loss = make_loss("ssr-pu", Priors(("a",), (0.0,), (0.0,)))
    value = loss(scores, labels)
    expected = ((scores[1:, 1] - scores[1:, 0] + 0.25) ** 2 / 4).mean()
    torch.testing.assert_close(value, expected)
    value.backward()
    assert scores.grad[0].eq(0).all() and scores.grad[1:].ne(0).all()


def test_bfloat16_is_computed_in_float32():
    for loss in losses(USUAL):
        scores = torch.randn(3, 3, generator=torch.Generator().manual_seed(1)).bfloat16()
        assert torch.equal(loss(scores, MIXED), loss(scores.float(), MIXED))


def test_autocast_changes_nothing():
    scores = torch.randn(3, 3, generator=torch.Generator().manual_seed(2))
    for loss in losses(USUAL):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            cast = loss(scores, MIXED)
        assert torch.equal(cast, loss(scores, MIXED))


def test_scores_are_cut_off_only_where_nothing_is_left_to_learn():
    labels = torch.tensor([[True, False]])
    for loss in losses(USUAL):
        at_edge = loss(torch.tensor([[0.0, LARGEST_SCORE, 1.0]]), labels)
        assert torch.equal(at_edge, loss(torch.tensor([[0.0, math.inf, 1.0]]), labels))
        assert loss(torch.tensor([[0.0, math.nan, 1.0]]), labels).isnan()  # never hidden


def test_nothing_waits_for_the_device():
    """Tensors without data refuse every operation that would need a value on the processor."""
    for loss in losses(USUAL):
        scores = torch.zeros(5, 3, device="meta", requires_grad=True)
        labels = torch.zeros(5, 2, dtype=torch.bool, device="meta")
        value = loss.to("meta")(scores, labels, torch.ones(5, device="meta"))
        value.backward()
        assert value.device.type == "meta" and scores.grad.shape == (5, 3)


def test_wrong_shapes_are_named():
    loss = make_loss("ssr-pu", USUAL)
    with pytest.raises(ValueError, match=r"found scores \[3, 3\] and labels \[3, 3\], expected"):
        loss(torch.zeros(3, 3), torch.zeros(3, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"found weights \[2\], expected \[3\]"):
        loss(torch.zeros(3, 3), torch.zeros(3, 2, dtype=torch.bool), torch.ones(2))
    with pytest.raises(ValueError, match="found labels of 4 relations, expected the 2 of the priors"):
        loss(torch.zeros(3, 5), torch.zeros(3, 4, dtype=torch.bool))
