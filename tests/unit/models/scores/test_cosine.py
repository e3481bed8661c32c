"""Cosine scores against the formula."""

import pytest
import torch
from tests.reference.p3m import cosines, mixed

from unnoted.models.scores import CosineScores


@pytest.fixture
def scorer():
    torch.manual_seed(0)
    return CosineScores(embedding=8, classes=4, block=4).double().requires_grad_(False)


def test_scores_are_cosines_of_what_the_bilinear_gives(scorer):
    head, tail = torch.randn(2, 5, 8, dtype=torch.float64)
    scores = scorer.eval()(head, tail)
    pairs = scorer.bilinear(head, tail)
    for pair, found in zip(pairs, scores, strict=True):
        torch.testing.assert_close(found, cosines(pair, scorer.relations))
    assert scores.abs().max() <= 1


def test_views_differ_in_training_and_only_there(scorer):
    pairs = torch.randn(3, 8, dtype=torch.float64)
    assert not torch.equal(scorer.view(pairs), scorer.view(pairs))
    scorer.eval()
    assert torch.equal(scorer.view(pairs), scorer.view(pairs))


def test_mixtures_lead_from_the_pair_to_the_none_class(scorer):
    pairs, share = (
        scorer.eval().view(torch.randn(3, 8, dtype=torch.float64)),
        torch.tensor([1.0, 0.3, 0.0]).double(),
    )
    found = scorer.cosines(scorer.towards_none(pairs, share))
    for row in range(3):
        mixture = mixed(pairs[row], scorer.relations[0], share[row])
        torch.testing.assert_close(found[row], cosines(mixture, scorer.relations))
    torch.testing.assert_close(found[0], scorer.cosines(pairs)[0])
    assert float(found[2, 0]) == pytest.approx(1)
