import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.atlop import bilinear_weight

from unnoted.models.scores import grouped_bilinear
from unnoted.models.scores.grouped_bilinear import GroupedBilinear


def inputs(pairs, embedding, dtype=torch.float64):
    generator = torch.Generator().manual_seed(pairs)
    return [torch.randn(pairs, embedding, generator=generator, dtype=dtype).requires_grad_() for _ in "ht"]


def plain(bilinear, head, tail):
    head, tail = (side.view(len(side), len(bilinear.weight), bilinear.block) for side in (head, tail))
    outer = (head.unsqueeze(3) * tail.unsqueeze(2)).flatten(1)
    return outer @ bilinear_weight(bilinear.weight).t() + bilinear.bias


def gradients(scores, *tensors):
    weights = torch.linspace(-1, 1, scores.numel(), dtype=scores.dtype).view_as(scores)
    return torch.autograd.grad((scores * weights).sum(), tensors)


@settings(max_examples=25, deadline=None)
@given(pairs=st.integers(0, 9), blocks=st.integers(1, 3), block=st.integers(1, 5), classes=st.integers(1, 6))
def test_scores_and_gradients_equal_one_whole_product(pairs, blocks, block, classes):
    bilinear = GroupedBilinear(blocks * block, classes, block).double()
    head, tail = inputs(pairs, blocks * block)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped_bilinear, "PAIRS_AT_ONCE", {"cpu": 4})
        found = bilinear(head, tail)
        found_gradients = gradients(found, head, tail, bilinear.weight, bilinear.bias)
    expected = plain(bilinear, head, tail)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    expected_gradients = gradients(expected, head, tail, bilinear.weight, bilinear.bias)
    for one, other in zip(found_gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_gradcheck(monkeypatch):
    monkeypatch.setattr(grouped_bilinear, "PAIRS_AT_ONCE", {"cpu": 2})
    bilinear = GroupedBilinear(6, 3, 3).double()

    def scores(head, tail, weight, bias):
        return torch.func.functional_call(bilinear, {"weight": weight, "bias": bias}, (head, tail))

    assert torch.autograd.gradcheck(scores, (*inputs(5, 6), bilinear.weight, bilinear.bias))


def test_without_a_bias_nothing_is_added():
    bilinear = GroupedBilinear(6, 3, 3, bias=False).double()
    assert [name for name, _ in bilinear.named_parameters()] == ["weight"]
    head, tail = inputs(5, 6)
    biased = GroupedBilinear(6, 3, 3).double()
    biased.load_state_dict({"weight": bilinear.weight, "bias": torch.zeros(3)})
    torch.testing.assert_close(bilinear(head, tail), plain(biased, head, tail), rtol=1e-10, atol=1e-12)
    assert bilinear(torch.zeros_like(head), tail).eq(0).all()


def test_float32_at_the_published_size():
    bilinear = GroupedBilinear(768, 97)
    head, tail = (side.tanh() for side in inputs(40, 768, torch.float32))
    found, expected = bilinear(head, tail), plain(bilinear, head, tail)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("autocast", [True, False])
def test_half_precision_gives_float32_scores_near_the_exact_ones(autocast):
    bilinear = GroupedBilinear(64, 5, 16)
    head, tail = inputs(7, 64, torch.float32)
    expected = bilinear(head, tail)
    # Without oneDNN: on some virtual machines its bfloat16 kernels use instructions that are not there.
    with torch.backends.mkldnn.flags(enabled=False), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        if not autocast:
            bilinear.bfloat16()
        found = bilinear(head, tail) if autocast else bilinear(head.bfloat16(), tail.bfloat16())
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)
        for gradient in gradients(found, head, tail, bilinear.weight):
            assert gradient.isfinite().all()


def test_a_frozen_weight_still_passes_gradients_on():
    bilinear = GroupedBilinear(8, 2, 4).double()
    bilinear.requires_grad_(False)
    head, tail = inputs(3, 8)
    bilinear(head, tail).sum().backward()
    assert head.grad is not None and tail.grad is not None


def test_an_embedding_that_is_no_multiple_of_the_block_is_refused():
    with pytest.raises(ValueError, match="found embedding size 10, expected a multiple of the block size 4"):
        GroupedBilinear(10, 2, 4)
