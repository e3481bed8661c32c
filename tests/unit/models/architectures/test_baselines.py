"""What every pair representation with its scorer promises, for those of the baselines."""

import copy
from dataclasses import replace

import pytest
import torch
from tests.reference.alone import alone, random_states
from tests.reference.batches import random_batch
from torch import nn

from unnoted.models.architectures.entity_pairs import EntityPairs
from unnoted.models.architectures.graph import GraphPairs
from unnoted.models.architectures.max_pool import MaxPool
from unnoted.models.architectures.mention_pairs import MentionPairs
from unnoted.models.scores.biaffine import BiAffine
from unnoted.models.scores.grouped_bilinear import GroupedBilinear
from unnoted.models.scores.linear import LinearScores

CLASSES = 4
WIDTH = 8


class Scored(nn.Module):
    def __init__(self, pairs, scores):
        super().__init__()
        self.pairs, self.scores = pairs, scores

    def forward(self, encoded, batch):
        return self.scores(*self.pairs(encoded, batch))


def gain():
    return Scored(GraphPairs(WIDTH, 6, types=4, entities=5), LinearScores(6, CLASSES))


def gain_program():
    choices = {"last_layer_edges": True, "path_attention": False, "path_layer": True}
    return Scored(GraphPairs(WIDTH, 6, types=4, entities=5, **choices), LinearScores(6, CLASSES))


def bilstm(before=True):
    pairs = EntityPairs(WIDTH, 6, distance_size=4, layer_before_means=before)
    return Scored(pairs, GroupedBilinear(pairs.pair_width, CLASSES, block=pairs.pair_width))


def earlier_bilstm():
    return bilstm(before=False)


def max_pool():
    return Scored(MaxPool(WIDTH, 6), LinearScores(6, CLASSES))


def bran():
    return Scored(MentionPairs(WIDTH, 6), BiAffine(6, CLASSES))


def max_pool_of_first_tokens():
    return Scored(MaxPool(WIDTH, 6, mention_tokens="first"), LinearScores(6, CLASSES))


def bran_of_first_tokens():
    return Scored(MentionPairs(WIDTH, 6, mention_tokens="first"), BiAffine(6, CLASSES))


EVERY = [
    gain,
    gain_program,
    bilstm,
    earlier_bilstm,
    max_pool,
    bran,
    max_pool_of_first_tokens,
    bran_of_first_tokens,
]


@pytest.fixture(params=EVERY, ids=lambda make: make.__name__)
def model(request):
    torch.manual_seed(0)
    return request.param().eval()


@pytest.fixture
def batch():
    return random_batch([24, 6, 9, 40, 30, 12], [4, 0, 1, 2, 7, 3], seed=3)


def test_a_document_s_scores_do_not_depend_on_the_others(model, batch):
    encoded = random_states(batch, WIDTH, dtype=torch.float32)
    whole = model(encoded, batch)
    assert whole.shape == (batch.pairs, CLASSES)
    assert whole.isfinite().all()
    assert whole.std(0).min() > 1e-3
    for document in range(len(batch.lengths)):
        *inputs, rows = alone(encoded, batch, document)
        torch.testing.assert_close(model(*inputs), whole[rows], rtol=0, atol=1e-5)


def test_candidates_are_scored_alike_among_few_and_among_many(model, batch):
    encoded = random_states(batch, WIDTH, dtype=torch.float32)
    rows = torch.arange(1, batch.pairs, 3).flip(0)
    names = ("head", "tail", "pair_document", "pair_weight")
    some = replace(batch, **{name: getattr(batch, name)[rows] for name in names})
    torch.testing.assert_close(model(encoded, some), model(encoded, batch)[rows], rtol=0, atol=1e-5)


def test_the_gradient_reaches_all_parameters_and_the_tokens_of_mentions(model, batch):
    model.double()
    encoded = random_states(batch, WIDTH)
    encoded.states.requires_grad_()
    scores = model(encoded, batch)
    (scores * torch.randn(scores.shape, dtype=scores.dtype)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name
    gradient = encoded.states.grad
    assert gradient.isfinite().all()
    related = batch.mention_document != 2  # that document has one entity only
    places = batch.mention_document[related], batch.mention_position[related]
    if getattr(model.pairs, "mention_tokens", "first") == "all":
        places = batch.span_document[batch.span_document != 2], batch.span_token[batch.span_document != 2]
    # Of a maximum, a mention may have no share.
    assert (gradient[places].abs().sum(1) > 0).float().mean() > 0.6
    assert not gradient.masked_select(batch.attention_mask.unsqueeze(2) == 0).any()


@pytest.mark.parametrize("entities", [[0], [1], [0, 1, 0]])
def test_documents_without_pairs_have_no_scores(model, entities):
    batch = random_batch([9] * len(entities), entities)
    scores = model(random_states(batch, WIDTH, dtype=torch.float32), batch)
    assert scores.shape == (0, CLASSES)
    assert scores.dtype == torch.float32
    scores.sum().backward()


@pytest.fixture(scope="module")
def large_batch():
    return random_batch([700, 20], [150, 9], mentions=2, pair_rate=0.1)


def test_very_many_entities(model, large_batch):
    encoded = random_states(large_batch, WIDTH, dtype=torch.float32)
    with torch.no_grad():
        whole = model(encoded, large_batch)
    assert whole.isfinite().all()
    *inputs, rows = alone(encoded, large_batch, 1)
    assert len(rows) > 0
    torch.testing.assert_close(model(*inputs), whole[rows], rtol=0, atol=1e-5)


def test_without_training_nothing_is_dropped(model, batch):
    encoded = random_states(batch, WIDTH, dtype=torch.float32)
    assert torch.equal(model(encoded, batch), model(encoded, batch))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(model, batch, dtype):
    encoded = random_states(batch, WIDTH, dtype=torch.float32)
    expected = model(encoded, batch)
    # Without oneDNN: on some virtual machines its bfloat16 kernels use instructions that are not there.
    with torch.autocast("cpu", dtype=dtype), torch.backends.mkldnn.flags(enabled=False):
        found = model(encoded, batch)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0.1, atol=0.1)
    with torch.backends.mkldnn.flags(enabled=False):
        found = copy.deepcopy(model).to(dtype)(encoded._replace(states=encoded.states.to(dtype)), batch)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0.1, atol=0.1)
