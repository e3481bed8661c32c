"""Shares over documents, and shares of a mixture."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from tests.reference.rules import share_variance

from unnoted.rules.bounds import DocumentShare, wilson_low

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
