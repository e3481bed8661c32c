import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.kappa import kappa
from tests.unit.review.making import Keys

from unnoted.review.agreement import agreement, agreements
from unnoted.review.verdict import Verdict

answers = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


@given(answers)
def test_kappa_is_that_of_its_definition(pairs):
    counts = [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    found = agreement(*counts)
    expected = kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert found.kappa == (None if expected is None else pytest.approx(float(expected)))
    assert (found.both, found.agreed) == (len(pairs), sum(a == b for a, b in pairs))


def test_reviewers_are_compared_on_what_both_decided(store):
    said = {"Ada": "ara a", "Bo": "aar r", "Cy": "s  a "}
    verdicts = {"a": Verdict.ACCEPT, "r": Verdict.REJECT, "s": Verdict.SKIP}
    for name, letters in said.items():
        keys = Keys(name)
        for item, letter in enumerate(letters):
            if letter != " ":
                store.decide(keys(), item, verdicts[letter])
    found = agreements(store)
    assert list(found) == [("Ada", "Bo")]
    both = [(a, b) for a, b in zip(said["Ada"], said["Bo"], strict=True) if " " not in (a, b)]
    assert found["Ada", "Bo"].kappa == pytest.approx(float(kappa(*map(list, zip(*both, strict=True)))))
    assert found["Ada", "Bo"].both == 4
