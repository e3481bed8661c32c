"""Documents of any length, with any number of mentions and entities: the same scores, in little memory."""

import re
import subprocess
import sys

import pytest
import torch
from tests.reference.batches import random_batch, tiny_model

from unnoted.models.architectures import graph, localized_context, mention_vectors, paths, pieces
from unnoted.models.architectures.registry import ARCHITECTURES
from unnoted.models.encoders import crowded_rows, mention_inputs
from unnoted.models.scores import biaffine

LIMITS = [
    (crowded_rows, "ROWS_KEPT"),
    (mention_inputs, "PLACES_AT_ONCE"),
    (mention_vectors, "PLACES_AT_ONCE"),
    (localized_context, "PRODUCTS_AT_ONCE"),
    (graph, "NODES_KEPT"),
    (graph, "WEIGHTS_AT_ONCE"),
    (graph, "PAIRS_AT_ONCE"),
    (paths, "SCORES_AT_ONCE"),
    (pieces, "PAIRS_AT_ONCE"),
    (biaffine, "SCORES_AT_ONCE"),
]
"""What decides how much is held at a time."""


@pytest.mark.parametrize("limit", [1, 7])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_in_small_pieces_every_architecture_gives_the_same(monkeypatch, architecture, limit):
    model = tiny_model(architecture=architecture, embedding=16, entity_types=list("abcdef"))
    batch = random_batch([50, 13], [5, 3])

    def scores_and_gradients():
        scores = model(batch)
        return scores, torch.autograd.grad(scores.square().sum(), list(model.parameters()), allow_unused=True)

    expected = scores_and_gradients()
    for module, name in LIMITS:
        monkeypatch.setattr(module, name, limit)
    found = scores_and_gradients()
    torch.testing.assert_close(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        torch.testing.assert_close(one, other, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize(
    ("architecture", "encoder", "words", "entities", "mentions"),
    [
        ("atlop", "recurrent", 20_000, 10, 3),  # a matrix of words by words has 6.4 GB
        pytest.param("atlop", "convolutional-attention", 6_000, 8, 300, marks=pytest.mark.slow),
        pytest.param("gain", "bilstm", 6_000, 8, 300, marks=pytest.mark.slow),
        pytest.param("bran", "bilstm", 6_000, 8, 300, marks=pytest.mark.slow),
        pytest.param("max-pool", "bilstm", 1_000, 300, 1, marks=pytest.mark.slow),
    ],
)
def test_memory_stays_in_proportion(architecture, encoder, words, entities, mentions):
    """In a process of its own, that is given 1 GB beyond what it has before it sees the document."""
    options = {
        "architecture": architecture, "encoder": encoder, "words": words, "entities": entities,
        "mentions": mentions, "size": 16, "relations": 3, "threshold": 1, "more": 1,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks.length", *(f"--{key}={value}" for key, value in options.items())],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"added=([\d.]+)", done.stdout)[1]) < 0.6, done.stdout
