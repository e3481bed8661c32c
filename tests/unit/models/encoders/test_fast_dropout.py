"""Fast dropout, of values and of attention: equal to the plain formulas for the same random bytes."""

import pytest
import torch
from tests.reference.batches import random_batch, tiny_model
from torch import nn

from unnoted.models.encoders import fast_dropout
from unnoted.models.encoders.fast_dropout import (
    FastDropout,
    _DropoutAttention,
    additive_mask,
    dropout_attention,
    dropped_bytes,
    kept_share,
    random_bytes,
    use_fast_dropout,
)


def plain_dropout(values, noise, rate):
    return values * (noise >= dropped_bytes(rate)) / kept_share(dropped_bytes(rate))


def plain_attention(query, key, value, bias, noise, scaling, rate):
    weights = (query @ key.mT * scaling + bias).softmax(-1)  # [B, H, T, T]
    return plain_dropout(weights, noise, rate) @ value


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_masks_drop_at_the_rounded_rate_independently(rate):
    torch.manual_seed(0)
    noise = random_bytes(torch.Size([1001, 999]))
    mask = noise >= dropped_bytes(rate)
    kept = kept_share(dropped_bytes(rate))
    assert kept == 1 - round(256 * rate) / 256
    assert mask.double().mean().item() == pytest.approx(kept, abs=5e-3)
    both = (mask[:, 1:] & mask[:, :-1]).double().mean().item()  # neighbours share a random number
    assert both == pytest.approx(kept**2, abs=5e-3)
    torch.manual_seed(0)
    assert torch.equal(noise, random_bytes(noise.shape))


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_values_are_dropped_or_scaled_and_keep_their_mean(rate):
    torch.manual_seed(0)
    values = torch.ones(400, 500, requires_grad=True)
    dropped = FastDropout(rate)(values)
    kept = 1 - round(256 * rate) / 256
    scaled = {torch.tensor(1 / kept).item()} if kept else set()
    assert set(dropped.unique().tolist()) == {0.0} | scaled
    assert dropped.mean().item() == pytest.approx(1.0 if rate < 1 else 0.0, abs=0.01)
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped.detach())


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_it_equals_plain_dropout_by_the_same_bytes(rate):
    values = torch.randn(13, 5, dtype=torch.float64)
    torch.manual_seed(0)
    found = FastDropout(rate)(values)
    torch.manual_seed(0)
    torch.testing.assert_close(found, plain_dropout(values, random_bytes(values.shape), rate))


def test_nothing_is_dropped_outside_training():
    values = torch.randn(5)
    assert torch.equal(FastDropout(0.5).eval()(values), values)
    assert torch.equal(FastDropout(0.0).train()(values), values)


def test_only_dropout_layers_are_replaced():
    model = tiny_model("bert", fast_dropout=False).encoder.model
    model.extra = nn.AlphaDropout(0.2)
    names = list(model.state_dict())
    use_fast_dropout(model)
    assert isinstance(model.embeddings.dropout, FastDropout) and model.embeddings.dropout.p == 0.1
    assert type(model.extra) is nn.AlphaDropout and list(model.state_dict()) == names


def inputs(batch=2, heads=3, tokens=7, width=4):
    torch.manual_seed(0)
    shape = (batch, tokens, heads, width)
    return [torch.randn(shape, dtype=torch.float64).transpose(1, 2).requires_grad_() for _ in "qkv"]


def given_bytes(monkeypatch, keep):
    """Let the function draw what stands for a mask of bools."""
    noise = torch.where(keep, 255, 0).to(torch.uint8)
    monkeypatch.setattr(fast_dropout, "random_bytes", lambda shape: noise)
    return noise


@pytest.mark.parametrize("tile", [1, 2 * 7 * 7, 2**20])
@pytest.mark.parametrize("kind", ["bool", "additive", "none"])
def test_with_a_given_mask_it_equals_plain_attention(kind, tile, monkeypatch):
    monkeypatch.setattr(fast_dropout, "TILE_SIZE", tile)  # one head at a time, two and one, all three
    query, key, value = inputs()
    mask = torch.ones(2, 1, 7, 7, dtype=torch.bool)
    mask[1, :, :, 5:] = False
    given = {"bool": mask, "additive": additive_mask(mask, query), "none": None}[kind]
    torch.manual_seed(1)
    keep = torch.rand(2, 3, 7, 7) > 0.25
    noise = given_bytes(monkeypatch, keep)
    module = torch.nn.Module()
    module.is_causal = False
    found, _ = dropout_attention(module, query, key, value, given, dropout=0.25)
    logits = query @ key.mT / 2
    if given is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
    expected = (logits.softmax(-1) * keep / 0.75 @ value).transpose(1, 2)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    twin = plain_attention(query, key, value, additive_mask(given, query), noise, 0.5, 0.25)
    torch.testing.assert_close(found, twin.transpose(1, 2), rtol=1e-10, atol=1e-12)
    weights = torch.randn_like(expected)
    gradients = [torch.autograd.grad((out * weights).sum(), (query, key, value)) for out in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_gradcheck(monkeypatch):
    given_bytes(monkeypatch, torch.rand(1, 2, 3, 3) > 0.3)
    bias = torch.zeros(1, 1, 1, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda *qkv: _DropoutAttention.apply(*qkv, bias, 0.5, 0.3), inputs(1, 2, 3, 4)
    )


def test_outputs_keep_their_mean():
    query, key, value = (side.detach().expand(2000, -1, -1, -1) for side in inputs(batch=1))
    module = torch.nn.Module()
    torch.manual_seed(0)
    found, _ = dropout_attention(
        module, query, key, value, torch.ones(1, 1, 7, 7, dtype=torch.bool), dropout=0.1
    )
    expected = torch.nn.functional.scaled_dot_product_attention(query[:1], key[:1], value[:1]).transpose(1, 2)
    torch.testing.assert_close(found.mean(0, keepdim=True), expected, rtol=0, atol=0.05)


def test_a_model_with_fast_dropout_scores_the_same_and_trains():
    batch = random_batch([20, 50], [4, 3])
    plain, fast = (tiny_model("bert", fast_dropout=fast) for fast in (False, True))
    torch.testing.assert_close(fast(batch).logits, plain(batch).logits, rtol=1e-10, atol=1e-12)
    fast.train()(batch).logits.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in fast.parameters())
    assert not torch.equal(fast(batch).logits, fast(batch).logits)
