"""BRAN against plain loops: values, gradients, and logits of any size."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.biaffine import plain_biaffine_scores
from tests.reference.encoded import random_encoded

from unnoted.models.architectures.bran import BiaffineHead, MentionPairEncoder

WIDTH = 5


def small(dtype=torch.float64):
    torch.manual_seed(0)
    pairs, head_layer = MentionPairEncoder(WIDTH, 4).to(dtype), BiaffineHead(4, 3).to(dtype)
    with torch.no_grad():  # the classes start alike
        head_layer.weight.normal_()
    return pairs, head_layer


def test_logits_equal_plain_loops():
    batch = random_batch([30, 12, 6, 40, 9], [5, 2, 0, 4, 1], mentions=4, pair_rate=0.7)
    encoded = random_encoded(batch, WIDTH)
    pairs, head_layer = small()
    expected = plain_biaffine_scores(pairs, head_layer, encoded, batch)
    torch.testing.assert_close(head_layer(*pairs(encoded, batch)), expected, rtol=1e-10, atol=1e-12)


def test_the_gradient_equals_that_of_plain_loops():
    batch = random_batch([30, 12], [4, 2], mentions=4, pair_rate=0.7)
    results = []
    for score in (lambda p, s, e: s(*p(e, batch)), lambda p, s, e: plain_biaffine_scores(p, s, e, batch)):
        encoded = random_encoded(batch, WIDTH)
        encoded.states.requires_grad_()
        pairs, head_layer = small()
        score(pairs, head_layer, encoded).square().sum().backward()
        parameters = [*pairs.parameters(), *head_layer.parameters()]
        results.append([encoded.states.grad, *(parameter.grad for parameter in parameters)])
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("size", [1e4, 1e15])
def test_no_score_is_too_large(size):
    batch = random_batch([30, 12], [5, 2], mentions=4)
    encoded = random_encoded(batch, WIDTH, dtype=torch.float32)
    pairs, head_layer = small(torch.float32)
    given = pairs(encoded, batch)
    given = given._replace(head=(given.head * size).detach().requires_grad_())
    logits = head_layer(*given)
    assert logits.abs().max() > size / 100
    assert logits.isfinite().all()
    # It lies between the largest of the mentions' logits and that plus the logarithm of how many there are.
    projected = torch.einsum("dle,ekf->dlkf", given.head, head_layer.weight)
    every = torch.einsum("dlkf,dmf->dlmk", projected, given.tail)
    for row, head, tail in zip(logits, batch.head.tolist(), batch.tail.tolist(), strict=True):
        document = int(batch.entity_document[head])
        heads, tails = (batch.span_slot[batch.span_entity == entity] for entity in (head, tail))
        largest = every[document][heads][:, tails].flatten(0, 1).amax(0)
        torch.testing.assert_close(row, largest, rtol=1e-4, atol=5)
    logits.sum().backward()
    assert given.head.grad.isfinite().all()
    assert head_layer.weight.grad.isfinite().all()


def test_all_classes_start_from_one_orthogonal_matrix():
    weight = BiaffineHead(6, 4).weight
    assert torch.equal(weight, weight[:, :1].expand_as(weight))
    torch.testing.assert_close(weight[:, 0] @ weight[:, 0].t(), torch.eye(6))
