"""Encoders that all tests of training share, and one thread: sums are in the same order."""

import pytest
import torch
from tests.unit.training.factories import tiny_encoder


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def steady_encoder(tmp_path_factory):
    """Without dropout, so that losses can be computed again."""
    return tiny_encoder(tmp_path_factory.mktemp("steady"), dropout=0.0)
