"""The label frequency that rules imply."""

from dataclasses import replace

import numpy as np
import pytest
from tests.factories import make_document

from unnoted.rules import implied_frequencies, parse_rules

SYMMETRIC = parse_rules("spouse(t, h) -> spouse(h, t)\nmarried(h, t) -> spouse(h, t)")


def test_each_fact_counts_once_together_whatever_implies_it():
    document = make_document(["PER", "PER"], [(0, 1, "spouse"), (1, 0, "married")])
    found = implied_frequencies([document], SYMMETRIC)
    assert [(each.implied, each.labelled) for each in found.by_rule] == [(1, 0), (1, 0)]
    assert (found.together.implied, found.together.labelled, found.together.multiplier) == (1, 0, 2.0)


def test_nothing_follows_from_nothing():
    found = implied_frequencies([make_document(["PER", "PER"], [(0, 1, "child")])], SYMMETRIC)
    assert (found.together.implied, found.together.multiplier) == (0, 1.0)
    assert implied_frequencies([], SYMMETRIC).together.multiplier == 1.0


def test_what_a_person_rejected_is_not_missing():
    document = make_document(["PER", "PER"], [(0, 1, "spouse")])
    before = implied_frequencies([document], SYMMETRIC).together
    after = implied_frequencies([replace(document, negatives=((1, 0, "spouse"),))], SYMMETRIC).together
    assert (before.implied, before.multiplier) == (1, 2.0)
    assert (after.implied, after.multiplier) == (0, 1.0)


def test_the_spread_shows_that_all_hangs_on_one_rule():
    """One rule's conclusions go without saying: without it, labels look nearly complete."""
    rules = parse_rules("a(h, t) -> b(h, t)\nc(h, t) -> d(h, t)\ne(h, t) -> f(h, t)")
    documents = [
        make_document(["X"] * 2, [(0, 1, "a"), (0, 1, "c"), (0, 1, "d"), (0, 1, "e"), (0, 1, "f")])
        for _ in range(100)
    ]
    found = implied_frequencies(documents, rules)
    assert [round(each.multiplier, 2) for each in found.by_rule] == [101, 1, 1]
    assert found.together.multiplier == pytest.approx(301 / 201)
    assert found.together.low < 301 / 201 < found.together.high < 1.8  # an interval over documents does not
    assert found.spread == pytest.approx((1.0, 201 / 101))


def couples(frequency, count, seed=0):
    """Facts that are labelled independently of each other: both of a couple, each with the same chance."""
    rng = np.random.default_rng(seed)
    both = (0, 1, "spouse"), (1, 0, "spouse")
    return [
        make_document(["PER", "PER"], [pair for pair in both if rng.random() < frequency])
        for _ in range(count)
    ]


@pytest.mark.parametrize("frequency", [0.3, 0.6, 0.9])
def test_it_is_the_frequency_of_labels(frequency):
    found = implied_frequencies(couples(frequency, 4000), SYMMETRIC).together
    assert found.multiplier == pytest.approx(1 / frequency, rel=0.06)
    assert found.low < 1 / frequency < found.high


def test_nine_in_ten_intervals_hold_the_truth():
    found = [implied_frequencies(couples(0.4, 60, seed), SYMMETRIC).together for seed in range(100)]
    assert 0.84 <= np.mean([each.low <= 2.5 <= each.high for each in found]) <= 0.97
