from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.batches import random_batch

from unnoted.models.encoders.windows import (
    MentionPositions,
    merge_attention,
    merge_states,
    plan_windows,
    split_document,
)


@given(length=st.integers(2, 400), limit=st.integers(4, 40))
def test_every_token_is_covered_and_no_window_is_too_wide(length, limit):
    windows = split_document(0, length, limit)
    covered = {token for window in windows for token in range(window.first, window.first + window.count)}
    assert covered == set(range(length))
    assert max(window.width for window in windows) <= limit
    assert sum(window.count == 0 for window in windows) == 0


@given(length=st.integers(2, 400), limit=st.integers(8, 40))
def test_neighbouring_windows_overlap_beyond_two_windows(length, limit):
    windows = split_document(0, length, limit)
    if length > 2 * (limit - 1):
        for one, next_one in pairwise(windows):
            assert next_one.first < one.first + one.count


@pytest.mark.parametrize("length", [513, 700, 1022])
def test_two_windows_are_those_of_the_authors(length):
    first, second = split_document(0, length, limit=512)
    assert (first.first, first.count, first.starts, first.ends) == (0, 511, 0, 1)
    assert (second.first, second.count, second.starts, second.ends) == (length - 511, 511, 1, 0)


def test_a_limit_too_small_for_windows_is_refused():
    with pytest.raises(ValueError, match="at least 4"):
        split_document(0, 10, limit=3)


@given(lengths=st.lists(st.integers(2, 60), min_size=1, max_size=4), limit=st.integers(5, 20))
def test_states_that_know_their_token_come_back_in_order(lengths, limit):
    plan = plan_windows(lengths, limit)
    number = plan.document[:, None] * 1000 + plan.source  # [W, L]
    merged = merge_states(plan, number.double().unsqueeze(2)).squeeze(2)
    for document, length in enumerate(lengths):
        expected = document * 1000 + torch.arange(length).double()
        torch.testing.assert_close(merged[document, :length], expected)


@given(
    lengths=st.lists(st.integers(4, 60), min_size=1, max_size=3),
    limit=st.integers(5, 20),
    seed=st.integers(0, 9),
)
def test_merged_attention_equals_a_plain_walk_over_the_windows(lengths, limit, seed):
    batch = random_batch(lengths, [2] * len(lengths), seed=seed)
    plan = plan_windows(lengths, limit)
    positions = MentionPositions.from_plan(plan, batch)
    generator = torch.Generator().manual_seed(0)
    matrices = torch.rand(
        len(plan.windows),
        2,
        plan.source.shape[1],
        plan.source.shape[1],
        generator=generator,
        dtype=torch.float64,
    )
    rows = matrices[positions.window, :, positions.table[positions.window, positions.rank]]  # [N, H, L]
    merged = merge_attention(plan, positions, rows, batch)
    expected = torch.zeros(len(batch.entity_document), 2, max(lengths), dtype=torch.float64)
    for mention, entity in enumerate(batch.mention_entity.tolist()):
        position, total = (
            int(batch.mention_position[mention]),
            torch.zeros(2, max(lengths), dtype=torch.float64),
        )
        own = [(i, w) for i, w in enumerate(plan.windows) if w.document == batch.entity_document[entity]]
        for index, window in own:
            if window.first <= position < window.first + window.count:
                at = position - window.first + window.starts
                for token in range(window.first, window.first + window.count):
                    total[:, token] += matrices[index, :, at, token - window.first + window.starts]
        if len(own) > 1:
            total = total / (total.sum(1, keepdim=True) + 1e-10)
        expected[entity] += total / int((batch.mention_entity == entity).sum())
    torch.testing.assert_close(merged, expected)
