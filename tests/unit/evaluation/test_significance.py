from dataclasses import astuple
from random import Random

import numpy as np
import pytest
from tests.reference import bootstrap as reference

from unnoted.evaluation import IgnScore, Score, paired_bootstrap
from unnoted.evaluation.significance import BLOCK, draw_documents, draw_runs


def rows(random, gold, skill):
    """(correct, predicted, gold, correct in train) of documents with so many true facts."""
    made = []
    for number in gold:
        correct = sum(random.random() < skill for _ in range(number))
        made.append((correct, correct + random.randrange(3), number, random.randint(0, correct)))
    return made


def systems(documents=7, runs=(2, 3), seed=5, skills=(0.6, 0.5)):
    random = Random(seed)
    gold = [random.randrange(6) for _ in range(documents)]
    return [
        [rows(random, gold, skill) for _ in range(number)] for number, skill in zip(runs, skills, strict=True)
    ]


def scores(runs):
    return [{f"d{place}": Score(*row[:3]) for place, row in enumerate(run)} for run in runs]


def ign_scores(runs):
    return [{f"d{place}": IgnScore(Score(*row[:3]), row[3]) for place, row in enumerate(run)} for run in runs]


def chosen_runs(number, resamples):
    """The numbers of the runs that each resample draws, one fewer than there are."""
    shares = np.concatenate(list(draw_runs(number, resamples, seed=3)))
    times = np.rint(shares * max(1, number - 1)).astype(int)
    return [np.repeat(np.arange(number), row) for row in times]


@pytest.mark.parametrize(
    ("made", "measure"), [(scores, reference.f1), (ign_scores, reference.ign_f1)], ids=["F1", "Ign F1"]
)
def test_the_same_draws_in_plain_loops(made, measure):
    first, second = systems()
    resamples = BLOCK + 30  # more than one block
    comparison = paired_bootstrap(made(first), made(second), resamples, seed=3)
    times = np.concatenate(list(draw_documents(len(first[0]), resamples, seed=3)))
    drawn = [np.repeat(np.arange(len(row)), row) for row in times]
    chosen = zip(*(chosen_runs(len(runs), resamples) for runs in (first, second)), strict=True)
    found = [
        reference.difference(first, second, places, measure, numbers)
        for places, numbers in zip(drawn, chosen, strict=True)
    ]
    assert comparison.difference == pytest.approx(
        reference.difference(first, second, range(len(first[0])), measure)
    )
    assert comparison.low == pytest.approx(np.percentile(found, 2.5))
    assert comparison.high == pytest.approx(np.percentile(found, 97.5))
    assert comparison.share == pytest.approx(np.mean([value > 1e-12 for value in found]))
    assert comparison.low < comparison.difference < comparison.high


@pytest.mark.parametrize("runs", [(1, 2), (2, 3), (2, 2)])
def test_the_share_is_that_of_all_possible_draws(runs):
    first, second = systems(documents=4, runs=runs)
    exact = reference.every_difference(first, second, reference.f1)
    share = np.mean([value > 1e-12 for value in exact])
    assert 0.1 < share < 0.9  # or the test would say little
    comparison = paired_bootstrap(scores(first), scores(second), 20_000)
    assert comparison.share == pytest.approx(share, abs=0.015)  # four standard errors
    # Few documents have few differences, so the percentile is known by the shares on both of its sides.
    below, up_to = (np.mean([value < comparison.low + slack for value in exact]) for slack in (-1e-9, 1e-9))
    assert below - 0.0045 <= 0.025 <= up_to + 0.0045  # four standard errors


@pytest.mark.parametrize("number", [2, 3, 5])
def test_the_mean_of_drawn_runs_varies_as_the_mean_of_as_many_new_ones_would(number):
    values = np.random.default_rng(1).normal(size=number)
    means = np.concatenate(list(draw_runs(number, 100_000, seed=0))) @ values
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert means.var() == pytest.approx(values.var(ddof=1) / number, rel=0.05)


def test_seeds_widen_the_interval():
    """Two seeds that differ much, on documents that are all alike: only the seed can change the difference."""
    steady = [{f"d{place}": Score(2, 4, 4) for place in range(30)}] * 2
    shaky = [{f"d{place}": Score(correct, 4, 4) for place in range(30)} for correct in (1, 4)]
    comparison = paired_bootstrap(shaky, steady, 400)
    assert (comparison.low, comparison.high) == (-25.0, 50.0) and comparison.difference == 12.5
    alone = paired_bootstrap(shaky[1:], steady[1:], 400)
    assert (alone.low, alone.high) == (50.0, 50.0)


def test_a_system_is_not_better_than_itself():
    first, _ = map(scores, systems())
    assert astuple(paired_bootstrap(first, first, 100)) == (0.0, 0.0, 0.0, 0.0)


def test_systems_that_state_nothing():
    silent = [{"a": Score(0, 0, 2), "b": Score(0, 0, 0)}]
    right = [{"a": Score(2, 2, 2), "b": Score(0, 0, 0)}]
    assert paired_bootstrap(silent, silent, 50).difference == 0.0
    comparison = paired_bootstrap(right, silent, 400)
    assert (comparison.difference, comparison.low, comparison.high) == (100.0, 0.0, 100.0)
    assert comparison.share == pytest.approx(0.75, abs=0.1)  # unless only "b" is drawn


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([], [{"a": Score(1, 1, 1)}], "^runs"),
        ([], [], "^runs"),
        ([{}], [{}], "^scores"),
        ([{"a": Score(1, 1, 1)}], [{"b": Score(1, 1, 1)}], "'a'"),
        (
            [{"a": Score(1, 1, 1)}],
            [{"a": Score(1, 1, 2)}],
            "document 'a': 2",
        ),
        ([{"a": Score(1, 1, 1)}], [{"a": IgnScore(Score(1, 1, 1), 0)}], "IgnScore .* Score"),
    ],
)
def test_what_cannot_be_compared(first, second, message):
    with pytest.raises(ValueError, match=message):
        paired_bootstrap(first, second, 10)


def test_no_resamples():
    with pytest.raises(ValueError, match="resamples"):
        paired_bootstrap([{"a": Score(1, 1, 1)}], [{"a": Score(1, 1, 1)}], 0)
