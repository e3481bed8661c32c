"""Calibration on simulated scores, whose probabilities are known, against plain re-derivations."""

import json
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.lines import isotonic, on_curve

from unnoted.calibration import Calibration, ProbabilityCurves
from unnoted.calibration.quantile_matching import matched_to
from unnoted.calibration.ranked_bins import RankedBins
from unnoted.calibration.selection import labelled_shares
from unnoted.calibration.shifting import shift_to_mean
from unnoted.priors import Priors
from unnoted.priors.labelled_scores import LabelledScores

RISING = st.lists(st.floats(0.01, 3), min_size=1, max_size=6)


def scored(margin, labelled):
    zeros = np.zeros(len(margin), np.int32)
    relations = tuple(f"r{k}" for k in range(margin.shape[1]))
    return LabelledScores(relations, ("d",), zeros, zeros, zeros, margin.astype(np.float32), labelled)


@cache
def simulated(seed=0, pairs=6000, selection=0.0):
    """Margins whose true probabilities are known: relations of different priors, slopes and labelling."""
    rng = np.random.default_rng(seed)
    prior, noted = np.array([0.1, 0.05, 0.02, 0.005]), np.array([0.3, 0.8, 0.5, 0.4])
    hidden = rng.normal(size=(pairs, 4)) * 2 + np.log(prior) - 1.5
    probability = 1 / (1 + np.exp(-hidden))
    true = rng.random(hidden.shape) < probability
    noted = 1 / (1 + (1 / noted - 1) * (1 - probability) ** selection)  # odds times (1 - p)^-s
    labelled = true & (rng.random(hidden.shape) < noted)
    margin = np.tanh(hidden / 4 + np.array([0.3, 0.4, 0.5, 0.8]))  # not linear in the log odds
    share = labelled.mean(0)
    priors = Priors(("r0", "r1", "r2", "r3"), tuple(share), tuple(np.maximum(true.mean(0), share)))
    return scored(margin, labelled), priors, probability, true


def fair(scores, priors, **options):
    """A calibration for labels that are a fair sample of the true facts, as most simulated ones are."""
    return Calibration.fitted(scores, priors, selection=0.0, **options)


@cache
def fitted():
    scores, priors, _, _ = simulated()
    return fair(scores, priors)


def probabilities(calibration, scores):
    return calibration.curves.probabilities(torch.from_numpy(scores.margin.astype(np.float64))).numpy()


def test_true_probabilities_are_found_though_most_labels_are_missing():
    scores, _, expected, _ = simulated()
    found = probabilities(fitted(), scores)
    assert np.abs(found - expected).mean(0) == pytest.approx(np.zeros(4), abs=0.012)
    # Taking labels for the truth would be far off: two thirds of r0 are missing.
    plain = isotonic(scores.margin[:, 0].tolist(), scores.labelled[:, 0].tolist())
    naive = np.array([plain[i] for i in range(scores.pairs)])
    assert np.abs(naive - expected[:, 0]).mean() > 5 * np.abs(found - expected)[:, 0].mean()
    # Divided by the share that was labelled it is right in the mean, but with ties.
    noted = scores.labelled[:, 0].sum() / expected[:, 0].sum()
    assert np.abs(np.minimum(naive / noted, 1) - found[:, 0]).mean() < 0.03


def test_labels_that_favour_the_plain():
    """Taken for a fair sample they make probabilities too high where facts are stated."""
    scores, priors, expected, _ = simulated(pairs=40_000, selection=1.0)
    known, taken_as_fair = (
        probabilities(Calibration.fitted(scores, priors, selection=selection), scores)
        for selection in (1.0, 0.0)
    )
    stated = expected > 0.3
    assert known[stated].mean() == pytest.approx(expected[stated].mean(), abs=0.02)
    assert taken_as_fair[stated].mean() > expected[stated].mean() + 0.05
    assert known.mean(0) == pytest.approx(priors.overall, rel=0.01)


@pytest.mark.parametrize(
    ("selection", "first", "likely"), [(0.0, 0.5, (0.0, 0.2)), (1.0, 0.1, (0.6, 0.8, 1.0))]
)
def test_how_much_labels_favour_the_plain_is_read_from_them(selection, first, likely):
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(60_000, 1)) * 4 - 3
    probability = 0.95 / (1 + np.exp(-hidden))
    true = rng.random(hidden.shape) < probability
    odds = first * (1 - probability) ** -selection
    labelled = true & (rng.random(hidden.shape) < odds / (1 + odds))
    priors = Priors(("r0",), (float(labelled.mean()),), (float(true.mean()),))
    scores = scored(hidden, labelled)
    found = Calibration.fitted(scores, priors, by_relation=False)
    assert found.selection in likely
    stated = probability > 0.3
    assert probabilities(found, scores)[stated].mean() == pytest.approx(probability[stated].mean(), abs=0.03)
    assert Calibration.from_json(json.loads(json.dumps(found.to_json()))).selection == found.selection


@pytest.mark.parametrize("selection", [-0.1, 1.1, float("nan")])
def test_labels_that_favour_the_plain_too_much_are_refused(selection):
    scores, priors, _, _ = simulated()
    with pytest.raises(ValueError, match=r"selection: found .*, expected a number from 0 to 1"):
        Calibration.fitted(scores, priors, selection=selection)


def test_shares_of_labels_against_labels_that_were_drawn():
    rng = np.random.default_rng(2)
    odds = rng.normal(size=200_000) * 2 - 1
    probability = 1 / (1 + np.exp(-odds))
    shares = 1 / (1 + np.exp(-0.3) * (1 - probability) ** 0.8)
    labelled = (rng.random(len(odds)) < probability * shares).sum()
    found = labelled_shares(probability.astype(np.float32), float(labelled))
    assert found[probability > 1e-3] == pytest.approx(shares[probability > 1e-3], abs=0.01)
    assert labelled_shares(probability.astype(np.float32), float(probability.sum())).min() > 0.99
    assert labelled_shares(probability.astype(np.float32), 0.0).max() < 1e-6


def test_counts_are_those_of_the_priors():
    scores, priors, _, _ = simulated()
    assert probabilities(fitted(), scores).mean(0) == pytest.approx(priors.overall, rel=0.01)
    assert fitted().expected.total == pytest.approx(sum(priors.overall), rel=1e-3)
    more = Priors(priors.relations, priors.labelled, tuple(1.5 * prior for prior in priors.overall))
    assert probabilities(fair(scores, more), scores).mean(0) == pytest.approx(more.overall, rel=0.01)


def test_the_expected_f1_is_what_the_line_gives():
    scores, _, _, true = simulated()
    stated = probabilities(fitted(), scores) > fitted().line
    f1 = 2 * (stated & true).sum() / (stated.sum() + true.sum())
    assert f1 == pytest.approx(fitted().expected.best_f1, abs=0.03)
    assert np.array(fitted().stated) == pytest.approx(stated.mean(0), rel=0.1, abs=2e-3)


def test_a_relation_without_labels_borrows_and_one_of_prior_0_never_holds():
    scores, priors, expected, _ = simulated()
    labelled = scores.labelled.copy()
    labelled[:, 2:] = False
    none = Priors(priors.relations, (*priors.labelled[:2], 0.0, 0.0), (*priors.overall[:3], 0.0))
    calibration = fair(scored(scores.margin, labelled), none)
    found = probabilities(calibration, scores)
    assert found[:, 2].mean() == pytest.approx(priors.overall[2], rel=0.02)
    assert np.abs(found[:, 2] - expected[:, 2]).mean() < 0.02
    assert found[:, 3].max() < 1e-6
    told = {row.relation: row for row in calibration.disagreements()}
    assert "r3" not in told  # nothing expected, nothing stated


def test_a_relation_that_cannot_be_told_apart_is_listed():
    scores, priors, _, _ = simulated()
    rng = np.random.default_rng(1)
    margin = scores.margin.copy()
    margin[:, 1] = rng.normal(size=len(margin)) / 4  # says nothing
    told = {row.relation for row in fair(scored(margin, scores.labelled), priors).disagreements()}
    assert "r1" in told and "r0" not in told


def test_saved_and_read_again():
    again = Calibration.from_json(json.loads(json.dumps(fitted().to_json(), allow_nan=False)))
    assert again == fitted()


def test_targets_move_the_line_and_nothing_else():
    scores, _, _, true = simulated()
    found = probabilities(fitted(), scores)
    for target in (0.5, 0.7):  # above 0.8 there are only some 70 facts: too few to hold a target to
        stated = found > fitted().at_precision(target).line
        assert true[stated].mean() == pytest.approx(target, abs=0.06)
        stated = found > fitted().at_recall(target).line
        assert (stated & true).sum() / true.sum() == pytest.approx(target, abs=0.06)
    assert fitted().at_precision(0.7).curves is fitted().curves


@given(st.floats(-2, 2), RISING, RISING, st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_curves_against_one_point_at_a_time(start, widths, rises, margins):
    count = min(len(widths), len(rises))
    x = [start, *(start + np.cumsum(widths[:count])).tolist()]
    y = [-start, *(-start + np.cumsum(rises[:count])).tolist()]
    curves = ProbabilityCurves((tuple(x),), (tuple(y),))
    given_margins = torch.tensor(margins, dtype=torch.float64)[:, None]
    found = curves.probabilities(given_margins)[:, 0]
    assert found.tolist() == pytest.approx([on_curve(x, y, margin) for margin in margins], rel=1e-6, abs=1e-9)
    ranked = torch.tensor(sorted(set(np.round(margins, 3))), dtype=torch.float64)[:, None]
    assert (curves.logits(ranked).diff(dim=0) > 0).all()  # no ties
    assert ProbabilityCurves.from_json(json.loads(json.dumps(curves.to_json()))) == curves
    back = torch.tensor([curves.margins_at(0.3)], dtype=torch.float64)
    assert curves.probabilities(back).item() == pytest.approx(0.3)


@settings(max_examples=30)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=9), st.floats(0.001, 0.99))
def test_the_shift_gives_the_mean(log_odds, mean):
    values = np.array([log_odds])
    shift = shift_to_mean(values, np.ones(len(log_odds)), np.array([mean]))
    assert (1 / (1 + np.exp(-(values + shift)))).mean() == pytest.approx(mean, rel=1e-6)


def test_bins_hold_every_pair_once():
    scores, *_ = simulated()
    bins = RankedBins.of(scores)
    assert bins.pairs.sum() == scores.pairs and len(bins.pairs) < 200
    assert bins.labelled.sum(1) == pytest.approx(scores.labelled.sum(0))
    assert bins.margin @ bins.pairs / scores.pairs == pytest.approx(scores.margin.mean(0), abs=1e-5)
    assert (np.diff(bins.margin, axis=1) <= 0).all()


def test_curves_follow_another_models_margins():
    scores, *_ = simulated()
    unlabelled = scores.margin[~scores.labelled.any(1)].astype(np.float64)
    moved = matched_to(fitted().curves, unlabelled, unlabelled * 0.5 - 0.1)
    before = fitted().curves.probabilities(torch.from_numpy(unlabelled)).numpy()
    after = moved.probabilities(torch.from_numpy(unlabelled * 0.5 - 0.1)).numpy()
    assert np.abs(before - after).mean() < 0.003


def test_what_cannot_be_used_is_named():
    scores, priors, *_ = simulated()
    with pytest.raises(
        ValueError, match="found priors of 1 relations, expected those of the 4 that are scored"
    ):
        fair(scores, Priors(("r0",), (0.1,), (0.1,)))
    with pytest.raises(ValueError, match="found 1 margins that are not finite"):
        margin = scores.margin.copy()
        margin[0, 0] = np.nan
        fair(scored(margin, scores.labelled), priors)
    with pytest.raises(ValueError, match="found no pair"):
        fair(scored(np.zeros((0, 4)), np.zeros((0, 4), bool)), priors)
    with pytest.raises(ValueError, match="found knots that do not rise"):
        ProbabilityCurves(((0.0, 1.0),), ((1.0, 1.0),))
    with pytest.raises(ValueError, match=r"found margins \[2, 3\], expected \[pairs, 4\]"):
        fitted().curves.logits(torch.zeros(2, 3))


def test_one_curve_for_all_keeps_the_order_of_margins_and_trusts_no_single_prior():
    scores, priors, _, _ = simulated()
    shared = fair(scores, priors, by_relation=False)
    assert len(set(shared.curves.margins)) == len(set(shared.curves.log_odds)) == 1
    margins = np.random.default_rng(0).permutation(scores.margin.ravel())[:500]
    order = np.argsort(margins, kind="stable")
    grid = torch.from_numpy(np.repeat(margins[:, None], len(scores.relations), 1).astype(np.float64))
    found = shared.curves.probabilities(grid).numpy()
    assert (found == found[:, :1]).all()
    assert (np.diff(found[order, 0]) >= 0).all()
    # As many facts are expected as all priors together say, though not of each relation.
    expected = probabilities(shared, scores).mean(0)
    assert expected.sum() == pytest.approx(sum(priors.overall), rel=0.01)
    assert expected != pytest.approx(np.array(priors.overall), rel=0.15)
