"""DocuNet against plain loops: the pair encoder, the U-Net, its normalisation and how it raises a map."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.encoded import only, random_encoded, scramble
from tests.reference.unet import batch_statistics, interpolated, plain_unet, plain_unet_pairs

from unnoted.models.architectures.docunet import DocuNetPairEncoder, MaskedBatchNorm, UNet, upsample


def small(training=False):
    """Running averages are as if it had been trained."""
    module = scramble(DocuNetPairEncoder(8, 6, unet_width=16, unet_output=5)).double().train(training)
    generator = torch.Generator().manual_seed(1)
    for buffer in module.buffers():
        buffer.uniform_(0.5, 1.5, generator=generator)
    return module


@pytest.mark.parametrize("training", [False, True])
def test_pairs_and_their_gradients_equal_plain_loops(training):
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 5], pair_rate=0.6)
    results = []
    for plain in (False, True):
        encoded, module = random_encoded(batch, 8), small(training)
        encoded.states.requires_grad_()
        parts = [only(encoded, batch, document) for document in (0, 2, 3)]
        if plain:
            made = plain_unet_pairs(module, [(alone, one) for alone, one, _ in parts])
            pairs = [torch.cat(pair) for document in made for pair in document]
            found = torch.stack(pairs)
        else:
            found = torch.cat(module(encoded, batch), 1)[torch.cat([rows for *_, rows in parts])]
        weights = torch.linspace(-1, 1, found.numel()).view_as(found)
        (found * weights).sum().backward()
        results.append([found, encoded.states.grad, *(weight.grad for weight in module.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-9)


def cells_of(image, side):
    """The map of one document, [C, S, S], as a dictionary."""
    return {(i, j): image[:, i, j] for i in range(side) for j in range(side)}


def squares(sides, largest):
    """The cells in use of documents with so many entities, bool [D, 1, largest, largest]."""
    used = torch.arange(largest) < torch.tensor(sides)[:, None]  # [D, largest]
    return (used[:, :, None] & used[:, None])[:, None]


@pytest.mark.parametrize("entities", [1, 2, 5])
def test_the_unet_equals_plain_loops(entities):
    unet = scramble(UNet(3, 16, 5)).double().eval()
    image = torch.randn(3, entities, entities, dtype=torch.float64)
    (expected,) = plain_unet(unet, [cells_of(image, entities)])
    found = unet(image[None], torch.ones(1, 1, entities, entities, dtype=torch.bool))[0]
    for (i, j), value in expected.items():
        torch.testing.assert_close(found[:, i, j], value)


@pytest.mark.parametrize("side", [1, 2, 3, 10])
def test_raised_maps_are_those_of_torch_and_of_plain_loops(side):
    values = torch.randn(1, 2, side, side, dtype=torch.float64)
    wider = torch.nn.functional.pad(values, (0, 3, 0, 3))
    found = upsample(wider, squares([side], side + 3))[..., : 2 * side, : 2 * side]
    expected = torch.nn.functional.interpolate(values, scale_factor=2, mode="bilinear", align_corners=True)
    torch.testing.assert_close(found, expected)
    for (i, j), value in interpolated(cells_of(values[0], side)).items():
        torch.testing.assert_close(found[0, :, i, j], value)


def test_running_averages_are_those_of_the_cells_in_use():
    torch.manual_seed(0)
    norm = MaskedBatchNorm(2).double()
    mean, variance = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    for sides in ([3, 5], [2, 1]):
        values = 7 + 3 * torch.randn(2, 2, 5, 5, dtype=torch.float64)
        norm(values, squares(sides, 5))
        maps = [cells_of(image, side) for image, side in zip(values, sides, strict=True)]
        batch_mean, _, unbiased = batch_statistics(maps)
        mean, variance = 0.9 * mean + 0.1 * batch_mean, 0.9 * variance + 0.1 * unbiased
    torch.testing.assert_close(norm.running_mean.flatten(), mean)
    torch.testing.assert_close(norm.running_variance.flatten(), variance)


@pytest.mark.parametrize("sides", [[1], [0], [0, 0]])
def test_one_cell_or_none_changes_no_running_average(sides):
    norm = MaskedBatchNorm(2)
    assert norm(torch.randn(len(sides), 2, 4, 4), squares(sides, 4)).eq(0).all()
    assert norm.running_mean.eq(0).all() and norm.running_variance.eq(1).all()
