from functools import partial

import pytest
import torch
from tests.reference.axial import plain_axial_pairs
from tests.reference.batches import random_batch
from tests.reference.maps import only, random_encoded, scramble, some_pairs

from unnoted.models.architectures import axial
from unnoted.models.architectures.axial import AxialPairs, Cells
from unnoted.models.encoders import Encoded
from unnoted.models.scores import GroupedBilinear


def axial_pairs(dtype=torch.float64, layers=2, bias=False):
    bilinear = partial(GroupedBilinear, bias=bias)
    module = AxialPairs(8, 6, bilinear, map_width=12, layers=layers, heads=3, block=2)
    assert (module.bilinear.bias is not None) == bias
    return scramble(module).to(dtype).eval()


@pytest.mark.parametrize("bias", [False, True], ids=["published", "earlier"])
def test_pairs_equal_plain_loops(bias):
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 4], pair_rate=0.6)
    encoded, module = random_encoded(batch, 8), axial_pairs(bias=bias)
    (found,) = module(encoded, batch)
    for document in (0, 3):
        alone, one, rows = only(encoded, batch, document)
        torch.testing.assert_close(found[rows], torch.stack(plain_axial_pairs(module, alone, one)))


def test_a_document_does_not_depend_on_its_batch():
    batch = random_batch([20, 60, 30, 9], [2, 60, 7, 1])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), axial_pairs(torch.float32, layers=6)
    with torch.no_grad():
        (found,) = module(encoded, batch)
        assert torch.equal(found, module(encoded, batch)[0])
        for document in range(4):
            alone, one, rows = only(encoded, batch, document)
            torch.testing.assert_close(module(alone, one)[0], found[rows], rtol=0, atol=1e-5)


def test_fewer_candidates_have_the_same_rows():
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8), axial_pairs()
    rows = torch.arange(0, batch.pairs, 5)
    (found,), (fewer,) = module(encoded, batch), module(encoded, some_pairs(batch, rows))
    torch.testing.assert_close(fewer, found[rows])


def gradients(encoded, batch):
    module = axial_pairs()
    inputs = Encoded(*(part.detach().clone().requires_grad_() for part in encoded))
    (found,) = module(inputs, batch)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1), dtype=found.dtype)
    (found * weights).sum().backward()
    return {name: part.grad for name, part in [*module.named_parameters(), *inputs._asdict().items()]}


def test_everything_gets_a_gradient_and_recomputing_changes_none(monkeypatch):
    batch = random_batch([20, 14], [6, 4])
    encoded = random_encoded(batch, 8)
    kept = gradients(encoded, batch)
    for name, gradient in kept.items():
        assert gradient is not None, name
        assert gradient.isfinite().all(), name
        assert gradient.abs().max() > 1e-6, name
    monkeypatch.setattr(axial, "CELLS_KEPT", 1)
    for name, gradient in gradients(encoded, batch).items():
        torch.testing.assert_close(gradient, kept[name], msg=name)


def test_cells_without_a_tail_may_be_left_out_or_not(monkeypatch):
    batch = random_batch([20, 14, 9], [6, 4, 1])
    encoded = random_encoded(batch, 8)
    assert len(Cells.of(batch).number) == 36 + 16 + 1
    (left_out,), without = axial_pairs()(encoded, batch), gradients(encoded, batch)
    monkeypatch.setattr(axial, "COUNTED_ON", ())
    assert len(Cells.of(batch).number) == (6 + 4 + 1) * 6
    torch.testing.assert_close(axial_pairs()(encoded, batch)[0], left_out)
    for name, gradient in gradients(encoded, batch).items():
        torch.testing.assert_close(gradient, without[name], msg=name)


@pytest.mark.parametrize("entities", [[0], [1], [1, 0]])
def test_no_pair(entities):
    batch = random_batch([6] * len(entities), entities)
    (found,) = axial_pairs()(random_encoded(batch, 8), batch)
    assert found.shape == (0, 12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(dtype):
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), axial_pairs(torch.float32)
    (expected,) = module(encoded, batch)
    with torch.autocast("cpu", dtype=dtype), torch.backends.mkldnn.flags(enabled=False):
        (found,) = module(encoded, batch)
    torch.testing.assert_close(found.float(), expected, rtol=0.1, atol=0.1)


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="found pairs 10 wide, expected a multiple of the 8 heads"):
        AxialPairs(10, 64, GroupedBilinear)
