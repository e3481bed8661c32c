"""Random splits of a corpus."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.data import Document
from unnoted.data.convert import split_documents


@given(st.integers(2, 60), st.integers(), st.floats(0.1, 0.9))
def test_split_parts_are_disjoint_and_whole(count, seed, share):
    documents = [Document(str(number), (), ()) for number in range(count)]
    try:
        parts = split_documents(documents, [share, 1 - share], seed)
    except ValueError as error:
        assert "a part would be empty" in str(error) and min(share, 1 - share) * count < 1
        return
    assert sorted(int(d.id) for part in parts for d in part) == list(range(count))
    assert abs(len(parts[0]) - share * count) <= 0.5 + 1e-9
    assert parts == split_documents(documents, [share, 1 - share], seed)


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [1.5, -0.5]])
def test_impossible_splits_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        split_documents([], shares)
