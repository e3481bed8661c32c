"""KD-DocRE's axial attention against plain loops."""

import pytest
import torch
from tests.reference.axial import plain_axial_pairs
from tests.reference.batches import random_batch
from tests.reference.encoded import only, random_encoded, scramble

from unnoted.models.architectures.kd_docre import AxialPairEncoder


def test_pairs_and_their_gradients_equal_plain_loops():
    batch, results = random_batch([12, 5, 9, 14], [3, 0, 1, 4], pair_rate=0.6), []
    for plain in (False, True):
        encoded = random_encoded(batch, 8)
        encoded.states.requires_grad_()
        module = scramble(AxialPairEncoder(8, 6, map_dim=12, layers=2, heads=3, block_size=2)).double()
        parts = [only(encoded, batch, document) for document in (0, 3)]
        if plain:
            found = torch.cat([torch.stack(plain_axial_pairs(module, alone, one)) for alone, one, _ in parts])
        else:
            found = module(encoded, batch)[0][torch.cat([rows for *_, rows in parts])]
        (found * torch.linspace(-1, 1, found.numel()).view_as(found)).sum().backward()
        results.append([found, encoded.states.grad, *(weight.grad for weight in module.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="heads"):
        AxialPairEncoder(10, 64)
