"""How far a review is: agreement, and completeness from what the random order brought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.kappa import kappa
from tests.unit.review.factories import Authors, many, opened, people, suggested

from unnoted.data.document import Fact
from unnoted.review.progress import (
    CompletenessEstimate,
    cohen_kappa,
    count_agreement,
    review_decisions,
)
from unnoted.review.store import Verdict
from unnoted.suggestions import Order, Suggestion

A, R, S = Verdict.ACCEPT, Verdict.REJECT, Verdict.SKIP
answers = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


@given(answers)
def test_kappa_is_that_of_its_definition(pairs):
    counts = [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    expected = kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert cohen_kappa(*counts) == (None if expected is None else pytest.approx(float(expected)))


def test_reviewers_are_compared_on_what_both_decided(store):
    letters = {"Ada": "ara a", "Bo": "aar r", "Cy": "s  a "}
    for name, verdicts in letters.items():
        author = Authors(name)
        for item, letter in enumerate(verdicts):
            if letter != " ":
                store.decide(author(), item, {"a": A, "r": R, "s": S}[letter])
    both = [(a, b) for a, b in zip(letters["Ada"], letters["Bo"], strict=True) if " " not in (a, b)]
    expected = pytest.approx(float(kappa(*map(list, zip(*both, strict=True)))))
    assert count_agreement(store) == [{"reviewers": ("Ada", "Bo"), "both": 4, "agreed": 1, "kappa": expected}]


def test_the_sample_is_what_the_random_order_brought_first(store):
    """A suggestion counts by how it was brought first, whoever decides it again, and by what stands now."""
    random, score = Authors("Ada", Order.RANDOM), Authors("Bo", Order.SCORE)
    picked = Authors("Cy", Order.RANDOM, '{"picked": true}')
    store.decide(random(), 0, R)
    store.decide(score(), 1, A)
    store.decide(random(), 1, A)
    store.decide(picked(), 2, A)
    store.decide(random(), 3, S)
    store.decide(random(), 4, R)  # a label, which is in no sample
    found = {each.suggestion: each for each in review_decisions(store, {item: item for item in range(4)})}
    assert {item: each.is_random for item, each in found.items()} == {0: True, 1: False, 2: False, 3: True}
    assert [found[item].holds for item in range(4)] == [False, True, True, None]
    store.undo(random())
    assert len(review_decisions(store, {item: item for item in range(4)})) == 4
    store.undo(random())  # the skip: suggestion 3 is open again
    assert {each.suggestion for each in review_decisions(store, {n: n for n in range(3)})} == {0, 1, 2}
    store.decide(score(), 3, A)  # what was drawn at random is decided at last
    (again,) = (each for each in review_decisions(store, {n: n for n in range(4)}) if each.suggestion == 3)
    assert (again.is_random, again.holds) == (True, True)


def test_what_is_not_asked_since_entities_were_merged_is_no_missing_fact(tmp_path):
    document = people("d1", facts=(Fact(0, 3, "lives"), Fact(2, 3, "lives")))
    listed = [Suggestion("d1", head, 1, "knows", 0.5) for head in (0, 2, 3)]
    store = opened(tmp_path, suggested(tmp_path, [document], listed))
    estimate, author = CompletenessEstimate(store), Authors("Ada", Order.RANDOM)
    assert estimate.to_json()["found"] == 2 and estimate.to_json()["missing_high"] == 3
    store.merge(author(), "d1", 0, 2)
    found = estimate.to_json()
    assert (found["found"], found["missing_high"], found["needed"]) == (1, 2, 3)
    for item in (0, 2):
        store.decide(author(), item, A)
    assert (estimate.to_json()["found"], estimate.to_json()["missing"]) == (3, 0)
    store.close()


def test_completeness_is_the_same_from_pieces_and_from_all(tmp_path):
    store = opened(tmp_path, many(tmp_path, 300))
    live, author = CompletenessEstimate(store), Authors("Ada", Order.RANDOM)
    before = live.to_json()
    assert before["sampled"] == 0
    order = [row["id"] for row in store.query("SELECT id FROM items ORDER BY by_random")]
    for item in order[:60]:
        store.decide(author(), item, A if item % 3 else R)
        if item % 7 == 0:
            live.to_json()
    store.undo(author())
    found = live.to_json()
    assert found == CompletenessEstimate(store).to_json() and found["sampled"] == 59
    assert 0 <= found["low"] <= found["estimate"] <= found["high"] <= 1
    multiplier = found["multiplier"]
    assert 1 <= multiplier["low"] <= multiplier["estimate"] <= multiplier["high"]
    store.close()
