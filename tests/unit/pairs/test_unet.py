import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.maps import only, random_encoded, scramble, some_pairs
from tests.reference.unet import plain_unet, plain_unet_pairs

from unnoted.encoders import Encoded
from unnoted.pairs.unet import UNet, UNetPairs


def unet_pairs(dtype=torch.float64):
    return scramble(UNetPairs(8, 6, unet_width=16, unet_output=5)).to(dtype).eval()


@pytest.mark.parametrize("entities", [1, 2, 5])
def test_unet_equals_plain_loops_without_padding(entities):
    unet = scramble(UNet(3, 16, 5)).double()
    image = torch.randn(3, entities, entities, dtype=torch.float64)
    cells = {(i, j): image[:, i, j] for i in range(entities) for j in range(entities)}
    found = unet(image[None], torch.ones(1, 1, entities, entities, dtype=torch.bool))[0]
    for (i, j), expected in plain_unet(unet, cells).items():
        torch.testing.assert_close(found[:, i, j], expected)


def test_cells_not_in_use_are_never_seen():
    unet = scramble(UNet(3, 16, 5)).double()
    image = torch.randn(1, 3, 11, 11, dtype=torch.float64)
    mask = torch.zeros(1, 1, 11, 11, dtype=torch.bool)
    mask[..., :6, :6] = True
    small = unet(image[..., :6, :6], mask[..., :6, :6])[..., :6, :6]
    torch.testing.assert_close(unet(image, mask)[..., :6, :6], small)


def test_pairs_equal_plain_loops():
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 5], pair_rate=0.6)
    encoded, module = random_encoded(batch, 8), unet_pairs()
    found = module(encoded, batch)
    for document in (0, 3):
        alone, one, rows = only(encoded, batch, document)
        for row, expected in zip(rows, plain_unet_pairs(module, alone, one), strict=True):
            torch.testing.assert_close(found[0][row], expected[0])
            torch.testing.assert_close(found[1][row], expected[1])


def test_a_document_does_not_depend_on_its_batch():
    batch = random_batch([20, 60, 30, 9], [2, 60, 7, 1])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), unet_pairs(torch.float32)
    with torch.no_grad():
        found = module(encoded, batch)
        assert all(torch.equal(*both) for both in zip(found, module(encoded, batch), strict=True))
        for document in range(4):
            alone, one, rows = only(encoded, batch, document)
            for together, by_itself in zip(found, module(alone, one), strict=True):
                torch.testing.assert_close(by_itself, together[rows], rtol=0, atol=1e-5)


def test_fewer_candidates_have_the_same_rows():
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8), unet_pairs()
    rows = torch.arange(0, batch.pairs, 5)
    found, fewer = module(encoded, batch), module(encoded, some_pairs(batch, rows))
    for whole, part in zip(found, fewer, strict=True):
        torch.testing.assert_close(part, whole[rows])


def test_everything_gets_a_gradient():
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8), unet_pairs()
    inputs = Encoded(*(part.requires_grad_() for part in encoded))
    head, tail = module(inputs, batch)
    weights = torch.randn(2, *head.shape, dtype=head.dtype)
    (head * weights[0] + tail * weights[1]).sum().backward()
    for name, parameter in [*module.named_parameters(), *inputs._asdict().items()]:
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 1e-6, name


@pytest.mark.parametrize("entities", [[0], [1], [1, 0]])
def test_no_pair(entities):
    batch = random_batch([6] * len(entities), entities)
    head, tail = unet_pairs()(random_encoded(batch, 8), batch)
    assert head.shape == tail.shape == (0, 6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(dtype):
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), unet_pairs(torch.float32)
    expected = module(encoded, batch)
    with torch.autocast("cpu", dtype=dtype), torch.backends.mkldnn.flags(enabled=False):
        found = module(encoded, batch)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=0.1, atol=0.1)


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="found a U-Net 24 wide, expected a multiple of 16"):
        UNetPairs(8, 6, unet_width=24)
