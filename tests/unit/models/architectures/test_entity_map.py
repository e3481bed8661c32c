import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.maps import only, plain_contexts, plain_entities, random_encoded

from unnoted.models.architectures.entity_map import (
    at_pairs,
    context_cells,
    contexts,
    in_slots,
    pair_cells,
    tail_mask,
    transposition,
)
from unnoted.models.architectures.localized_context import entity_states


@pytest.fixture
def batch():
    return random_batch([12, 5, 9, 14], [3, 0, 1, 5], pair_rate=0.6)


def test_maps_hold_each_cell_where_it_belongs(batch):
    entities = len(batch.entity_document)
    rows = torch.arange(1.0, entities * 5 * 2 + 1).view(entities, 5, 2)
    maps, mask = in_slots(rows, batch), in_slots(tail_mask(batch), batch)
    assert maps.shape == (4, 5, 5, 2)
    entity = 0
    for document, count in enumerate([3, 0, 1, 5]):
        for head in range(5):
            for tail in range(5):
                assert mask[document, head, tail] == (head < count and tail < count)
                expected = rows[entity + head, tail] if head < count else torch.zeros(2)
                assert torch.equal(maps[document, head, tail], expected)
        entity += count


def test_pairs_get_their_own_cells(batch):
    entities = len(batch.entity_document)
    rows = torch.randn(entities, 5, 2)
    maps = in_slots(rows, batch)
    wider = torch.nn.functional.pad(maps, (0, 0, 0, 3, 0, 3))
    cells = list(zip(batch.head.tolist(), batch.entity_slot[batch.tail].tolist(), strict=True))
    expected = torch.stack([rows[head, slot] for head, slot in cells])
    assert torch.equal(at_pairs(maps, batch), expected)
    assert torch.equal(at_pairs(wider, batch), expected)
    assert torch.equal(rows.flatten(0, 1)[pair_cells(batch)], expected)


def test_transposition_swaps_head_and_tail(batch):
    rows = torch.randn(len(batch.entity_document), 5, 1)
    mask = tail_mask(batch).unsqueeze(2)
    swapped = rows.flatten(0, 1)[transposition(batch)].view_as(rows)
    expected = in_slots(rows * mask, batch).transpose(1, 2)
    assert torch.equal(in_slots(swapped * mask, batch), expected)


def test_states_and_contexts_equal_plain_loops(batch):
    encoded = random_encoded(batch, 4)
    states = entity_states(encoded, batch)
    maps = in_slots(contexts(encoded, batch)[context_cells(batch)].view(len(states), 5, 4), batch)
    for document in (0, 2, 3):
        alone, one, _ = only(encoded, batch, document)
        plain_states, attentions = plain_entities(alone, one)
        torch.testing.assert_close(states[batch.entity_document == document], torch.stack(plain_states))
        for (head, tail), context in plain_contexts(alone, attentions).items():
            torch.testing.assert_close(maps[document, head, tail], context)


def test_no_entity_at_all():
    batch = random_batch([5, 4], [0, 0])
    assert tail_mask(batch).shape == (0, 0)
    assert in_slots(torch.zeros(0, 0, 3), batch).shape == (2, 0, 0, 3)
    assert len(transposition(batch)) == len(context_cells(batch)) == len(pair_cells(batch)) == 0
