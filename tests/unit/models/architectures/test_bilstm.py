"""The pair encoder of DocRED's BiLSTM against plain loops."""

import math

import torch
from tests.reference.batches import random_batch
from tests.reference.docred_bilstm import plain_entity_pairs
from tests.reference.encoded import only, random_encoded

from unnoted.models.architectures.bilstm import DistancePairEncoder, distance_bucket

WIDTH = 5


def small():
    torch.manual_seed(0)
    return DistancePairEncoder(WIDTH, 6, distance_dim=4).double()


def test_embeddings_and_their_gradients_equal_plain_loops():
    batch, results = random_batch([300, 12, 20], [5, 2, 4], pair_rate=0.7), []
    for plain in (False, True):
        encoded, module = random_encoded(batch, WIDTH), small()
        encoded.states.requires_grad_()
        parts = [only(encoded, batch, document) for document in range(3)]
        if plain:
            made = [plain_entity_pairs(module, alone.states, one) for alone, one, _ in parts]
            found = torch.stack([torch.cat(pair) for document in made for pair in document])
        else:
            found = torch.cat(module(encoded, batch), 1)[torch.cat([rows for *_, rows in parts])]
        (found * torch.linspace(-1, 1, found.numel()).view_as(found)).sum().backward()
        results.append([found, encoded.states.grad, *(weight.grad for weight in module.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_every_distance_has_its_bucket():
    distances = torch.arange(-600, 601)
    expected = [
        0 if d == 0 else int(math.copysign(min(9, 1 + math.floor(math.log2(abs(d)))), d))
        for d in distances.tolist()
    ]
    assert distance_bucket(distances).tolist() == expected
