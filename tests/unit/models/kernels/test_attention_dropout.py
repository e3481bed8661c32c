import pytest
import torch
from tests.reference.batches import random_batch, tiny_model

from unnoted.models.kernels import attention_dropout
from unnoted.models.kernels.attention_dropout import (
    _DropoutAttention,
    additive_mask,
    dropout_attention,
    plain_dropout_attention,
)


def inputs(batch=2, heads=3, tokens=7, width=4):
    torch.manual_seed(0)
    shape = (batch, tokens, heads, width)
    return [torch.randn(shape, dtype=torch.float64).transpose(1, 2).requires_grad_() for _ in "qkv"]


def given_bytes(monkeypatch, keep):
    """Let the function draw what stands for a mask of bools."""
    noise = torch.where(keep, 255, 0).to(torch.uint8)
    monkeypatch.setattr(attention_dropout, "random_bytes", lambda shape: noise)
    return noise


@pytest.mark.parametrize("tile", [1, 2 * 7 * 7, 2**20])
@pytest.mark.parametrize("kind", ["bool", "additive", "none"])
def test_with_a_given_mask_it_equals_plain_attention(kind, tile, monkeypatch):
    monkeypatch.setattr(attention_dropout, "TILE", tile)  # one head at a time, two and one, all three
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
    twin = plain_dropout_attention(query, key, value, additive_mask(given, query), noise, 0.5, 0.25)
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
    torch.testing.assert_close(fast(batch), plain(batch), rtol=1e-10, atol=1e-12)
    fast.train()(batch).square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in fast.parameters())
    assert not torch.equal(fast(batch), fast(batch))
