"""The benchmark's opponent computes the same loss."""

import torch
from tests.reference.loss_by_class import ssr_pu_by_class

from unnoted.losses import SSRPU
from unnoted.priors import Priors


def test_one_class_at_a_time_gives_the_same_risk():
    torch.manual_seed(0)
    for _ in range(20):
        scores = torch.randn(30, 6, dtype=torch.float64)
        labels = torch.rand(30, 5) < torch.tensor([0.0, 0.05, 0.2, 0.5, 0.1])
        labelled = (0.0, 0.02, 0.1, 0.2, 0.05)
        priors = Priors(tuple("abcde"), labelled, (0.0, 0.06, 0.3, 0.6, 0.15))
        plain = ssr_pu_by_class(scores, labels, priors.labelled, priors.overall)
        torch.testing.assert_close(SSRPU(priors=priors)(scores, labels), plain, rtol=1e-10, atol=0)
