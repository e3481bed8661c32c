"""A known level shared out among relations, on simulated scores whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.unit.priors.simulating import simulated

from unnoted.calibration import Calibration
from unnoted.calibration.counted_priors import counted_priors
from unnoted.priors import Priors
from unnoted.priors.estimated import Interval
from unnoted.priors.labelled_scores import LabelledScores


def told(multiplier):
    return Interval(multiplier, multiplier, multiplier)


def summed(scores, multiplier):
    """The probabilities of each relation added up pair by pair, where so many facts are true for each label."""
    share = scores.labelled_share
    priors = Priors(scores.relations, tuple(share), tuple(multiplier * share))
    curves = Calibration.fitted(scores, priors, by_relation=False).curves
    return curves.probabilities(torch.from_numpy(scores.margin.astype(np.float64))).numpy().sum(0)


def test_against_sums_of_probabilities_pair_by_pair():
    scores, _ = simulated(3, relations=4, pairs=1500)
    noted = scores.labelled.sum(0)
    own = noted / (noted + 10)
    expected = (summed(scores, 3.0) / noted) ** own * 3 ** (1 - own)
    found = [row["ratio"] for row in counted_priors(scores, noted, told(3.0)).rows()]
    # Pairs are counted in bins by rank: one in a hundred is lost at most.
    assert found == pytest.approx(np.maximum(expected, 1), rel=0.01)


def test_relations_that_differ_are_told_apart():
    random = np.random.default_rng(1)
    margin = random.normal(size=(20_000, 8)) * 2 - np.linspace(4, 7, 8)  # log odds
    true = random.random(margin.shape) < 1 / (1 + np.exp(-margin))
    labelled = true & (random.random(margin.shape) < np.tile([0.6, 0.15], 4))
    zeros = np.zeros(len(true), np.int32)
    relations = tuple(f"r{number}" for number in range(8))
    scores = LabelledScores(relations, ("d",), zeros, zeros, zeros, margin.astype(np.float32), labelled)
    noted = labelled.sum(0)
    level = true.sum() / noted.sum()
    found = counted_priors(scores, noted, told(level))
    right = true.sum(0) / noted
    ratios = np.array([row["ratio"] for row in found.rows()])
    off, single = (np.abs(np.log2(each / right)) for each in (ratios, np.full(8, level)))
    assert np.median(off) < 0.5 * np.median(single)
    ends = np.array([(row["ratio_low"], row["ratio_high"]) for row in found.rows()]).T
    assert ((ends[0] <= right) & (right <= ends[1])).sum() >= 7
    assert found.ratio == told(level)


def test_what_follows_by_rules_is_known():
    scores, true = simulated(3, relations=3, pairs=1000)
    few = scores.labelled & (np.arange(1000)[:, None] % 3 == 0)  # the others follow
    few[:, 2] = False
    known, noted = scores.labelled.sum(0), few.sum(0)
    level = true.sum() / noted.sum()
    found = counted_priors(scores, noted, told(level)).rows()
    assert [row["labelled"] for row in found] == noted.tolist()
    assert all(row["low"] >= count - 1e-9 for row, count in zip(found, known, strict=True))
    assert found[2]["basis"] == "own" and found[2]["ratio"] is None
    own = np.maximum(summed(scores, true.sum() / known.sum()), known)
    weight = noted / (noted + 10)
    drawn = own**weight * (level * np.maximum(noted, 1)) ** (1 - weight)
    expected = [*np.maximum(drawn, known)[:2], own[2]]  # nothing of r2 was noted, so nothing draws it
    assert [row["estimated"] for row in found] == pytest.approx(expected, rel=0.01)


def test_few_labels_follow_the_level_and_none_stay_at_zero():
    scores, _ = simulated(3, relations=3, pairs=1000)
    labelled = scores.labelled.copy()
    labelled[np.flatnonzero(labelled[:, 0])[1:], 0] = False  # one is left
    labelled[:, 2] = False
    left = replace(scores, labelled=labelled)
    found = counted_priors(left, labelled.sum(0), told(3.0)).rows()
    own = summed(left, 3.0)[0]
    assert found[0]["ratio"] == pytest.approx(own ** (1 / 11) * 3 ** (10 / 11), rel=0.02)
    assert found[2]["prior"] == 0 and found[2]["basis"] == "none"
    with pytest.raises(ValueError, match="found none in 1000 pairs"):
        counted_priors(scores, np.zeros(3, int), told(3.0))


def test_an_uncertain_level_makes_intervals_wider():
    scores, _ = simulated(3, relations=3, pairs=1000)
    noted = scores.labelled.sum(0)
    sure, unsure = (
        counted_priors(scores, noted, level).rows()[1] for level in (told(3.0), Interval(3.0, 1.0, 9.0))
    )
    assert unsure["ratio"] == sure["ratio"]
    assert unsure["ratio_high"] > sure["ratio_high"]
