from dataclasses import replace

import pytest
import torch
from tests.reference.alone import alone, random_states
from tests.reference.batches import random_batch
from tests.reference.graph import plain_graph_pairs

from unnoted.models.architectures import graph, paths
from unnoted.models.architectures.graph import GraphPairs, entity_graph, mention_graph
from unnoted.models.architectures.paths import EntityPaths

WIDTH = 5
PROGRAM = {"last_layer_edges": True, "path_attention": False, "path_layer": True}
"""What the authors' program does otherwise than the paper."""

CHOICES = [{}, *({name: value} for name, value in PROGRAM.items()), PROGRAM]


def small(**settings):
    torch.manual_seed(0)
    pairs = GraphPairs(WIDTH, 7, **{"types": 4, "entities": 5} | settings).double().eval()
    if pairs.paths.attention:
        with torch.no_grad():  # attention that differs from path to path
            pairs.paths.head_query.weight *= 3
            pairs.paths.tail_query.weight *= 3
    return pairs


@pytest.mark.parametrize("choices", CHOICES, ids=["paper", *PROGRAM, "program"])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_vectors_equal_plain_loops(layers, choices):
    batch = random_batch([30, 12, 40], [7, 3, 4], seed=layers, pair_rate=0.7)
    encoded = random_states(batch, WIDTH)
    pairs = small(layers=layers, **choices)
    (found,) = pairs(encoded, batch)
    assert found.shape == (batch.pairs, 7)
    for document in range(3):
        *inputs, rows = alone(encoded, batch, document)
        expected = torch.stack(plain_graph_pairs(pairs, *inputs, **choices))
        torch.testing.assert_close(found[rows], expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("choice", PROGRAM)
def test_every_choice_gives_other_vectors(choice):
    batch = random_batch([30], [7])
    encoded = random_states(batch, WIDTH)
    pairs = small(**{choice: PROGRAM[choice]})
    as_chosen = torch.stack(plain_graph_pairs(pairs, encoded, batch, **{choice: PROGRAM[choice]}))
    torch.testing.assert_close(pairs(encoded, batch)[0], as_chosen)
    assert not torch.allclose(small()(encoded, batch)[0], as_chosen)


def test_a_path_layer_says_something_of_pairs_without_a_path():
    batch = random_batch([30], [2])  # no third entity
    encoded = random_states(batch, WIDTH)
    pairs = small(path_layer=True)
    with torch.no_grad():
        pairs.path_layer[0].bias.fill_(1.0)
    (found,) = pairs(encoded, batch)
    expected = torch.stack(plain_graph_pairs(pairs, encoded, batch, path_layer=True))
    torch.testing.assert_close(found, expected)
    with torch.no_grad():
        pairs.path_layer[0].bias.fill_(2.0)
    assert not torch.equal(pairs(encoded, batch)[0], found)


@pytest.mark.parametrize("choices", [{}, PROGRAM], ids=["paper", "program"])
def test_pairs_in_pieces_change_nothing(monkeypatch, choices):
    batch = random_batch([30, 20], [5, 4])
    encoded = random_states(batch, WIDTH)
    results = []
    for at_once in (4096, 3):
        monkeypatch.setattr(graph, "PAIRS_AT_ONCE", at_once)
        pairs = small(**choices)
        (vectors,) = pairs(encoded, batch)
        vectors.square().sum().backward()
        results.append([vectors, *(parameter.grad for parameter in pairs.parameters())])
    for whole, pieces in zip(*results, strict=True):
        torch.testing.assert_close(pieces, whole, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("attention", [True, False])
def test_paths_of_some_heads_at_a_time_change_nothing(monkeypatch, attention):
    torch.manual_seed(0)
    entities, linked = torch.randn(2, 6, 4), torch.rand(2, 6, 6) < 0.6
    linked = (linked | linked.transpose(1, 2)) & ~torch.eye(6, dtype=torch.bool)
    made = EntityPaths(width=4, edge=3, attention=attention)
    whole = made(entities, linked)
    monkeypatch.setattr(paths, "SCORES_AT_ONCE", 2 * 2 * 6 * 6)  # 2 heads
    for found, expected in zip(made(entities, linked), whole, strict=True):
        torch.testing.assert_close(found, expected)


def test_edges_by_hand():
    # Entity 0: mentions 0 and 1 in sentences 0 and 2. Entity 1: mention 2 in sentence 0. Entity 2: mention 3 in
    # sentence 1.
    batch = replace(
        random_batch([30], [3], mentions=1),
        mention_position=torch.tensor([1, 20, 4, 9]),
        mention_end=torch.tensor([2, 21, 5, 10]),
        mention_sentence=torch.tensor([0, 2, 0, 1]),
        mention_type=torch.tensor([1, 1, 2, 2]),
        mention_slot=torch.arange(4),
        mention_entity=torch.tensor([0, 0, 1, 2]),
        mentions=4,
    )
    same_entity, same_sentence, document = mention_graph(batch)[0].chunk(3, 1)
    expected = torch.zeros(5, 5)
    expected[1, 2] = expected[2, 1] = 1
    assert torch.equal(same_entity, expected)
    expected = torch.zeros(5, 5)
    expected[1, 3] = expected[3, 1] = 1
    assert torch.equal(same_sentence, expected)
    expected = torch.zeros(5, 5)
    expected[0, 1:] = 1 / 4
    expected[1:, 0] = 1
    assert torch.equal(document, expected)
    linked = torch.zeros(3, 3, dtype=torch.bool)
    linked[0, 1] = linked[1, 0] = True
    assert torch.equal(entity_graph(batch)[0], linked)


def test_a_pair_without_a_third_entity_has_no_path():
    made = EntityPaths(width=4, edge=3)
    linked = torch.zeros(1, 3, 3, dtype=torch.bool)
    linked[0, 0, 1] = linked[0, 1, 0] = linked[0, 1, 2] = linked[0, 2, 1] = True
    entities = torch.randn(1, 3, 4, requires_grad=True)
    by_head, by_tail = made(entities, linked)
    with_path = torch.zeros(3, 3, dtype=torch.bool)
    with_path[0, 2] = with_path[2, 0] = True  # over entity 1
    with_path |= torch.eye(3, dtype=torch.bool)  # of an entity with itself; never asked for
    assert by_head[0][~with_path].abs().sum() == by_tail[0][~with_path].abs().sum() == 0
    assert by_head[0, 0, 2].abs().sum() > 0
    (by_head.sum() + by_tail.sum()).backward()
    assert entities.grad.isfinite().all()


def test_entities_beyond_the_table_share_its_last_row():
    batch = random_batch([40], [6])
    encoded = random_states(batch, WIDTH)
    pairs = small(entities=4)
    last = torch.tensor(
        [pairs.mentions(encoded.states, batch)[m, -20:].tolist() for m in range(len(batch.mention_entity))]
    )
    slot = batch.entity_slot[batch.mention_entity]
    table = pairs.mentions.entity_embedding.weight
    assert torch.equal(last.to(table), table[slot.clamp(max=3)])
