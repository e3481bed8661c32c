"""Review orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.suggestions import Order, Suggestion, rank

LISTS = st.lists(
    st.builds(
        Suggestion, st.sampled_from("abc"), st.just(0), st.just(1), st.sampled_from(["r", "s"]),
        st.floats(0, 1), st.just(()), st.none(), st.booleans(),
    ),
    max_size=12,
)  # fmt: skip


@given(LISTS, st.sampled_from(list(Order)), st.integers(0, 5))
def test_every_suggestion_has_one_place(listed, order, seed):
    assert sorted(rank(listed, order, seed=seed).tolist()) == list(range(len(listed)))


@given(LISTS)
def test_by_score_the_highest_first_and_labels_last(listed):
    found = [listed[index] for index in rank(listed, Order.SCORE)]
    suggested = [each.score for each in found if not each.labelled]
    assert [each.labelled for each in found] == sorted(each.labelled for each in found)
    assert suggested == sorted(suggested, reverse=True)


@given(LISTS)
def test_documents_stay_together_the_most_rewarding_first(listed):
    found = [listed[index] for index in rank(listed, Order.DOCUMENT)]
    names = [each.document for each in found]
    assert len(set(names)) == sum(a != b for a, b in zip(names, [None, *names], strict=False))

    def rate(name):
        own = [each for each in listed if each.document == name]
        return sum(0 if each.labelled else each.score for each in own) / len(own)

    rates = [rate(name) for name in dict.fromkeys(names)]
    assert rates == pytest.approx(sorted(rates, reverse=True))


def test_the_random_order_is_uniform_and_repeatable():
    listed = [Suggestion("a", 0, 1, f"r{k}", 0.9 - k / 10) for k in range(4)]
    first = np.array([rank(listed, Order.RANDOM, seed=seed)[0] for seed in range(4000)])
    assert np.bincount(first) / 4000 == pytest.approx([0.25] * 4, abs=0.04)
    assert (rank(listed, Order.RANDOM, seed=3) == rank(listed, Order.RANDOM, seed=3)).all()
