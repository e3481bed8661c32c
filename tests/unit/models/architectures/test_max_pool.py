"""The pair encoder of the ChemDisGene paper's PubMedBERT against plain loops."""

import torch
from tests.reference.batches import random_batch
from tests.reference.encoded import random_encoded, tokens_of

from unnoted.models.architectures.max_pool import MaxPoolPairEncoder


def test_vectors_equal_plain_loops():
    torch.manual_seed(0)
    batch = random_batch([30, 12, 20], [5, 2, 4], pair_rate=0.7)
    encoded, module = random_encoded(batch, 5), MaxPoolPairEncoder(5, 6).double().eval()
    (found,) = module(encoded, batch)
    entities = []
    for entity, document in enumerate(batch.entity_document.tolist()):
        states = [encoded.states[document, place] for place in tokens_of(batch, entity)]
        entities.append(torch.tensor([max(column) for column in zip(*states, strict=True)]))
    for row, head, tail in zip(found, batch.head.tolist(), batch.tail.tolist(), strict=True):
        expected = torch.relu(module.projection(torch.cat([entities[head], entities[tail]])))
        torch.testing.assert_close(row, expected)
