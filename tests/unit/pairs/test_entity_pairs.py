import math
from dataclasses import replace

import torch
from tests.reference.alone import alone, mentions_of, plain_mean, random_states
from tests.reference.batches import random_batch

from unnoted.pairs.entity_pairs import EntityPairs, distance_bucket, first_mentions
from unnoted.scores.grouped_bilinear import GroupedBilinear

WIDTH = 5


def small():
    torch.manual_seed(0)
    return EntityPairs(WIDTH, 6, distance_size=4).double()


def test_embeddings_equal_plain_loops():
    batch = random_batch([300, 12, 20], [5, 2, 4], pair_rate=0.7)
    encoded = random_states(batch, WIDTH)
    pairs = small()
    found = pairs(encoded, batch)
    for document in range(3):
        (states, _), one, rows = alone(encoded, batch, document)
        entities, first = [], []
        for entity in range(one.entities):
            mentions = mentions_of(one, entity)
            vectors = [plain_mean(states, one, mention) for mention in mentions]
            entities.append(torch.relu(pairs.projection(sum(vectors) / len(vectors))))
            first.append(min(int(one.mention_position[mention]) for mention in mentions))
        for row, head, tail in zip(rows.tolist(), one.head.tolist(), one.tail.tolist(), strict=True):
            for side, (own, other) in zip(found, ((head, tail), (tail, head)), strict=True):
                distance = first[own] - first[other]
                steps = min(9, math.floor(math.log2(abs(distance))) + 1) if distance else 0
                part = pairs.distance_embedding.weight[9 + (steps if distance > 0 else -steps)]
                torch.testing.assert_close(side[row], torch.cat([entities[own], part]))


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
