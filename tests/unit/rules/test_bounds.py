"""Shares over documents, and shares of a mixture."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from tests.reference.rules import mixture, share_variance

from unnoted.rules.bounds import DocumentShare, wilson_low
from unnoted.rules.score_check import mixture_share

counts = st.lists(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=8
)


def share_of(counts):
    share = DocumentShare()
    for pairs, hits in counts:
        share.add(pairs, hits)
    return share


@given(counts)
def test_the_variance_is_that_over_documents(counts):
    assert share_of(counts).variance == approx(share_variance(counts), abs=1e-12)


@given(counts)
def test_a_bound_is_below_its_share_and_no_surer_than_independent_pairs(counts):
    share = share_of(counts)
    assert 0 <= share.low() <= share.share + 1e-12
    assert share.low() <= wilson_low(share.share, share.pairs) + 1e-12
    assert share.effective_pairs <= share.pairs + 1e-9


def test_the_bound_of_a_share_covers_it_nineteen_times_of_twenty():
    # Documents whose pairs all agree: what a count of independent pairs would be far too sure of.
    random = np.random.default_rng(0)
    missed = too_sure = 0
    for _ in range(400):
        sizes, hit = random.integers(1, 12, 40), random.random(40) < 0.3
        share = share_of([(int(n), int(n) * int(h)) for n, h in zip(sizes, hit, strict=True)])
        missed += share.low() > 0.3
        too_sure += wilson_low(share.share, share.pairs) > 0.3
    assert missed / 400 < 0.09 < too_sure / 400


def test_the_share_of_a_mixture_is_that_of_all_comparisons():
    random = np.random.default_rng(1)
    labelled, unlabelled = random.normal(1, 1, 40).round(1), random.normal(-1, 1, 60).round(1)
    added = np.concatenate([random.normal(1, 1, 12), random.normal(-1, 1, 8)]).round(1)
    below = (labelled[None] < added[:, None]).mean(1) + (labelled[None] == added[:, None]).mean(1) / 2
    others = ((labelled[None] < unlabelled[:, None]) + (labelled[None] == unlabelled[:, None]) / 2).mean()
    mean = share_of([(1, rank) for rank in below])
    found = mixture_share(mean, float(others), len(labelled))
    assert found.share == approx(mixture(added, labelled, unlabelled))
    assert found.low < found.share


def test_scores_that_cannot_tell_facts_from_others_say_nothing():
    assert mixture_share(share_of([(3, 3)]), 0.5, 10).low == 0.0


def test_many_pairs_of_one_document_are_not_certain():
    one, many = share_of([(50, 25.0)]), share_of([(1, 0.5)] * 50)
    assert mixture_share(one, 0.1, 1000).low < 0.3 < 0.6 < mixture_share(many, 0.1, 1000).low
