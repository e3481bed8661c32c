"""Pooling over groups of rows, and the layouts of a batch, against plain loops."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.batches import random_batch
from tests.reference.encoded import only, plain_entities, plain_mean, random_encoded

from unnoted.models.pooling import (
    count_entities,
    mention_means,
    pad_entities,
    pair_cells,
    pool_entities,
    segment_logsumexp,
    segment_max,
    segment_mean,
)

torch.set_num_threads(1)


@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=5), scale=st.sampled_from([1.0, 1e3]))
def test_segments_equal_a_loop(counts, scale):
    segment = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    generator = torch.Generator().manual_seed(sum(counts))
    segment = segment[torch.randperm(len(segment), generator=generator)]
    values = torch.randn(len(segment), 3, generator=generator, dtype=torch.float64) * scale
    for pool, plain in (
        (segment_logsumexp, lambda rows: rows.logsumexp(0)),
        (segment_mean, lambda rows: rows.mean(0)),
        (segment_max, lambda rows: rows.amax(0)),
    ):
        loop = torch.stack([plain(values[segment == group]) for group in range(len(counts))])
        torch.testing.assert_close(pool(values, segment, len(counts)), loop)


def test_gradients_are_right():
    segment = torch.tensor([0, 2, 0, 1])
    values = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: segment_logsumexp(rows, segment, 3), values)
    assert torch.autograd.gradcheck(lambda rows: segment_mean(rows, segment, 4), values)
    values = torch.tensor([[1.0, 5.0], [2.0, 5.0], [0.0, -1.0]], requires_grad=True)
    segment_max(
        values, torch.tensor([0, 0, 1]), 2
    ).sum().backward()  # equals share the gradient of the largest
    assert values.grad.tolist() == [[0.0, 0.5], [1.0, 0.5], [1.0, 1.0]]


def test_no_rows_and_no_segments():
    nothing = torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), 0
    assert segment_logsumexp(*nothing).shape == segment_mean(*nothing).shape == (0, 3)
    batch = random_batch([5, 4], [0, 0])
    assert pad_entities(torch.zeros(0, 0, 3), batch).shape == (2, 0, 0, 3)
    assert count_entities(batch).tolist() == [0, 0] and len(pair_cells(batch)) == 0


def test_entities_and_pairs_stand_where_they_belong():
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 5], pair_rate=0.6)
    rows = torch.arange(1.0, 9 * 5 * 2 + 1).view(9, 5, 2)
    maps, entity = pad_entities(rows, batch), 0
    assert maps.shape == (4, 5, 5, 2) and count_entities(batch).tolist() == [3, 0, 1, 5]
    for document, count in enumerate([3, 0, 1, 5]):
        assert torch.equal(maps[document, :count], rows[entity : entity + count])
        assert not maps[document, count:].any()
        entity += count
    cells = zip(batch.head.tolist(), batch.entity_slot[batch.tail].tolist(), strict=True)
    expected = torch.stack([rows[head, slot] for head, slot in cells])
    assert torch.equal(rows.flatten(0, 1)[pair_cells(batch)], expected)


def test_entities_and_mentions_equal_plain_loops():
    batch = random_batch([30, 12, 20], [5, 2, 4])
    encoded = random_encoded(batch, 4)
    states, means = pool_entities(encoded.states, batch), mention_means(encoded.states, batch)
    for document in range(3):
        alone, one, _ = only(encoded, batch, document)
        plain, _ = plain_entities(alone, one)
        torch.testing.assert_close(states[batch.entity_document == document], torch.stack(plain))
        mentions = [plain_mean(alone.states, one, m) for m in range(len(one.mention_entity))]
        torch.testing.assert_close(means[batch.mention_document == document], torch.stack(mentions))
