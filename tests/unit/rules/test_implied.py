"""How complete labels are, told by rules."""

import math

import numpy as np
import pytest
from tests.unit.rules.making import make_document

from unnoted.rules import implied_facts, written_rules

SYMMETRIC = written_rules("spouse(t, h) -> spouse(h, t)\nmarried(h, t) -> spouse(h, t)")


def test_each_fact_counts_once_whatever_brings_it():
    document = make_document(["PER", "PER"], [(0, 1, "spouse"), (1, 0, "married")])
    found = implied_facts([document], SYMMETRIC)
    assert (found.implied, found.noted, found.multiplier) == (1, 0, 2.0)


def test_nothing_follows_from_nothing():
    found = implied_facts([make_document(["PER", "PER"], [(0, 1, "child")])], SYMMETRIC)
    assert (found.implied, found.share, found.multiplier) == (0, 1.0, 1.0)
    assert found.interval == (1.0, math.inf)


def couples(level, number, seed=0):
    """Facts that are noted independently of each other: both of a couple, each with the same chance."""
    random = np.random.default_rng(seed)
    both = (0, 1, "spouse"), (1, 0, "spouse")
    return [
        make_document(["PER", "PER"], [pair for pair in both if random.random() < level])
        for _ in range(number)
    ]


@pytest.mark.parametrize("level", [0.3, 0.6, 0.9])
def test_it_is_the_share_of_facts_that_were_noted(level):
    found = implied_facts(couples(level, 4000), SYMMETRIC)
    assert abs(found.share - level) < 0.03 and found.low < level < found.high


def test_nine_in_ten_intervals_hold_the_truth():
    intervals = [implied_facts(couples(0.4, 60, seed), SYMMETRIC).interval for seed in range(100)]
    assert 0.85 <= np.mean([low <= 2.5 <= high for low, high in intervals]) <= 0.97
