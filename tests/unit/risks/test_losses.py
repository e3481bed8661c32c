"""Names, constructors, decision rules and settings."""

import json

import pytest
import torch

import unnoted.risks as risks
from unnoted.priors import Priors
from unnoted.risks.corrections import CORRECTIONS, Clamp
from unnoted.risks.estimators import ESTIMATORS
from unnoted.risks.losses import LOSSES, loss_named, make_risk, risk_from_settings
from unnoted.risks.normalisations import NORMALISATIONS, Expected
from unnoted.risks.surrogates import SURROGATES, LogSigmoid, SquaredRanking

torch.set_num_threads(1)

PRIORS = Priors(("a", "b"), (0.01, 0.2), (0.03, 1 / 3))
TABLE = {  # name: estimator, surrogate, decision, link
    "atlop": (None, None, "top-k", "threshold-softmax"),
    "pn": ("pn", "squared", "zero", "squared"),
    "sr-pn": ("pn", "squared-ranking", "none-class", "ranking-margin"),
    "pu": ("pu", "squared", "zero", "squared"),
    "sr-pu": ("pu", "squared-ranking", "none-class", "ranking-margin"),
    "s-pu": ("s-pu", "squared", "zero", "squared"),
    "ssr-pu": ("s-pu", "squared-ranking", "none-class", "ranking-margin"),
    "s-pu-log-sigmoid": ("s-pu", "log-sigmoid", "zero", "sigmoid"),
    "s-pu-log-sigmoid-ranking": ("s-pu", "log-sigmoid-ranking", "none-class", "sigmoid-ranking"),
    "cross-entropy": (None, None, "zero", "sigmoid"),
    "balanced-softmax": (None, None, "zero", "balanced-softmax"),
    "adaptive-focal": (None, None, "top-k", "adaptive-focal"),
}


def test_the_methods_are_those_of_the_paper_and_of_its_baselines():
    assert list(LOSSES) == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_what_a_name_stands_for(name):
    estimator, surrogate, decision, link = TABLE[name]
    loss, risk = LOSSES[name], make_risk(name, PRIORS)
    assert loss.name == name
    assert (loss.decision, loss.link) == (risk.decision, risk.link) == (decision, link)
    if estimator is not None:
        assert (risk.estimator.name, risk.surrogate.name) == (estimator, surrogate)


@pytest.mark.parametrize(
    ("constructor", "name"),
    [
        (risks.PN, "pn"),
        (risks.SRPN, "sr-pn"),
        (risks.PU, "pu"),
        (risks.SRPU, "sr-pu"),
        (risks.SPU, "s-pu"),
        (risks.SSRPU, "ssr-pu"),
        (risks.SPULogSigmoid, "s-pu-log-sigmoid"),
        (risks.SPULogSigmoidRanking, "s-pu-log-sigmoid-ranking"),
    ],
)
def test_a_constructor_is_one_call(constructor, name):
    by_hand = constructor(priors=PRIORS, correction=Clamp(), normalisation=Expected(), class_weight=False)
    by_name = make_risk(name, PRIORS, correction="clamp", normalisation="expected", class_weight=False)
    assert by_hand.settings() == by_name.settings()
    assert constructor(PRIORS).settings() == make_risk(name, PRIORS).settings()


@pytest.mark.parametrize(
    ("constructor", "name"),
    [
        (risks.ATLOP, "atlop"),
        (risks.CrossEntropy, "cross-entropy"),
        (risks.BalancedSoftmax, "balanced-softmax"),
        (risks.AdaptiveFocal, "adaptive-focal"),
    ],
)
def test_losses_of_pairs_need_no_priors(constructor, name):
    assert type(constructor()) is type(LOSSES[name]()) is type(make_risk(name))


def test_margin_reaches_the_ranking_loss():
    assert make_risk("ssr-pu", PRIORS, margin=0.5).surrogate == SquaredRanking(0.5)
    assert risks.SSRPU(PRIORS * 1.5, margin=0.1).surrogate == SquaredRanking(0.1)
    assert make_risk("s-pu-log-sigmoid", PRIORS, margin=0.5).surrogate == LogSigmoid()


@pytest.mark.parametrize("margin", [-0.1, float("nan"), float("inf")])
def test_impossible_margins(margin):
    with pytest.raises(ValueError, match=f"found margin {margin}, expected a finite number"):
        make_risk("ssr-pu", PRIORS, margin=margin)


def test_unknown_names_show_the_nearest():
    with pytest.raises(ValueError, match=r"unknown loss 'ssrpu'.*nearest: 'ssr-pu'"):
        make_risk("ssrpu", PRIORS)
    with pytest.raises(ValueError, match=r"unknown loss 'x', expected one of atlop, pn"):
        loss_named("x")
    with pytest.raises(ValueError, match=r"unknown correction 'clmap'.*nearest: 'clamp'"):
        make_risk("pu", PRIORS, correction="clmap")
    with pytest.raises(ValueError, match=r"unknown normalisation 'perbatch'.*nearest: 'per-batch'"):
        make_risk("pu", PRIORS, normalisation="perbatch")


def test_missing_priors_are_named():
    with pytest.raises(ValueError, match="found no priors for the loss 'pu'"):
        make_risk("pu")


@pytest.mark.parametrize("name", TABLE)
def test_settings_round_trip_through_json(name):
    risk = make_risk(
        name, PRIORS, margin=0.3, correction="clamp", normalisation="expected", class_weight=False
    )
    again = risk_from_settings(json.loads(json.dumps(risk.settings(), allow_nan=False)))
    assert again.settings() == risk.settings()
    scores, labels = torch.randn(4, 3), torch.tensor([[True, False], [False, True], [False] * 2, [True] * 2])
    assert torch.equal(again(scores, labels), risk(scores, labels))


def test_damaged_settings_are_named():
    with pytest.raises(ValueError, match="settings of the risk: found the keys gamma, kind, expected kind"):
        risk_from_settings({"kind": "adaptive-focal", "gamma": 2.0})
    good = make_risk("ssr-pu", PRIORS).settings()
    with pytest.raises(
        ValueError, match=r"unknown risk 'positive-unlabeled', .*nearest: 'positive-unlabelled'"
    ):
        risk_from_settings({**good, "kind": "positive-unlabeled"})
    with pytest.raises(ValueError, match="unknown estimator 'spu', expected one of pn, pu, s-pu"):
        risk_from_settings({**good, "estimator": "spu"})
    with pytest.raises(ValueError, match="settings of the risk: found the keys class_weight, correction, "):
        risk_from_settings({key: value for key, value in good.items() if key != "priors"})
    with pytest.raises(ValueError, match="surrogate 'squared': found the keys margin, expected no key"):
        risk_from_settings({**good, "surrogate": {"name": "squared", "margin": 0.25}})


@pytest.mark.parametrize("table", [ESTIMATORS, SURROGATES, CORRECTIONS, NORMALISATIONS])
def test_things_are_listed_under_their_own_names(table):
    assert all(name == thing.name for name, thing in table.items())


def test_priors_move_with_the_risk_and_are_not_weights():
    risk = make_risk("ssr-pu", PRIORS)
    assert risk.state_dict() == {} and list(risk.parameters()) == []
    assert {name for name, _ in risk.named_buffers()} == {"coefficients", "labelled_prior"}
