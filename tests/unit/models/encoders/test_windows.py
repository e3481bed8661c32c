from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.models.encoders.windows import merge_rows, merge_states, plan_windows, spans_of


@given(length=st.integers(2, 400), limit=st.integers(4, 40))
def test_every_token_is_covered_and_no_window_is_too_wide(length, limit):
    spans = spans_of(0, length, limit)
    covered = {token for span in spans for token in range(span.first, span.first + span.count)}
    assert covered == set(range(length))
    assert max(span.width for span in spans) <= limit
    assert sum(span.count == 0 for span in spans) == 0


@given(length=st.integers(2, 400), limit=st.integers(8, 40))
def test_neighbouring_windows_overlap_beyond_two_windows(length, limit):
    spans = spans_of(0, length, limit)
    if length > 2 * (limit - 1):
        for one, next_one in pairwise(spans):
            assert next_one.first < one.first + one.count


@pytest.mark.parametrize("length", [513, 700, 1022])
def test_two_windows_are_those_of_the_authors(length):
    first, second = spans_of(0, length, limit=512)
    assert (first.first, first.count, first.starts, first.ends) == (0, 511, 0, 1)
    assert (second.first, second.count, second.starts, second.ends) == (length - 511, 511, 1, 0)


def test_the_authors_gap_at_1023_and_1024_is_closed():
    assert len(spans_of(0, 1022, limit=512)) == 2
    assert len(spans_of(0, 1023, limit=512)) == len(spans_of(0, 1024, limit=512)) == 3


def test_a_limit_too_small_for_windows_is_refused():
    with pytest.raises(ValueError, match="found an encoder limit of 3 tokens, expected at least 4"):
        spans_of(0, 10, limit=3)


@given(lengths=st.lists(st.integers(2, 60), min_size=1, max_size=4), limit=st.integers(5, 20))
def test_states_that_know_their_token_come_back_in_order(lengths, limit):
    plan = plan_windows(lengths, limit)
    number = plan.document[:, None] * 1000 + plan.source  # [W, L]
    merged = merge_states(plan, number.double().unsqueeze(2)).squeeze(2)
    for document, length in enumerate(lengths):
        expected = document * 1000 + torch.arange(length).double()
        torch.testing.assert_close(merged[document, :length], expected)


@given(lengths=st.lists(st.integers(4, 60), min_size=1, max_size=3), limit=st.integers(5, 20), data=st.data())
def test_merged_rows_equal_a_plain_walk_over_the_windows(lengths, limit, data):
    plan = plan_windows(lengths, limit)
    mentions = [data.draw(st.integers(0, length - 1)) for length in lengths]
    generator = torch.Generator().manual_seed(0)
    rows = torch.rand(len(plan.widths), 2, 1, plan.width, generator=generator, dtype=torch.float64)
    document = torch.arange(len(lengths))
    merged = merge_rows(plan, rows, document, torch.tensor(mentions), torch.zeros_like(document))
    spans = [span for row, length in enumerate(lengths) for span in spans_of(row, length, limit)]
    for row, mention in enumerate(mentions):
        expected = torch.zeros(2, max(lengths), dtype=torch.float64)
        own = [(index, span) for index, span in enumerate(spans) if span.document == row]
        for index, span in own:
            if span.first <= mention < span.first + span.count:
                for token in range(span.first, span.first + span.count):
                    expected[:, token] += rows[index, :, 0, token - span.first + span.starts]
        if len(own) > 1:
            expected /= expected.sum(1, keepdim=True) + 1e-10
        torch.testing.assert_close(merged[row], expected)
