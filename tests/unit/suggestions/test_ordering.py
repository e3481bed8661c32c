"""Orders hold every suggestion once, and each puts first what it promises."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnoted.suggestions import Order, Suggestion, ordered
from unnoted.suggestions.ordering import HALF, gains

SUGGESTIONS = st.lists(
    st.builds(
        Suggestion, st.sampled_from("abc"), st.just(0), st.just(1), st.sampled_from("rst"),
        st.none() | st.floats(0, 1), st.floats(-1, 2), labelled=st.booleans(),
    ),
    max_size=30,
)  # fmt: skip


@pytest.mark.parametrize("order", Order)
@given(listed=SUGGESTIONS)
@settings(max_examples=30, deadline=None)
def test_an_order_holds_each_suggestion_once(order, listed):
    found = ordered(listed, order, labels={"r": 3})
    assert sorted(found.tolist()) == list(range(len(listed)))
    if order is not Order.DOCUMENT:  # labelled facts that look wrong come last
        flags = [listed[index].labelled for index in found]
        assert flags == sorted(flags)


@given(listed=SUGGESTIONS)
@settings(max_examples=30, deadline=None)
def test_a_document_is_finished_before_the_next(listed):
    documents = [listed[index].document for index in ordered(listed, Order.DOCUMENT)]
    changes = sum(a != b for a, b in itertools.pairwise(documents))
    assert changes == max(len(set(documents)) - 1, 0)


def suggestion(probability, relation="r", document="d", labelled=False):
    return Suggestion(document, 0, 1, relation, probability, 0.5, labelled=labelled)


def test_labelled_facts_come_last_and_the_least_probable_of_them_first():
    listed = [
        suggestion(0.1, labelled=True),
        suggestion(0.05, labelled=True),
        suggestion(0.01),
        suggestion(0.9),
    ]
    assert ordered(listed, Order.PROBABILITY).tolist() == [3, 2, 1, 0]


def test_gain_is_as_derived_one_suggestion_after_the_other():
    """Oracle: the derivation written out, label by label."""
    random = np.random.default_rng(4)
    chance, relation = random.random(60), random.integers(0, 3, 60)
    labels = np.array([0.0, 12.0, 500.0])
    expected = np.zeros(60)
    for number in range(3):
        mine = np.flatnonzero(relation == number)
        facts, known = labels[number] + chance[mine].sum(), labels[number]
        for index in mine[np.argsort(-chance[mine])]:
            slope = HALF / (known + HALF) ** 2  # d/dn of n / (n + h)
            expected[index] = chance[index] + facts * slope * chance[index] * (1 - chance[index])
            known += chance[index]
    assert np.allclose(gains(chance, relation, labels), expected)


def test_gain_prefers_the_relation_with_few_labels_for_its_facts():
    listed = [suggestion(0.52, "common") for _ in range(50)] + [suggestion(0.5, "rare") for _ in range(50)]
    labels = {"common": 1000, "rare": 20}
    assert ordered(listed, Order.GAIN, labels=labels)[0] == 50
    assert ordered(listed, Order.PROBABILITY, labels=labels)[0] == 0


def test_an_audit_is_random_and_repeats_itself():
    listed = [suggestion(share) for share in np.linspace(1, 0, 200)]
    first, again, other = (ordered(listed, Order.AUDIT, seed=seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    means = [ordered(listed, Order.AUDIT, seed=seed)[:20].mean() for seed in range(200)]
    assert abs(np.mean(means) - 99.5) < 3  # uniform: a mean of 99.5 with a standard error of 0.9


def test_expected_facts_for_each_decision_put_a_document_first():
    listed = [
        *(suggestion(0.4, document="b") for _ in range(3)),
        suggestion(0.3, document="a"),
        suggestion(0.7, document="a"),
    ]
    assert [listed[index].probability for index in ordered(listed, Order.DOCUMENT)] == [
        0.7,
        0.3,
        0.4,
        0.4,
        0.4,
    ]
