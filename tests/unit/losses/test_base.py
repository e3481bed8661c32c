"""Every loss: its name and options, finite values and gradients in every precision, and nothing waits for a device."""

import math
from itertools import product
from typing import Annotated

import pytest
import torch
from pydantic import Field
from tests.making import make_loss
from tests.unit.losses.factories import reviewed_batch

from unnoted import losses as package
from unnoted.losses import LOSSES, DecisionRule, Link, PairLoss, base, create_loss, get_loss, register_loss
from unnoted.losses.base import LOGIT_CLAMP
from unnoted.losses.pu import CORRECTIONS, NORMALISATIONS, PULoss, SquaredRanking
from unnoted.priors import Priors

torch.set_num_threads(1)

PRIORS = Priors(("a", "b"), (0.01, 0.2), (0.03, 0.6))
MIXED = torch.tensor([[True, False], [False, True], [False, False]])
TABLE = {  # name: estimator, class of the surrogate, reference and top_k of the decision rule, link
    "atlop": (None, None, "threshold-class", 4, "threshold-softmax"),
    "pn": ("PositiveNegative", "Squared", "zero", None, "squared"),
    "sr-pn": ("PositiveNegative", "SquaredRanking", "threshold-class", None, "ranking-margin"),
    "pu": ("PositiveUnlabelled", "Squared", "zero", None, "squared"),
    "sr-pu": ("PositiveUnlabelled", "SquaredRanking", "threshold-class", None, "ranking-margin"),
    "s-pu": ("ShiftedPositiveUnlabelled", "Squared", "zero", None, "squared"),
    "ssr-pu": ("ShiftedPositiveUnlabelled", "SquaredRanking", "threshold-class", None, "ranking-margin"),
    "s-pu-log-sigmoid": ("ShiftedPositiveUnlabelled", "LogSigmoid", "zero", None, "sigmoid"),
    "s-pu-log-sigmoid-ranking": (
        "ShiftedPositiveUnlabelled",
        "LogSigmoidRanking",
        "threshold-class",
        None,
        "sigmoid-ranking",
    ),
    "label-likelihood": (None, None, "threshold-class", None, "sigmoid-ranking"),
    "cross-entropy": (None, None, "zero", None, "sigmoid"),
    "balanced-softmax": (None, None, "zero", 4, "balanced-softmax"),
    "adaptive-focal": (None, None, "threshold-class", 4, "adaptive-focal"),
    "p3m": ("ShiftedPositiveUnlabelled", "CosineSoftmax", "threshold-class", None, "cosine-softmax"),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_a_name_stands_for(name):
    estimator, surrogate, reference, top_k, link = TABLE[name]
    loss = make_loss(name, PRIORS)
    assert (loss.name, get_loss(name)) == (name, type(loss))
    decision = loss.decoder.decision
    assert (decision.reference, decision.top_k, loss.decoder.link.name) == (reference, top_k, link)
    assert loss.needs_priors == (estimator is not None or name == "label-likelihood")
    assert loss.needs_cosines == (name == "p3m")
    if estimator is not None:
        assert (loss.decoder.priors, loss.decoder.class_weighted) == (PRIORS, True)
        assert (type(loss.estimator).__name__, type(loss.surrogate).__name__) == (estimator, surrogate)
        assert (loss.correction, loss.normalisation, loss.class_weight) == ("flip", "per-batch", True)


def test_bad_options_are_refused_with_their_name():
    assert create_loss("ssr-pu", PRIORS, margin=0.5).surrogate == SquaredRanking(0.5)
    for name, option, value in [
        ("s-pu-log-sigmoid", "margin", 0.5),
        ("ssr-pu", "margin", -0.1),
        ("ssr-pu", "margin", math.nan),
        ("ssr-pu", "margin", math.inf),
        ("pu", "correction", "clmap"),
        ("pu", "normalisation", "perbatch"),
    ]:
        with pytest.raises(ValueError, match=option):
            create_loss(name, PRIORS, **{option: value})
    with pytest.raises(ValueError, match="margin"):
        package.SSRPU(PRIORS, margin=-1.0)
    with pytest.raises(ValueError, match="nearest: 'ssr-pu'"):
        get_loss("ssrpu")
    with pytest.raises(ValueError, match="needs priors"):
        create_loss("pu")
    with pytest.raises(ValueError, match="no priors"):
        create_loss("atlop", PRIORS)


def test_a_registered_loss_is_known_by_name(monkeypatch):
    monkeypatch.setattr(base, "_LOSSES", registered := dict(base._LOSSES))
    monkeypatch.setattr(base, "LOSSES", registered)

    @register_loss("steep")
    class Steep(PairLoss):
        decision, link = DecisionRule("zero"), Link("sigmoid")

        def __init__(self, slope: Annotated[float, Field(gt=0)] = 2.0) -> None:
            super().__init__()
            self.slope = slope

        def pair_loss(self, logits, labels):
            return (self.slope * logits[:, 1:].where(labels, -logits[:, 1:])).neg().relu().sum(1)

    assert create_loss("steep", slope=3).slope == 3 and create_loss("steep").slope == 2
    for value in ("x", -1):
        with pytest.raises(ValueError, match="slope"):
            create_loss("steep", slope=value)
    with pytest.raises(ValueError, match="ssr-pu"):
        register_loss("ssr-pu")(Steep)


@pytest.mark.parametrize("name", TABLE)
def test_no_known_negative_changes_nothing(name):
    """And a loss that counts every unlabelled pair as a negative knows them all."""
    logits, labels, negatives, weights = reviewed_batch(1, 9, 0.4)
    logits = logits / logits.norm(dim=1, keepdim=True)
    loss = make_loss(name, Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0)))
    plain = loss(logits, labels, weights)
    assert torch.equal(loss(logits, labels, weights, None), plain)
    torch.testing.assert_close(loss(logits, labels, weights, torch.zeros_like(negatives)), plain)
    if not loss.needs_priors:
        assert torch.equal(loss(logits, labels, weights, negatives), plain)


# --- Finite values and gradients for every input ---

BELOW_ONE = math.nextafter(1, 0)
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
LABELLINGS = {"one": [True, False, False], "none": [False, False, False], "all": [True, True, True]}


def losses(priors):
    """Every loss, with every choice that it has."""
    for name, loss in LOSSES.items():
        if not issubclass(loss, PULoss):
            yield make_loss(name, priors)
            continue
        for correction, normalisation, class_weight in product(CORRECTIONS, NORMALISATIONS, [True, False]):
            if (correction, normalisation) != ("flip", "expected"):
                yield loss(
                    priors, correction=correction, normalisation=normalisation, class_weight=class_weight
                )


def limits(pairs=3):
    """A class for every prior with every labelling, all in one batch."""
    columns = list(product(PRIORS_AT_THEIR_LIMITS, LABELLINGS))
    labelled = tuple(PRIORS_AT_THEIR_LIMITS[prior][0] for prior, _ in columns)
    overall = tuple(PRIORS_AT_THEIR_LIMITS[prior][1] for prior, _ in columns)
    priors = Priors(tuple(map(" / ".join, columns)), labelled, overall)
    return priors, torch.tensor([LABELLINGS[labelling] for _, labelling in columns]).T[:pairs]


def logit_cases(labels, dtype):
    pairs, relations = labels.shape
    signs = torch.ones(pairs, relations + 1, dtype=dtype)
    signs[:, ::2] = -1
    yield torch.randn(pairs, relations + 1, generator=torch.Generator().manual_seed(0)).to(dtype)
    yield torch.zeros(pairs, relations + 1, dtype=dtype)
    yield torch.finfo(dtype).max * signs
    yield -torch.finfo(dtype).max * signs


def value_and_gradient(loss, logits, labels):
    logits = logits.clone().requires_grad_()
    value = loss(logits, labels)
    value.backward()
    return value.detach(), logits.grad


@pytest.mark.parametrize("pairs", [3, 0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_finite(dtype, pairs):
    priors, labels = limits(pairs)
    for loss, logits in product(losses(priors), logit_cases(labels, dtype)):
        value, gradient = value_and_gradient(loss, logits, labels)
        assert value.shape == () and value.isfinite(), (loss, logits)
        assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert gradient.dtype == dtype and gradient.isfinite().all(), (loss, logits)


def test_float16_is_float32_rounded():
    """A gradient that float16 cannot hold stays infinite: that is what loss scaling waits for."""
    priors, labels = limits()
    for loss, logits in product(losses(priors), logit_cases(labels, torch.float16)):
        value, gradient = value_and_gradient(loss, logits, labels)
        raised_value, raised_gradient = value_and_gradient(loss, logits.float(), labels)
        assert torch.equal(value, raised_value) and value.isfinite()
        assert torch.equal(gradient, raised_gradient.half()) and raised_gradient.isfinite().all()


def test_no_pair_and_no_weight_have_loss_zero():
    for loss in losses(PRIORS):
        logits = torch.zeros(0, 3, requires_grad=True)
        value = loss(logits, torch.zeros(0, 2, dtype=torch.bool))
        assert value.item() == 0 and value.requires_grad
        assert loss(torch.randn(3, 3), MIXED, torch.zeros(3)).item() == 0


def test_a_relation_that_never_holds_has_no_positive_term():
    """π = π_l = 0: what is left is the mean negative loss of the unlabelled pairs, whatever is labelled."""
    logits = torch.randn(3, 2, requires_grad=True)
    value = make_loss("ssr-pu", Priors(("a",), (0.0,), (0.0,)))(logits, MIXED[:, :1])
    torch.testing.assert_close(value, ((logits[1:, 1] - logits[1:, 0] + 0.25) ** 2 / 4).mean())
    value.backward()
    assert logits.grad[0].eq(0).all() and logits.grad[1:].ne(0).all()


def test_half_precision_and_autocast_compute_in_float32():
    for loss in losses(PRIORS):
        half = torch.randn(3, 3, generator=torch.Generator().manual_seed(1)).bfloat16()
        assert torch.equal(loss(half, MIXED), loss(half.float(), MIXED))
        logits = torch.randn(3, 3, generator=torch.Generator().manual_seed(2))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            cast = loss(logits, MIXED)
        assert torch.equal(cast, loss(logits, MIXED))


def test_logits_are_clamped_only_where_nothing_is_left_to_learn():
    labels = torch.tensor([[True, False]])
    for loss in losses(PRIORS):
        at_edge = loss(torch.tensor([[0.0, LOGIT_CLAMP, 1.0]]), labels)
        assert torch.equal(at_edge, loss(torch.tensor([[0.0, math.inf, 1.0]]), labels))
        assert loss(torch.tensor([[0.0, math.nan, 1.0]]), labels).isnan()  # never hidden


def test_nothing_waits_for_the_device():
    """Tensors without data refuse every operation that would need a value on the processor."""
    for loss in losses(PRIORS):
        logits = torch.zeros(5, 3, device="meta", requires_grad=True)
        labels = torch.zeros(5, 2, dtype=torch.bool, device="meta")
        value = loss.to("meta")(logits, labels, torch.ones(5, device="meta"))
        value.backward()
        assert value.device.type == "meta" and logits.grad.shape == (5, 3)


def test_wrong_shapes_are_refused():
    loss, labels = make_loss("ssr-pu", PRIORS), torch.zeros(3, 2, dtype=torch.bool)
    for kind, arguments in {
        "logits and labels": (torch.zeros(3, 3), torch.zeros(3, 3, dtype=torch.bool)),
        "weights": (torch.zeros(3, 3), labels, torch.ones(2)),
        "negatives": (torch.zeros(3, 3), labels, None, torch.zeros(3, 3)),
        "relations": (torch.zeros(3, 5), torch.zeros(3, 4, dtype=torch.bool)),
    }.items():
        with pytest.raises(ValueError, match=kind):
            loss(*arguments)
