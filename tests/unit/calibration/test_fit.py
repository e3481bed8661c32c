"""The fit on simulated scores, whose probabilities are known."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.calibration import isotonic

from unnoted.calibration import OutOfFoldScores, fit_calibration, posterior_given_unlabelled
from unnoted.calibration.fit import bin_by_rank, shift_to_mean
from unnoted.priors import Priors


def scored(margin, labelled):
    zeros = np.zeros(len(margin), np.int32)
    relations = tuple(f"r{k}" for k in range(margin.shape[1]))
    return OutOfFoldScores(relations, ("d",), zeros, zeros, zeros, margin.astype(np.float32), labelled)


@cache
def simulated(seed=0, pairs=12_000, slope=0.0, frequency=0.4):
    """Margins whose true probabilities are known, of relations of different priors; evident facts are labelled
    more often if the slope is not 0."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(pairs, 4)) * 2.5 + np.log([0.1, 0.05, 0.02, 0.005]) - 1
    probability = 1 / (1 + np.exp(-hidden))
    true = rng.random(hidden.shape) < probability
    propensity = 1 / (1 + (1 / frequency - 1) * (1 - probability) ** slope)  # odds times (1 - p)^-s
    labelled = true & (rng.random(hidden.shape) < propensity)
    margin = np.tanh(hidden / 4 + 0.3)  # not linear in the log odds
    ratio = true.sum() / labelled.sum()
    share = labelled.mean(0)
    return (
        scored(margin, labelled),
        Priors(("r0", "r1", "r2", "r3"), tuple(share), tuple(ratio * share)),
        probability,
        true,
    )


@cache
def fitted():
    scores, priors, _, _ = simulated()
    return fit_calibration(scores, priors)


def probabilities(calibration, scores):
    return calibration.probabilities(torch.from_numpy(scores.margin.astype(np.float64))).numpy()


def test_true_probabilities_are_found_though_most_labels_are_missing():
    scores, _, expected, _ = simulated()
    found = probabilities(fitted(), scores)
    assert np.abs(found - expected).mean() < 0.006
    # Taking labels for the truth would be far off: three fifths are missing.
    naive = isotonic(scores.margin[:, 0].tolist(), scores.labelled[:, 0].tolist())
    naive = np.array([naive[i] for i in range(scores.pairs)])
    assert np.abs(naive - expected[:, 0]).mean() > 5 * np.abs(found - expected)[:, 0].mean()


def test_labels_that_favour_evident_facts():
    """Taken for a fair sample they make probabilities too high where facts are predicted."""
    scores, priors, expected, _ = simulated(pairs=40_000, slope=1.0)
    known, fair = (
        probabilities(fit_calibration(scores, priors, propensity_slope=s), scores) for s in (1.0, 0.0)
    )
    evident = expected > 0.3
    assert known[evident].mean() == pytest.approx(expected[evident].mean(), abs=0.02)
    assert fair[evident].mean() > expected[evident].mean() + 0.05


@pytest.mark.parametrize(
    ("slope", "frequency", "lowest", "highest"),
    [(0.0, 0.5, 0.0, 0.0), (1.0, 0.1, 0.6, 1.4), (1.0, 0.3, 0.6, 1.4)],
)
def test_the_propensity_slope_is_read_from_the_labels(slope, frequency, lowest, highest):
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(60_000, 1)) * 4 - 3
    probability = 0.95 / (1 + np.exp(-hidden))
    true = rng.random(hidden.shape) < probability
    odds = frequency * (1 - probability) ** -slope
    labelled = true & (rng.random(hidden.shape) < odds / (1 + odds))
    priors = Priors(("r0",), (float(labelled.mean()),), (float(true.mean()),))
    scores = scored(hidden, labelled)
    found = fit_calibration(scores, priors)
    assert lowest <= found.propensity_slope <= highest
    evident = probability > 0.3
    assert probabilities(found, scores)[evident].mean() == pytest.approx(
        probability[evident].mean(), abs=0.03
    )


def test_as_many_facts_are_expected_as_the_priors_say():
    scores, priors, _, _ = simulated()
    assert probabilities(fitted(), scores).mean(0).sum() == pytest.approx(sum(priors.overall), rel=0.01)
    assert fitted().expected.total == pytest.approx(sum(priors.overall), rel=1e-3)
    more = Priors(priors.relations, priors.labelled, tuple(1.5 * prior for prior in priors.overall))
    again = fit_calibration(scores, more, facts_elsewhere=scores.pairs * 0.1)
    assert probabilities(again, scores).mean(0).sum() == pytest.approx(sum(more.overall), rel=0.01)
    assert again.expected.total == pytest.approx(sum(more.overall) + 0.1, rel=0.01)


def test_the_expected_f1_is_what_the_threshold_gives():
    scores, _, _, true = simulated()
    predicted = probabilities(fitted(), scores) > fitted().threshold
    f1 = 2 * (predicted & true).sum() / (predicted.sum() + true.sum())
    assert f1 == pytest.approx(fitted().expected.best_f1, abs=0.03)
    for target in (0.5, 0.7):
        predicted = probabilities(fitted(), scores) > fitted().expected.threshold_at_precision(target)
        assert true[predicted].mean() == pytest.approx(target, abs=0.06)


def test_one_curve_keeps_the_order_of_margins():
    margins = np.sort(simulated()[0].margin.ravel())
    found = fitted().probabilities(torch.from_numpy(margins.astype(np.float64))).numpy()
    assert (np.diff(found)[np.diff(margins) > 0] > 0).all()


def test_labels_without_a_prior_and_all_margins_equal_have_a_curve():
    scores, priors, _, _ = simulated()
    none = Priors(priors.relations, (0.0,) * 4, (0.0,) * 4)
    nothing = fit_calibration(scored(scores.margin, np.zeros_like(scores.labelled)), none)
    assert probabilities(nothing, scores).max() < 1e-3
    equal = fit_calibration(scored(np.zeros_like(scores.margin), scores.labelled), priors)
    zeros = torch.zeros(1, dtype=torch.float64)
    assert equal.probabilities(zeros).item() == pytest.approx(np.mean(priors.overall), rel=0.01)


def test_posterior_of_unlabelled_pairs_against_labels_that_were_drawn():
    rng = np.random.default_rng(2)
    probability = 1 / (1 + np.exp(-rng.normal(size=400_000) * 2 + 1))
    true = rng.random(len(probability)) < probability
    propensity = 1 / (1 + np.exp(-0.3) * (1 - probability) ** 0.8)
    labelled = true & (rng.random(len(probability)) < propensity)
    found = posterior_given_unlabelled(probability.astype(np.float32), float(labelled.sum()), 0.8)
    exact = probability * (1 - propensity) / (1 - propensity * probability)
    assert np.abs(found - exact).max() < 0.005
    assert found[~labelled].mean() == pytest.approx(true[~labelled].mean(), rel=0.02)
    complete = posterior_given_unlabelled(probability.astype(np.float32), float(probability.sum()), 0.8)
    assert complete.max() < 0.01
    assert posterior_given_unlabelled(probability.astype(np.float32), 0.0) == pytest.approx(
        probability, abs=1e-4
    )


@settings(max_examples=30)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=9), st.floats(0.001, 0.99))
def test_the_shift_gives_the_mean(log_odds, mean):
    shift = shift_to_mean(np.array(log_odds), np.ones(len(log_odds)), mean)
    assert (1 / (1 + np.exp(-(np.array(log_odds) + shift)))).mean() == pytest.approx(mean, rel=1e-6)


def test_bins_hold_every_pair_once():
    scores, *_ = simulated()
    bins = bin_by_rank(scores)
    assert bins.pairs.sum() == scores.pairs and len(bins.pairs) < 200
    assert bins.labelled.sum(0) == pytest.approx(scores.labelled.sum(0))
    assert bins.pairs @ bins.margin / scores.pairs == pytest.approx(scores.margin.mean(0), abs=1e-5)
    assert (np.diff(bins.margin, axis=0) <= 0).all()


def test_what_cannot_be_fitted_is_refused():
    scores, priors, *_ = simulated()
    margin = scores.margin.copy()
    margin[0, 0] = np.nan
    empty = scored(np.zeros((0, 4)), np.zeros((0, 4), bool))
    for bad, given_priors, options in [
        (scores, Priors(("r0",), (0.1,), (0.1,)), {}),
        (scored(margin, scores.labelled), priors, {}),
        (empty, priors, {}),
        *((scores, priors, {"propensity_slope": slope}) for slope in (-0.1, 2.1, float("nan"))),
    ]:
        with pytest.raises(ValueError, match=r"relations|finite|none|propensity_slope"):
            fit_calibration(bad, given_priors, **options)


def test_posterior_of_a_model_that_tells_nothing_apart():
    nearly_one_value = np.float32(0.02) + np.arange(100, dtype=np.float32) * np.float32(2e-9)
    found = posterior_given_unlabelled(nearly_one_value, labelled=1.0)
    assert np.isfinite(found).all() and (found < nearly_one_value).all()
