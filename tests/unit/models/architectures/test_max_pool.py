import pytest
import torch
from tests.reference.alone import random_states, tokens_of
from tests.reference.batches import random_batch

from unnoted.models.architectures.max_pool import MaxPool
from unnoted.models.kernels.segments import segment_max


@pytest.mark.parametrize("which", ["all", "first"])
def test_vectors_equal_plain_loops(which):
    torch.manual_seed(0)
    batch = random_batch([30, 12, 20], [5, 2, 4], pair_rate=0.7)
    encoded = random_states(batch, 5)
    pairs = MaxPool(5, 6, mention_tokens=which).double().eval()
    (found,) = pairs(encoded, batch)
    entities = []
    for entity, document in enumerate(batch.entity_document.tolist()):
        states = [encoded.states[document, place] for place in tokens_of(batch, entity, which)]
        entities.append(torch.tensor([max(column) for column in zip(*states, strict=True)]))
    for row, head, tail in zip(found, batch.head.tolist(), batch.tail.tolist(), strict=True):
        expected = torch.relu(pairs.projection(torch.cat([entities[head], entities[tail]])))
        torch.testing.assert_close(row, expected)


def test_all_tokens_are_as_published():
    assert MaxPool(5, 6).mention_tokens == "all"


def test_the_gradient_goes_to_the_largest_and_is_shared_by_equals():
    values = torch.tensor([[1.0, 5.0], [2.0, 5.0], [0.0, -1.0]], requires_grad=True)
    segment_max(values, torch.tensor([0, 0, 1]), 2).sum().backward()
    assert values.grad.tolist() == [[0.0, 0.5], [1.0, 0.5], [1.0, 1.0]]
