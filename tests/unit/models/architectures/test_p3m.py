"""P3M's cosines against the formula."""

import pytest
import torch
from tests.reference.p3m import cosines, mixed

from unnoted.models.architectures.p3m import CosineHead


@pytest.fixture
def head_layer():
    torch.manual_seed(0)
    return CosineHead(pair_dim=8, num_labels=4, block_size=4).double().requires_grad_(False)


def test_logits_are_cosines_of_what_the_bilinear_gives(head_layer):
    head, tail = torch.randn(2, 5, 8, dtype=torch.float64)
    logits = head_layer.eval()(head, tail)
    pairs = head_layer.bilinear(head, tail)
    for pair, found in zip(pairs, logits, strict=True):
        torch.testing.assert_close(found, cosines(pair, head_layer.relations))
    assert logits.abs().max() <= 1


def test_views_differ_in_training_and_only_there(head_layer):
    pairs = torch.randn(3, 8, dtype=torch.float64)
    assert not torch.equal(head_layer.view(pairs), head_layer.view(pairs))
    head_layer.eval()
    assert torch.equal(head_layer.view(pairs), head_layer.view(pairs))


def test_mixtures_lead_from_the_pair_to_the_threshold_class(head_layer):
    pairs, share = (
        head_layer.eval().view(torch.randn(3, 8, dtype=torch.float64)),
        torch.tensor([1.0, 0.3, 0.0]).double(),
    )
    found = head_layer.cosines(head_layer.mix_with_threshold_class(pairs, share))
    for row in range(3):
        mixture = mixed(pairs[row], head_layer.relations[0], share[row])
        torch.testing.assert_close(found[row], cosines(mixture, head_layer.relations))
    torch.testing.assert_close(found[0], head_layer.cosines(pairs)[0])
    assert float(found[2, 0]) == pytest.approx(1)
