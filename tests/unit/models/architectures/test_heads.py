"""Heads against plain products: values and gradients, in every precision."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.atlop import bilinear_weight

from unnoted.models.architectures import heads
from unnoted.models.architectures.heads import GroupedBilinear, LinearHead, select_class_weights


def inputs(pairs, embedding, dtype=torch.float64):
    generator = torch.Generator().manual_seed(pairs)
    return [torch.randn(pairs, embedding, generator=generator, dtype=dtype).requires_grad_() for _ in "ht"]


def plain(bilinear, head, tail):
    head, tail = (side.view(len(side), len(bilinear.weight), bilinear.block_size) for side in (head, tail))
    outer = (head.unsqueeze(3) * tail.unsqueeze(2)).flatten(1)
    return outer @ bilinear_weight(bilinear.weight).t() + bilinear.bias


def gradients(logits, *tensors):
    weights = torch.linspace(-1, 1, logits.numel(), dtype=logits.dtype).view_as(logits)
    return torch.autograd.grad((logits * weights).sum(), tensors)


@settings(max_examples=25, deadline=None)
@given(pairs=st.integers(0, 9), blocks=st.integers(1, 3), block=st.integers(1, 5), classes=st.integers(1, 6))
def test_logits_and_gradients_equal_one_whole_product(pairs, blocks, block, classes):
    bilinear = GroupedBilinear(blocks * block, classes, block).double()
    head, tail = inputs(pairs, blocks * block)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "PAIRS_AT_ONCE", {"cpu": 4})
        found = bilinear(head, tail)
        found_gradients = gradients(found, head, tail, bilinear.weight, bilinear.bias)
    expected = plain(bilinear, head, tail)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    expected_gradients = gradients(expected, head, tail, bilinear.weight, bilinear.bias)
    for one, other in zip(found_gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_without_a_bias_nothing_is_added():
    bilinear = GroupedBilinear(6, 3, 3, bias=False).double()
    assert [name for name, _ in bilinear.named_parameters()] == ["weight"]
    head, tail = inputs(5, 6)
    biased = GroupedBilinear(6, 3, 3).double()
    biased.load_state_dict({"weight": bilinear.weight, "bias": torch.zeros(3)})
    torch.testing.assert_close(bilinear(head, tail), plain(biased, head, tail), rtol=1e-10, atol=1e-12)
    assert bilinear(torch.zeros_like(head), tail).eq(0).all()


@pytest.mark.parametrize("autocast", [True, False])
def test_half_precision_gives_float32_logits_near_the_exact_ones(autocast):
    bilinear = GroupedBilinear(64, 5, 16)
    head, tail = inputs(7, 64, torch.float32)
    expected = bilinear(head, tail)
    exact = gradients(expected, head, tail, bilinear.weight)
    # Without oneDNN: on some virtual machines its bfloat16 kernels use instructions that are not there.
    with torch.backends.mkldnn.flags(enabled=False), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        if not autocast:
            bilinear.bfloat16()
        found = bilinear(head, tail) if autocast else bilinear(head.bfloat16(), tail.bfloat16())
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)
        found_gradients = gradients(found, head, tail, bilinear.weight)
    for one, other in zip(found_gradients, exact, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=0, atol=0.02 * float(other.abs().max()))


def test_a_frozen_weight_still_passes_gradients_on():
    bilinear = GroupedBilinear(8, 2, 4).double()
    bilinear.requires_grad_(False)
    head, tail = inputs(3, 8)
    bilinear(head, tail).sum().backward()
    assert head.grad is not None and tail.grad is not None


def test_an_embedding_that_is_no_multiple_of_the_block_is_refused():
    with pytest.raises(ValueError, match="blocks"):
        GroupedBilinear(10, 2, 4)


@pytest.mark.parametrize("bias", [True, False])
def test_logits_of_some_classes_are_those_of_all(monkeypatch, bias):
    bilinear, classes = GroupedBilinear(8, 6, 4, bias=bias).double(), torch.tensor([0, 4, 2])
    head, tail = (side.detach() for side in inputs(7, 8))
    weights = select_class_weights(bilinear.weight, classes)
    for at_once in (2**18, 12):
        monkeypatch.setattr(heads, "NARROW_AT_ONCE", at_once)
        found = bilinear.logits_of_classes(head, tail, weights, classes)
        torch.testing.assert_close(found, bilinear(head, tail)[:, classes], rtol=1e-10, atol=1e-12)


def test_logits_are_a_linear_layer_in_full_precision():
    torch.manual_seed(0)
    head = LinearHead(8, 3)
    vectors = torch.randn(5, 8)
    expected = vectors @ head.layer.weight.t() + head.layer.bias
    torch.testing.assert_close(head(vectors), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(head(vectors), expected)
    assert head.to(torch.bfloat16)(vectors.bfloat16()).dtype == torch.float32
    assert head.double()(vectors.double()).dtype == torch.float64
