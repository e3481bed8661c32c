"""Fast dropout, of values and of attention: equal to the plain formulas for the same random bytes."""

import pytest
import torch
from tests.reference.batches import ENCODERS, random_batch, tiny_model
from torch import nn
from transformers import AutoModel

from unnoted.models.encoders import fast_dropout
from unnoted.models.encoders.fast_dropout import (
    FastDropout,
    additive_mask,
    dropout_attention,
    dropped_bytes,
    kept_share,
    random_bytes,
    use_fast_dropout,
)


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


def test_nothing_is_dropped_outside_training():
    values = torch.randn(5)
    assert torch.equal(FastDropout(0.5).eval()(values), values)
    assert torch.equal(FastDropout(0.0).train()(values), values)


def test_only_dropout_layers_are_replaced():
    model = AutoModel.from_config(ENCODERS["bert"])
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
    given_bytes(monkeypatch, keep)
    module = torch.nn.Module()
    module.is_causal = False
    found, _ = dropout_attention(module, query, key, value, given, dropout=0.25)
    logits = query @ key.mT / 2
    if given is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
    expected = (logits.softmax(-1) * keep / 0.75 @ value).transpose(1, 2)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    weights = torch.randn_like(expected)
    gradients = [torch.autograd.grad((out * weights).sum(), (query, key, value)) for out in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_bfloat16_stays_near_float32(monkeypatch):
    given_bytes(monkeypatch, torch.rand(2, 3, 40, 40, generator=torch.Generator().manual_seed(1)) > 0.25)
    exact, module, results = (
        [side.detach().float() for side in inputs(tokens=40, width=16)],
        torch.nn.Module(),
        [],
    )
    module.is_causal = False
    for dtype in (torch.float32, torch.bfloat16):
        sides = [side.to(dtype).requires_grad_() for side in exact]
        found, _ = dropout_attention(module, *sides, None, dropout=0.25)
        gradients = torch.autograd.grad((found * torch.linspace(-1, 1, 16).to(dtype)).sum(), sides)
        assert all(each.dtype == dtype for each in (found, *gradients))
        results.append((found, *gradients))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(other.float(), one, rtol=0, atol=0.02 * float(one.abs().max()))


def test_a_model_with_fast_dropout_trains():
    batch = random_batch([20, 50], [4, 3])
    fast = tiny_model("bert")
    fast.train()(batch).logits.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in fast.parameters())
    assert not torch.equal(fast(batch).logits, fast(batch).logits)
