"""What every architecture promises: one document alone or in a batch, few pairs or many, gradients, half precision."""

import copy
from typing import Annotated

import pytest
import torch
from pydantic import Field
from tests.reference.batches import random_batch
from tests.reference.encoded import only, random_encoded, some_pairs
from torch import nn

from unnoted.models.architectures import (
    ARCHITECTURES,
    DocuNetPairEncoder,
    LinearHead,
    ModelSizes,
    PairEncoder,
    atlop,
    base,
    bran,
    docunet,
    gain,
    kd_docre,
    pair_logits,
    register_architecture,
)

WIDTH, CLASSES = 8, 4
EVERY = sorted(ARCHITECTURES)


class Model(nn.Module):
    """A pair encoder and a head, in the state of a trained model."""

    def __init__(self, name):
        super().__init__()
        torch.manual_seed(0)
        sizes = ModelSizes(hidden_size=WIDTH, pair_dim=8, block_size=4, num_labels=CLASSES, entity_types=4)
        if name == "docunet":  # as published, 256 wide, it would take minutes
            self.pair_encoder = DocuNetPairEncoder(WIDTH, 8, unet_width=16, unet_output=5)
            self.head = base.ARCHITECTURES[name].build(sizes)[1]
        else:
            self.pair_encoder, self.head = ARCHITECTURES[name].build(sizes)
        with torch.no_grad():
            for norm in self.modules():
                if isinstance(norm, docunet.MaskedBatchNorm):
                    norm.running_mean.uniform_(-0.2, 0.2)
                    norm.running_variance.uniform_(0.1, 0.3)

    def forward(self, encoded, batch):
        return pair_logits(self.pair_encoder, self.head, encoded, batch)[0]


@pytest.fixture(params=EVERY)
def model(request):
    return Model(request.param).eval()


@pytest.fixture
def batch():
    return random_batch([24, 6, 9, 40, 30, 12], [4, 0, 1, 2, 7, 3], seed=3)


def test_a_documents_logits_do_not_depend_on_the_others(model, batch):
    encoded = random_encoded(batch, WIDTH, dtype=torch.float32)
    whole = model(encoded, batch)
    assert whole.shape == (batch.pairs, CLASSES) and whole.isfinite().all() and whole.std(0).min() > 1e-4
    assert torch.equal(model(encoded, batch), whole)  # nothing is dropped
    for document in range(len(batch.lengths)):
        *inputs, rows = only(encoded, batch, document)
        torch.testing.assert_close(model(*inputs), whole[rows], rtol=0, atol=1e-5)


def test_a_pair_has_the_same_logits_among_few_and_among_many(model, batch):
    encoded, rows = random_encoded(batch, WIDTH, dtype=torch.float32), torch.arange(1, batch.pairs, 3).flip(0)
    few = model(encoded, some_pairs(batch, rows))
    torch.testing.assert_close(few, model(encoded, batch)[rows], rtol=0, atol=1e-5)


@pytest.mark.parametrize("training", [False, True])
def test_gradients_reach_all_parameters_and_the_tokens_of_mentions(model, batch, training):
    model.double().train(training)
    encoded = random_encoded(batch, WIDTH)
    encoded.states.requires_grad_()
    logits = model(encoded, batch)
    (logits * torch.randn(logits.shape, dtype=logits.dtype)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        # What batch normalisation subtracts with the mean of its channel can have no gradient.
        shifted = training and "unet" in name and name.endswith(("first.bias", "second.bias"))
        assert (parameter.grad.abs().max() < 1e-6) == shifted, name
    gradient, related = encoded.states.grad, batch.span_document != 2  # that document has one entity only
    places = batch.span_document[related], batch.span_token[related]
    if ARCHITECTURES["bilstm"].attention or isinstance(model.pair_encoder, atlop.ATLOPPairEncoder):
        places = batch.mention_document, batch.mention_position
    assert gradient.isfinite().all() and gradient[places].abs().sum() > 0
    assert not gradient.masked_select(batch.attention_mask.unsqueeze(2) == 0).any()


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("entities", [[0], [1], [0, 1, 0]])
def test_documents_without_pairs_have_no_logits(model, entities, training):
    batch = random_batch([9] * len(entities), entities)
    logits = model.train(training)(random_encoded(batch, WIDTH, dtype=torch.float32), batch)
    assert logits.shape == (0, CLASSES) and logits.dtype == torch.float32
    logits.sum().backward()
    assert all(buffer.isfinite().all() for buffer in model.buffers())


def test_very_many_entities(model):
    batch = random_batch([300, 20], [90, 9], mentions=2, pair_rate=0.1)
    encoded = random_encoded(batch, WIDTH, dtype=torch.float32)
    with torch.no_grad():
        whole = model(encoded, batch)
        *inputs, rows = only(encoded, batch, 1)
        assert whole.isfinite().all() and len(rows) > 0
        torch.testing.assert_close(model(*inputs), whole[rows], rtol=0, atol=1e-5)


LIMITS = [
    (atlop, "PRODUCTS_AT_ONCE"),
    (kd_docre, "CELLS_KEPT"),
    (gain, "WEIGHTS_AT_ONCE"),
    (bran, "SCORES_AT_ONCE"),
    (PairEncoder, "pairs_at_once"),
    (gain.GAINPairEncoder, "pairs_at_once"),
]
"""What decides how much is held at a time."""


@pytest.mark.parametrize("limit", [1, 7, 200])
def test_small_chunks_change_neither_logits_nor_gradients(monkeypatch, model, limit):
    batch = random_batch([50, 13], [5, 3])
    encoded, model = random_encoded(batch, WIDTH), model.double()

    def logits_and_gradients():
        logits = model(encoded, batch)
        return logits, *torch.autograd.grad(logits.square().sum(), list(model.parameters()))

    expected = logits_and_gradients()
    for owner, name in LIMITS:
        monkeypatch.setattr(owner, name, limit)
    for one, other in zip(logits_and_gradients(), expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(model, batch, dtype):
    encoded = random_encoded(batch, WIDTH, dtype=torch.float32)
    expected = model(encoded, batch)
    # Without oneDNN: on some virtual machines its bfloat16 kernels use instructions that are not there.
    with torch.backends.mkldnn.flags(enabled=False):
        with torch.autocast("cpu", dtype=dtype):
            found = model(encoded, batch)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=0.1, atol=0.1)
        if not any(isinstance(part, nn.Conv2d) for part in model.modules()):
            half = encoded._replace(states=encoded.states.to(dtype))
            if not isinstance(model.pair_encoder, atlop.ATLOPPairEncoder | kd_docre.AxialPairEncoder):
                found = copy.deepcopy(model).to(dtype)(half, batch)
                assert found.dtype == torch.float32
                torch.testing.assert_close(found, expected, rtol=0.1, atol=0.1)


def test_a_registered_architecture_brings_its_own_settings(monkeypatch):
    monkeypatch.setattr(base, "_ARCHITECTURES", registered := dict(base._ARCHITECTURES))

    @register_architecture("product", attention=False)
    def product(
        sizes: ModelSizes, dropout: Annotated[float, Field(ge=0, lt=1)] = 0.5
    ) -> tuple[nn.Module, nn.Module]:
        return nn.Dropout(dropout), LinearHead(sizes.pair_dim, sizes.num_labels)

    made = registered["product"]
    assert not made.attention and not made.cosines and set(made.options.model_fields) == {"dropout"}
    assert made.build(ModelSizes(8, 8, 4, 3), **dict(made.options.checked({"dropout": 0.1})))[0].p == 0.1
    with pytest.raises(ValueError, match="dropout"):
        made.options.checked({"dropout": 1})
    with pytest.raises(ValueError, match="atlop"):
        register_architecture("atlop")(product)
