"""Each model as published, with its own head, loss and sample: it learns eight documents by heart."""

import pytest
import torch
from tests.unit.by_heart import SMALL, learn

from unnoted.models.encoders import ENCODER_KINDS

GAIN_PROGRAM = {"path_edges": "last-layer", "path_attention": False, "path_layer": True}
NODE = 64 + 20 + 20
GRAPH = {"architecture": "gain", "embedding": 6 * NODE, "block": 6 * NODE}
TOKENS = {"embedding": 128, "block": 128, "markers": False}


def rates(encoder, head=None, **others):
    return {
        "encoder_learning_rate": encoder,
        "head_learning_rate": encoder if head is None else head,
    } | others


# Sigmoid cross-entropy first lowers all scores alike: for some 80 steps no fact is predicted, and then they come.
PUBLISHED = {
    "atlop": ("atlop", {"architecture": "atlop"}, rates(1e-2, 1e-3)),
    "docunet": ("balanced-softmax", {"architecture": "docunet"}, rates(1e-2, 1e-3)),
    "docunet of similarities": (
        "balanced-softmax",
        {"architecture": "docunet", "architecture_options": {"feature_map": "similarity"}},
        rates(1e-2, 1e-3),
    ),
    "kd-docre": ("adaptive-focal", {"architecture": "kd-docre", "embedding": 1024}, rates(1e-2, 1e-3)),
    "gain": (
        "cross-entropy",
        GRAPH | {"architecture_options": GAIN_PROGRAM},
        rates(3e-3, warm_up=0, schedule="cosine", unlabelled_per_labelled=4),
    ),
    "gain of the paper": ("cross-entropy", GRAPH, rates(3e-3, warm_up=0, schedule="cosine")),
    "bilstm": (
        "cross-entropy",
        {"architecture": "bilstm", "embedding": 128, "block": 128},
        rates(1e-2, warm_up=0, schedule="constant"),
    ),
    "max-pool": ("cross-entropy", TOKENS | {"architecture": "max-pool"}, rates(1e-2, epochs=600)),
    "bran": ("cross-entropy", TOKENS | {"architecture": "bran"}, rates(1e-2, epochs=600)),
    "p3m": ("p3m", {"architecture": "p3m", "embedding": 64, "block": 16}, rates(1e-2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_it_learns_eight_documents_by_heart(name, tmp_path):
    torch.set_num_threads(1)
    loss, head, how = PUBLISHED[name]
    learn(tmp_path, loss, head, how, ENCODER_KINDS["bilstm"]() if name == "bilstm" else SMALL)
