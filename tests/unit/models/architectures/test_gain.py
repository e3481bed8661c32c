"""GAIN against plain loops, and its graphs by hand."""

from dataclasses import replace

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.encoded import only, random_encoded
from tests.reference.graph import plain_graph_pairs

from unnoted.models.architectures import gain
from unnoted.models.architectures.gain import GAINPairEncoder, entity_graph, mention_graph

WIDTH = 5


def small(layers=2):
    torch.manual_seed(0)
    return GAINPairEncoder(WIDTH, 7, entity_types=4, layers=layers).double().eval()


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_vectors_and_their_gradients_equal_plain_loops(layers):
    batch, results = random_batch([30, 12, 40], [7, 3, 4], seed=layers, pair_rate=0.7), []
    for plain in (False, True):
        encoded, module = random_encoded(batch, WIDTH), small(layers)
        encoded.states.requires_grad_()
        parts = [only(encoded, batch, document) for document in range(3)]
        if plain:
            found = torch.cat([torch.stack(plain_graph_pairs(module, alone, one)) for alone, one, _ in parts])
        else:
            found = module(encoded, batch)[0][torch.cat([rows for *_, rows in parts])]
        (found * torch.linspace(-1, 1, found.numel()).view_as(found)).sum().backward()
        results.append([found, encoded.states.grad, *(weight.grad for weight in module.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


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
    same_entity, same_sentence, document = torch.cat(list(mention_graph(batch)), 1)[0].chunk(3, 1)
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


def test_entities_beyond_the_table_share_its_last_row(monkeypatch):
    monkeypatch.setattr(gain, "EMBEDDED_ENTITIES", 4)
    batch = random_batch([40], [6])
    module = small()
    found = module.embed_mentions(random_encoded(batch, WIDTH).states, batch)[:, -20:]
    slot = batch.entity_slot[batch.mention_entity]
    assert torch.equal(found, module.entity_embedding.weight[slot.clamp(max=3)])
