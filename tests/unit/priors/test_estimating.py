import json
from dataclasses import replace

import numpy as np
import pytest
from tests.reference import ceilings as oracle
from tests.unit.priors.simulating import simulated

from unnoted.priors.ceilings import SHARES, ceiling_likelihood
from unnoted.priors.estimating import estimate_priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.priors.populations import DEVIATIONS, MEANS, Population
from unnoted.priors.priors import Priors
from unnoted.priors.rank_bands import RankBands, rank_bands


def true_ratio(scores, true):
    return true.sum() / scores.labelled.sum()


@pytest.mark.parametrize("shape", [0.75, 1.0])
@pytest.mark.parametrize("share", [0, 12, 30])
def test_the_likelihood_of_a_share(shape, share):
    scores, _ = simulated(3, relations=2, pairs=2000)
    bands = rank_bands(scores, [0, 1])
    found = ceiling_likelihood(bands, shape)
    for row in (0, 1):
        wanted = oracle.best_likelihood(bands.size, bands.labelled[row], bands.height, shape, SHARES[share])
        assert found[row, share] * bands.clustering[row] == pytest.approx(wanted, abs=0.02)


def test_labels_that_come_together_count_less():
    size, labelled, height = np.array([10.0, 90]), np.array([[5.0, 5]]), np.array([3.0, 0.5])
    alone, together = (
        ceiling_likelihood(RankBands(size, labelled, height, np.array([clustering])), 1.0)
        for clustering in (1.0, 2.0)
    )
    assert alone / 2 == pytest.approx(together)


def test_clustering_is_what_a_bootstrap_over_documents_adds():
    scores, _ = simulated(2, relations=1, pairs=2000)
    counts = np.bincount(scores.document[scores.labelled[:, 0]], minlength=100)
    random = np.random.default_rng(0)
    totals = [random.poisson(1, 100) @ counts for _ in range(4000)]
    bands = rank_bands(scores, [0])
    assert bands.clustering[0] == pytest.approx(np.var(totals) / counts.sum(), rel=0.1)


def test_the_population():
    values = -np.log(SHARES[::9])
    likelihood = np.random.default_rng(0).normal(size=(3, len(values)))
    # A relation without evidence: all ratios are as likely.
    wanted = oracle.posterior(values, [*likelihood, np.zeros(len(values))], MEANS, DEVIATIONS)
    drawn = Population.of(values, likelihood).draws(20_000, 1, np.random.default_rng(0))
    found = (drawn[..., None] == values).mean(0)
    assert found == pytest.approx(np.array(wanted), abs=0.02)


@pytest.mark.parametrize("ratio", [1, 3, 7])
def test_the_level_of_labelling_is_found_without_being_told(ratio):
    scores, true = simulated(ratio, relations=8, pairs=4000)
    found = estimate_priors(scores).ratio
    assert abs(np.log2(found.estimate / true_ratio(scores, true))) < 0.6
    assert found.low <= found.estimate <= found.high


def test_false_pairs_at_the_top_are_taken_for_missing_labels():
    """What the estimate cannot tell apart: heavy tails bring false pairs to the top of complete labels."""
    scores, true = simulated(1, relations=8, pairs=4000, tails="heavy")
    assert true_ratio(scores, true) == 1
    assert 1.3 < estimate_priors(scores).ratio.estimate < 4


def test_priors_are_possible_and_only_the_order_of_margins_counts():
    scores, _ = simulated(3, relations=6, pairs=2000)
    labelled = scores.labelled.copy()
    labelled[:, 0] = False
    labelled[np.nonzero(labelled[:, 1])[0][2:], 1] = False
    scores = replace(scores, labelled=labelled)
    found = estimate_priors(scores)
    assert found.basis == ("none", "pooled", "own", "own", "own", "own")
    assert found.overall[0] == found.low[0] == found.high[0] == 0
    for low, overall, high, prior in zip(found.low, found.overall, found.high, found.labelled, strict=True):
        assert prior <= low <= overall <= high < 1
    assert found.low[1] < found.overall[1] < found.high[1]
    assert estimate_priors(replace(scores, margin=np.exp(2 * scores.margin))) == found
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["pairs"] == 2000


def test_what_is_written_is_what_training_reads(tmp_path):
    scores, _ = simulated(3, relations=3, pairs=1000)
    found = estimate_priors(scores)
    found.priors.to_file(tmp_path / "priors.json")
    labelled = Priors(found.relations, found.labelled, found.labelled)
    assert Priors.from_file(tmp_path / "priors.json", labelled) == found.priors


def test_no_label_at_all():
    zeros = np.zeros(10, np.int32)
    empty = LabelledScores(("a",), ("d",), zeros, zeros, zeros, np.zeros((10, 1)), np.zeros((10, 1), bool))
    with pytest.raises(ValueError, match="labels: found none in 10 pairs"):
        estimate_priors(empty)


@pytest.mark.slow
def test_how_often_the_intervals_hold_the_truth():
    """Over five levels of labelling. The goal is 0.9."""
    covered = []
    for level, ratio in enumerate((1, 1.5, 3, 5, 8)):
        for seed in range(4):
            scores, true = simulated(ratio, seed=10 * level + seed)
            for row, count in zip(estimate_priors(scores).rows(), true.sum(0), strict=True):
                covered.append(row["low"] - 0.5 <= count <= row["high"] + 0.5)
    print("covered", np.mean(covered))
    assert np.mean(covered) > 0.8
