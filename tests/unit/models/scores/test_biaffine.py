import pytest
import torch
from tests.reference.alone import random_states
from tests.reference.batches import random_batch
from tests.reference.biaffine import plain_biaffine_scores

from unnoted.models.architectures.mention_pairs import MentionPairs
from unnoted.models.scores import biaffine
from unnoted.models.scores.biaffine import BiAffine

WIDTH = 5
each = pytest.mark.parametrize("which", ["all", "first"])


def small(dtype=torch.float64, which="all"):
    torch.manual_seed(0)
    pairs, scorer = MentionPairs(WIDTH, 4, mention_tokens=which).to(dtype), BiAffine(4, 3).to(dtype)
    with torch.no_grad():  # the classes start alike
        scorer.weight.normal_()
    return pairs, scorer


@each
def test_scores_equal_plain_loops(which):
    batch = random_batch([30, 12, 6, 40, 9], [5, 2, 0, 4, 1], mentions=4, pair_rate=0.7)
    encoded = random_states(batch, WIDTH)
    pairs, scorer = small(which=which)
    expected = plain_biaffine_scores(pairs, scorer, encoded, batch, which)
    torch.testing.assert_close(scorer(*pairs(encoded, batch)), expected, rtol=1e-10, atol=1e-12)


@each
def test_the_gradient_equals_that_of_plain_loops(which):
    batch = random_batch([30, 12], [4, 2], mentions=4, pair_rate=0.7)
    results = []
    for score in (
        lambda p, s, e: s(*p(e, batch)),
        lambda p, s, e: plain_biaffine_scores(p, s, e, batch, which),
    ):
        encoded = random_states(batch, WIDTH)
        encoded.states.requires_grad_()
        pairs, scorer = small(which=which)
        score(pairs, scorer, encoded).square().sum().backward()
        parameters = [*pairs.parameters(), *scorer.parameters()]
        results.append([encoded.states.grad, *(parameter.grad for parameter in parameters)])
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


def test_classes_in_pieces_change_nothing(monkeypatch):
    batch = random_batch([30, 12], [5, 2], mentions=4)
    results = []
    for at_once in (2**24, 2 * 2 * batch.mentions**2, 1):
        monkeypatch.setattr(biaffine, "SCORES_AT_ONCE", at_once)
        pairs, scorer = small()
        scores = scorer(*pairs(random_states(batch, WIDTH), batch))
        scores.square().sum().backward()
        parameters = [*pairs.parameters(), *scorer.parameters()]
        results.append([scores, *(parameter.grad for parameter in parameters)])
    for pieces in results[1:]:
        for one, other in zip(pieces, results[0], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("size", [1e4, 1e15])
def test_no_score_is_too_large(size):
    batch = random_batch([30, 12], [5, 2], mentions=4)
    encoded = random_states(batch, WIDTH, dtype=torch.float32)
    pairs, scorer = small(torch.float32, "first")
    given = pairs(encoded, batch)
    given = given._replace(head=(given.head * size).detach().requires_grad_())
    scores = scorer(*given)
    assert scores.abs().max() > size / 100
    assert scores.isfinite().all()
    # It lies between the largest of the mentions' scores and that plus the logarithm of how many there are.
    projected = torch.einsum("dle,ekf->dlkf", given.head, scorer.weight)
    every = torch.einsum("dlkf,dmf->dlmk", projected, given.tail)
    for row, head, tail in zip(scores, batch.head.tolist(), batch.tail.tolist(), strict=True):
        document = int(batch.entity_document[head])
        heads, tails = (batch.mention_slot[batch.mention_entity == entity] for entity in (head, tail))
        largest = every[document][heads][:, tails].flatten(0, 1).amax(0)
        torch.testing.assert_close(row, largest, rtol=1e-4, atol=2.8)
    scores.sum().backward()
    assert given.head.grad.isfinite().all()
    assert scorer.weight.grad.isfinite().all()


def test_equal_mentions_add_the_logarithm_of_their_pairs():
    head, tail = torch.ones(1, 5, 2), torch.ones(1, 5, 2)
    scorer = BiAffine(2, 3)
    entity = torch.tensor([0, 0, 1, 1, 1])
    cells = torch.tensor([1, 2])  # (0, 1) and (1, 0)
    scores = scorer(head, tail, torch.arange(5), entity, torch.tensor([[0, 1], [0, 1]]), cells)
    expected = scorer.weight.sum((0, 2)) + torch.tensor(6.0).log()
    torch.testing.assert_close(scores, expected.expand(2, 3))


def test_all_classes_start_from_one_orthogonal_matrix():
    weight = BiAffine(6, 4).weight
    assert torch.equal(weight, weight[:, :1].expand_as(weight))
    torch.testing.assert_close(weight[:, 0] @ weight[:, 0].t(), torch.eye(6))
