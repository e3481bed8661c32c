"""Names, constructors, options, what scores mean, and registration."""

import pytest
import torch
from tests.making import make_loss

import unnoted.losses as package
from unnoted.losses import Fixed, Link, LossOptions, NamedLoss, PairwiseLoss, losses
from unnoted.losses.corrections import CORRECTIONS, Clamp
from unnoted.losses.estimators import ESTIMATORS
from unnoted.losses.losses import LOSSES, loss_named
from unnoted.losses.normalisations import NORMALISATIONS, Expected
from unnoted.losses.surrogates import SURROGATES, SquaredRanking
from unnoted.priors import Priors

torch.set_num_threads(1)

PRIORS = Priors(("a", "b"), (0.01, 0.2), (0.03, 1 / 3))
TABLE = {  # name: estimator, surrogate, decision, link
    "atlop": (None, None, "top-k", "threshold-softmax"),
    "pn": ("pn", "squared", "fixed", "squared"),
    "sr-pn": ("pn", "squared-ranking", "none-class", "ranking-margin"),
    "pu": ("pu", "squared", "fixed", "squared"),
    "sr-pu": ("pu", "squared-ranking", "none-class", "ranking-margin"),
    "s-pu": ("s-pu", "squared", "fixed", "squared"),
    "ssr-pu": ("s-pu", "squared-ranking", "none-class", "ranking-margin"),
    "s-pu-log-sigmoid": ("s-pu", "log-sigmoid", "fixed", "sigmoid"),
    "s-pu-log-sigmoid-ranking": ("s-pu", "log-sigmoid-ranking", "none-class", "sigmoid-ranking"),
    "label-likelihood": (None, None, "none-class", "sigmoid-ranking"),
    "cross-entropy": (None, None, "fixed", "sigmoid"),
    "balanced-softmax": (None, None, "fixed-top-k", "balanced-softmax"),
    "adaptive-focal": (None, None, "top-k", "adaptive-focal"),
    "p3m": ("s-pu", "cosine-softmax", "none-class", "cosine-softmax"),
}


def test_the_methods_are_those_of_the_paper_and_of_its_baselines():
    assert list(LOSSES) == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_what_a_name_stands_for(name):
    estimator, surrogate, decision, link = TABLE[name]
    named, loss = LOSSES[name], make_loss(name, PRIORS)
    assert named.name == name
    assert (loss.decoder.decision.name, loss.decoder.link.name) == (decision, link)
    assert named.needs_priors == (estimator is not None or name == "label-likelihood")
    if estimator is not None:
        assert (loss.decoder.priors, loss.decoder.class_weighted) == (PRIORS, True)
        assert (loss.estimator.name, loss.surrogate.name) == (estimator, surrogate)


def parts(loss):
    choices = loss.estimator, loss.surrogate, loss.correction, loss.normalisation
    return *choices, loss.class_weight, loss.priors


@pytest.mark.parametrize(
    ("constructor", "name"),
    [
        (package.PN, "pn"),
        (package.SRPN, "sr-pn"),
        (package.PU, "pu"),
        (package.SRPU, "sr-pu"),
        (package.SPU, "s-pu"),
        (package.SSRPU, "ssr-pu"),
        (package.SPULogSigmoid, "s-pu-log-sigmoid"),
        (package.SPULogSigmoidRanking, "s-pu-log-sigmoid-ranking"),
    ],
)
def test_a_constructor_is_one_call(constructor, name):
    by_hand = constructor(priors=PRIORS, correction=Clamp(), normalisation=Expected(), class_weight=False)
    by_name = make_loss(name, PRIORS, correction="clamp", normalisation="expected", class_weight=False)
    assert parts(by_hand) == parts(by_name)
    assert parts(constructor(PRIORS)) == parts(make_loss(name, PRIORS))
    assert parts(by_hand) != parts(constructor(PRIORS))


@pytest.mark.parametrize(
    ("constructor", "name"),
    [
        (package.ATLOP, "atlop"),
        (package.CrossEntropy, "cross-entropy"),
        (package.BalancedSoftmax, "balanced-softmax"),
        (package.AdaptiveFocal, "adaptive-focal"),
    ],
)
def test_losses_of_pairs_need_no_priors(constructor, name):
    assert type(constructor()) is type(LOSSES[name]()) is type(make_loss(name))


def test_margin_reaches_the_ranking_loss():
    assert make_loss("ssr-pu", PRIORS, margin=0.5).surrogate == SquaredRanking(0.5)
    assert package.SSRPU(PRIORS * 1.5, margin=0.1).surrogate == SquaredRanking(0.1)
    with pytest.raises(ValueError, match="margin: found a setting that this loss does not have"):
        make_loss("s-pu-log-sigmoid", PRIORS, margin=0.5)


@pytest.mark.parametrize("margin", [-0.1, float("nan"), float("inf")])
def test_impossible_margins(margin):
    with pytest.raises(ValueError, match=f"margin: found {margin}, expected "):
        make_loss("ssr-pu", PRIORS, margin=margin)
    with pytest.raises(ValueError, match=f"found margin {margin}, expected a finite number"):
        SquaredRanking(margin)


def test_unknown_names_show_the_nearest():
    with pytest.raises(ValueError, match=r"unknown loss 'ssrpu'.*nearest: 'ssr-pu'"):
        make_loss("ssrpu", PRIORS)
    with pytest.raises(ValueError, match=r"unknown loss 'x', expected one of atlop, pn"):
        loss_named("x")
    with pytest.raises(ValueError, match=r"unknown correction 'clmap'.*nearest: 'clamp'"):
        make_loss("pu", PRIORS, correction="clmap")
    with pytest.raises(ValueError, match=r"unknown normalisation 'perbatch'.*nearest: 'per-batch'"):
        make_loss("pu", PRIORS, normalisation="perbatch")


def test_missing_priors_are_named():
    with pytest.raises(ValueError, match="found no priors for the loss 'pu'"):
        make_loss("pu")
    with pytest.raises(ValueError, match="found priors for the loss 'atlop', expected none"):
        package.ATLOP(PRIORS)


@pytest.mark.parametrize("name", TABLE)
def test_options_survive_json(name):
    options = LOSSES[name].options
    given = {"margin": 0.3, "correction": "clamp", "normalisation": "expected", "class_weight": False}
    chosen = options.checked({key: value for key, value in given.items() if key in options.model_fields})
    assert options.checked(chosen.model_dump(mode="json")) == chosen


class Steep(PairwiseLoss):
    """A loss as a user's script would have it."""

    decision = Fixed(0.0)
    link = Link("sigmoid")

    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def of_pairs(self, scores, labels):
        return (self.slope * scores[:, 1:].where(labels, -scores[:, 1:])).neg().relu().sum(1)


class SteepOptions(LossOptions):
    slope: float = 2.0


def test_a_registered_loss_is_known_by_name(monkeypatch):
    monkeypatch.setattr(losses, "_LOSSES", table := dict(losses._LOSSES))
    monkeypatch.setattr(losses, "LOSSES", table)
    package.register_loss(NamedLoss("steep", lambda options, priors: Steep(options.slope), SteepOptions))
    assert make_loss("steep", slope=3).slope == 3 and make_loss("steep").slope == 2
    with pytest.raises(ValueError, match="slope: found 'x', expected a valid number"):
        make_loss("steep", slope="x")
    with pytest.raises(ValueError, match="loss 'ssr-pu' is registered already"):
        package.register_loss(NamedLoss("ssr-pu", lambda options, priors: Steep(1.0)))


@pytest.mark.parametrize("table", [ESTIMATORS, SURROGATES, CORRECTIONS, NORMALISATIONS])
def test_things_are_listed_under_their_own_names(table):
    assert all(name == thing.name for name, thing in table.items())


def test_priors_are_no_weights_and_no_buffers():
    """Not every device has float64, so nothing of a loss is moved with it."""
    loss = make_loss("ssr-pu", PRIORS)
    assert loss.state_dict() == {} and list(loss.parameters()) == [] and list(loss.buffers()) == []
    loss.to("meta")
    assert loss(torch.zeros(1, 3), torch.zeros(1, 2, dtype=torch.bool)).device.type == "cpu"
