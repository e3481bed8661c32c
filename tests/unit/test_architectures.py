"""Every architecture inside a whole model: saved, trained, extracting, overfitting, in little memory."""

import re
import subprocess
import sys

import pytest
import torch
from tests.making import make_loss
from tests.reference.batches import random_batch
from torch import nn
from transformers import BertConfig, TrainerCallback, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.losses import SSRPU
from unnoted.models.architectures import ARCHITECTURES
from unnoted.models.encoders import ENCODER_KINDS, LSTMConfig, make_encoder
from unnoted.models.model import RelationConfig, RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.callbacks import development_scores

every = pytest.mark.parametrize("architecture", ARCHITECTURES)
OWN_LOSS = {
    "atlop": "atlop",
    "docunet": "balanced-softmax",
    "kd-docre": "adaptive-focal",
    "gain": "cross-entropy",
    "bilstm": "cross-entropy",
    "max-pool": "cross-entropy",
    "bran": "cross-entropy",
    "p3m": "p3m",
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def make_model(architecture, **options):
    """A small model with random weights on a small transformer."""
    set_seed(0)
    encoder = BertConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=128,
    )  # fmt: skip
    config = RelationConfig(
        encoder_config=encoder.to_dict(),
        relations=["r0", "r1", "r2"],
        entity_types=["PER", "LOC", "ORG"],
        architecture=architecture,
        architecture_options=options,
        embedding=8,
        block=4,
    )
    return RelationModel(config).eval()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    documents = list(generate_documents(20))
    make_encoder(
        folder,
        documents,
        config=LSTMConfig(hidden_size=32, hidden_dropout_prob=0.0),
        min_document_frequency=1,
    )
    return folder


def corpus(documents):
    made = tuple(generate_documents(documents))
    return Corpus(made, RelationVocabulary.from_documents(made), CandidatePairs())


def model_on(architecture, encoder, docs):
    set_seed(0)
    return RelationModel.from_encoder(
        encoder,
        docs.relations,
        architecture=architecture,
        entity_types=docs.entity_types,
        embedding=16,
        block=4,
    )


@every
def test_saved_and_loaded_it_gives_the_same_logits(architecture, tmp_path):
    model, batch = make_model(architecture), random_batch([20, 50], [4, 3], vocabulary=60)
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(model(batch).logits, again(batch).logits)


@every
@pytest.mark.parametrize("own", [False, True], ids=["ssr-pu", "own loss"])
def test_it_trains_with_ssr_pu_and_with_its_own_loss(architecture, own, encoder):
    docs = corpus(8)
    model, priors = model_on(architecture, encoder, docs), docs.labelled_priors * 1.5
    loss = make_loss(OWN_LOSS[architecture], priors) if own else SSRPU(priors)
    how = OptimizerConfig(epochs=6, encoder_learning_rate=3e-3, head_learning_rate=3e-3)
    trainer = Trainer(model, loss, docs, optimizer=how)
    trainer.args.logging_steps = 1
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert min(losses[-2:]) < losses[0]
    assert all(parameter.isfinite().all() for parameter in model.parameters())


@every
@pytest.mark.parametrize("entities", [1, 60])
def test_it_extracts_from_documents_of_any_number_of_entities(architecture, entities, encoder):
    docs = corpus(4)
    model = model_on(architecture, encoder, docs)
    words = tuple(tuple(f"w{number}" for number in range(start, start + 10)) for start in range(0, 60, 10))
    named = tuple(
        Entity((Mention(number // 10, number % 10, number % 10 + 1, "PER", f"w{number}"),))
        for number in range(entities)
    )
    (found,) = Extractor(model).extract([Document("d", words, named)], threshold=0.0)
    assert len(found.facts) == entities * (entities - 1) * len(docs.relations)


# --- Documents of any length, with any number of entities ---


@pytest.mark.parametrize(
    ("architecture", "encoder", "words", "entities", "mentions"),
    [
        ("atlop", "recurrent", 20_000, 10, 3),  # a matrix of words by words has 6.4 GB
        pytest.param("atlop", "bran", 6_000, 8, 300, marks=pytest.mark.slow),
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


# --- Overfitting eight documents ---

SMALL = LSTMConfig(hidden_size=64, num_hidden_layers=1, hidden_dropout_prob=0.0)
GOAL = 0.95


class StopAtGoal(TrainerCallback):
    """Stops a training as soon as F1 on its own documents is high enough; looks every 20 steps."""

    def __init__(self, model, documents):
        self.model, self.documents, self.scores = model, documents, []

    def on_step_end(self, args, state, control, **others):
        if state.global_step % 20 == 0:
            self.scores.append(development_scores(self.model, self.documents)["eval_f1"])
            control.should_training_stop = self.scores[-1] >= GOAL


def overfit(folder, loss, head, how, encoder=SMALL):
    """Train on eight documents until they are learnt, and demand that they are.

    Args:
        folder: where the encoder is made.
        loss: by its name.
        head: arguments of `RelationModel.from_encoder`, but for the documents.
        how: values of `OptimizerConfig`.
        encoder: its configuration.
    """
    documents = tuple(generate_documents(8))
    docs = Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
    make_encoder(folder, documents, config=encoder, min_document_frequency=1)
    set_seed(0)
    model = RelationModel.from_encoder(folder, docs.relations, entity_types=docs.entity_types, **head)
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # it is there to hinder what is tested here
    optimizer = OptimizerConfig(**{"epochs": 300, "batch_size": 8, **how})
    trainer = Trainer(model, make_loss(loss, docs.labelled_priors), docs, optimizer=optimizer)
    callback = StopAtGoal(model, documents)
    trainer.add_callback(callback)
    trainer.train()
    assert max(callback.scores) >= GOAL, callback.scores


def test_it_overfits(tmp_path):
    head = {"architecture": "atlop", "embedding": 128, "block": 16}
    overfit(tmp_path, "atlop", head, {"encoder_learning_rate": 1e-2, "head_learning_rate": 1e-2})


NODE = 64 + 20 + 20
TOKENS = {"embedding": 128, "block": 128, "markers": False}


def rates(encoder, head=None, **others):
    head = encoder if head is None else head
    return {"encoder_learning_rate": encoder, "head_learning_rate": head, **others}


# Sigmoid cross-entropy first lowers all logits alike: for some 80 steps no fact is predicted, and then they come.
PUBLISHED = {
    "atlop": ({"architecture": "atlop"}, rates(1e-2, 1e-3)),
    "docunet": ({"architecture": "docunet"}, rates(1e-2, 1e-3)),
    "kd-docre": ({"architecture": "kd-docre", "embedding": 1024}, rates(1e-2, 1e-3)),
    "gain": (
        {"architecture": "gain", "embedding": 6 * NODE, "block": 6 * NODE},
        rates(3e-3, warmup=0, schedule="cosine", unlabelled_per_labelled=4),
    ),
    "bilstm": (
        {"architecture": "bilstm", "embedding": 128, "block": 128},
        rates(1e-2, warmup=0, schedule="constant"),
    ),
    "max-pool": (TOKENS | {"architecture": "max-pool"}, rates(1e-2, epochs=600)),
    "bran": (TOKENS | {"architecture": "bran"}, rates(1e-2, epochs=600)),
    "p3m": ({"architecture": "p3m", "embedding": 64, "block": 16}, rates(1e-2)),
}


@pytest.mark.slow
@every
def test_it_overfits_as_published(architecture, tmp_path):
    """With its own head, loss and sample."""
    head, how = PUBLISHED[architecture]
    encoder = ENCODER_KINDS["bilstm"]() if architecture == "bilstm" else SMALL
    overfit(tmp_path, OWN_LOSS[architecture], head, how, encoder)
