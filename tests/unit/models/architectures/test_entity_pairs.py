import math
from dataclasses import replace

import pytest
import torch
from tests.reference.alone import alone, random_states
from tests.reference.batches import random_batch
from tests.reference.docred_bilstm import plain_entity_pairs

from unnoted.models.architectures.entity_pairs import EntityPairs, distance_bucket, first_mentions
from unnoted.models.scores.grouped_bilinear import GroupedBilinear

WIDTH = 5


def small(**choices):
    torch.manual_seed(0)
    return EntityPairs(WIDTH, 6, distance_size=4, **choices).double()


@pytest.mark.parametrize("before", [True, False])
def test_embeddings_equal_plain_loops(before):
    batch = random_batch([300, 12, 20], [5, 2, 4], pair_rate=0.7)
    encoded = random_states(batch, WIDTH)
    pairs = small(layer_before_means=before)
    found = pairs(encoded, batch)
    for document in range(3):
        (states, _), one, rows = alone(encoded, batch, document)
        expected = plain_entity_pairs(pairs, states, one, layer_before_means=before)
        for row, embeddings in zip(rows.tolist(), expected, strict=True):
            for side, embedding in zip(found, embeddings, strict=True):
                torch.testing.assert_close(side[row], embedding)


def test_the_layer_is_another_one_before_than_after_the_means():
    batch = random_batch([60], [5])
    encoded = random_states(batch, WIDTH)
    before, after = (small(layer_before_means=order)(encoded, batch)[0] for order in (True, False))
    assert not torch.allclose(before, after)


def test_entities_that_begin_together_have_no_distance_and_never_will():
    batch = random_batch([30], [2], mentions=1)
    batch = replace(batch, mention_position=torch.tensor([4, 4]), mention_end=torch.tensor([5, 7]))
    pairs = small()
    head, tail = pairs(random_states(batch, WIDTH), batch)
    assert head[:, 6:].abs().sum() == tail[:, 6:].abs().sum() == 0
    (head.sum() + tail.sum()).backward()
    assert pairs.distance_embedding.weight.grad.abs().sum() == 0


def test_every_distance_has_its_bucket():
    distances = torch.arange(-600, 601)
    expected = [
        0 if d == 0 else int(math.copysign(min(9, 1 + math.floor(math.log2(abs(d)))), d))
        for d in distances.tolist()
    ]
    assert distance_bucket(distances).tolist() == expected


def test_the_first_mention_is_the_earliest_in_the_text():
    batch = random_batch([30], [2], mentions=1)
    batch = replace(batch, mention_position=torch.tensor([9, 4, 20]), mention_entity=torch.tensor([0, 0, 1]))
    assert first_mentions(batch).tolist() == [4, 20]


def test_one_block_is_a_full_bilinear():
    torch.manual_seed(0)
    grouped = GroupedBilinear(6, 5, block=6).double()
    full = torch.nn.Bilinear(6, 6, 5).double()
    with torch.no_grad():
        full.weight.copy_(grouped.weight[0].view(6, 6, 5).permute(2, 0, 1))
        full.bias.copy_(grouped.bias)
    head, tail = torch.randn(2, 9, 6, dtype=torch.float64)
    torch.testing.assert_close(grouped(head, tail), full(head, tail), rtol=1e-10, atol=1e-12)
