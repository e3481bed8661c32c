from itertools import product

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.maps import only, random_encoded, scramble, some_pairs
from tests.reference.unet import plain_unet_pairs

from unnoted.models.architectures.unet import UNetPairs
from unnoted.models.encoders import Encoded

PUBLISHED = {}
SIMILARITY = {"feature_map": "similarity"}
EARLIER = {"normalisation": "group", "upsampling": "deconvolution"}
every = pytest.mark.parametrize("options", [PUBLISHED, SIMILARITY, EARLIER], ids=str)


def unet_pairs(dtype=torch.float64, **options):
    """A small one in evaluation mode, with running averages as if it had been trained."""
    module = scramble(UNetPairs(8, 6, unet_width=16, unet_output=5, **options)).to(dtype).eval()
    generator = torch.Generator().manual_seed(1)
    for buffer in module.buffers():
        buffer.uniform_(0.5, 1.5, generator=generator)
    return module


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("feature_map", ["context", "similarity"])
@pytest.mark.parametrize(
    ("normalisation", "upsampling"), list(product(["batch", "group"], ["bilinear", "deconvolution"]))
)
def test_pairs_equal_plain_loops(feature_map, normalisation, upsampling, training):
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 5], pair_rate=0.6)
    encoded = random_encoded(batch, 8)
    options = {"feature_map": feature_map, "normalisation": normalisation, "upsampling": upsampling}
    module = unet_pairs(**options).train(training)
    found = module(encoded, batch)
    parts = [only(encoded, batch, document) for document in (0, 2, 3)]
    expected = plain_unet_pairs(module, [(alone, one) for alone, one, _ in parts])
    for (_, _, rows), embeddings in zip(parts, expected, strict=True):
        for row, (head, tail) in zip(rows, embeddings, strict=True):
            torch.testing.assert_close(found[0][row], head)
            torch.testing.assert_close(found[1][row], tail)


@every
def test_a_document_does_not_depend_on_its_batch(options):
    batch = random_batch([20, 60, 30, 9], [2, 60, 7, 1])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), unet_pairs(torch.float32, **options)
    with torch.no_grad():
        found = module(encoded, batch)
        assert all(torch.equal(*both) for both in zip(found, module(encoded, batch), strict=True))
        for document in range(4):
            alone, one, rows = only(encoded, batch, document)
            for together, by_itself in zip(found, module(alone, one), strict=True):
                torch.testing.assert_close(by_itself, together[rows], rtol=0, atol=1e-5)


@every
def test_fewer_candidates_have_the_same_rows(options):
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8), unet_pairs(**options)
    rows = torch.arange(0, batch.pairs, 5)
    found, fewer = module(encoded, batch), module(encoded, some_pairs(batch, rows))
    for whole, part in zip(found, fewer, strict=True):
        torch.testing.assert_close(part, whole[rows])


@every
@pytest.mark.parametrize("training", [False, True])
def test_everything_gets_a_gradient(options, training):
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8), unet_pairs(**options).train(training)
    inputs = Encoded(*(part.requires_grad_() for part in encoded))
    head, tail = module(inputs, batch)
    weights = torch.randn(2, *head.shape, dtype=head.dtype)
    (head * weights[0] + tail * weights[1]).sum().backward()
    reached = dict(module.named_parameters()) | inputs._asdict()
    if options == SIMILARITY:
        assert reached.pop("attention").grad is None  # similarities need no attention
    if options != EARLIER and training:
        # What is subtracted with the mean of its channel can have no gradient.
        shifts = [name for name in reached if name.endswith(("first.bias", "second.bias"))]
        assert len(shifts) == 10
        assert all(reached.pop(name).grad.abs().max() < 1e-6 for name in shifts)
    for name, parameter in reached.items():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 1e-6, name


@every
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("entities", [[0], [1], [1, 0]])
def test_no_pair(entities, training, options):
    batch = random_batch([6] * len(entities), entities)
    module = unet_pairs(**options).train(training)
    head, tail = module(random_encoded(batch, 8), batch)
    assert head.shape == tail.shape == (0, 6)
    assert all(buffer.isfinite().all() for buffer in module.buffers())


@every
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(dtype, options):
    batch = random_batch([20, 14], [6, 4])
    encoded, module = random_encoded(batch, 8, dtype=torch.float32), unet_pairs(torch.float32, **options)
    expected = module(encoded, batch)
    with torch.autocast("cpu", dtype=dtype), torch.backends.mkldnn.flags(enabled=False):
        found = module(encoded, batch)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=0.1, atol=0.1)


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="found a U-Net 24 wide, expected a multiple of 16"):
        UNetPairs(8, 6, unet_width=24)
