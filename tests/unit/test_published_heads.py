"""GAIN and DocRED's BiLSTM as published: with their own heads, losses and samples; and as they once were here."""

import json

import pytest
import torch
from tests.making import make_risk
from tests.reference.batches import random_batch
from torch import nn
from transformers import BertConfig, TrainerCallback, set_seed

from unnoted.architectures import ARCHITECTURES
from unnoted.common.checksums import CHECKSUMS
from unnoted.documents.candidates import AllPairs
from unnoted.documents.corpus import Corpus
from unnoted.documents.generator import generate_documents
from unnoted.documents.relations import RelationVocabulary
from unnoted.encoders import ENCODER_KINDS, RecurrentConfig, make_encoder
from unnoted.model import RelationConfig, RelationModel
from unnoted.training import Optimisation, Trainer
from unnoted.training.development import development_score

BY_HEART = 0.95
PROGRAM = {"path_edges": "last-layer", "path_attention": False, "path_layer": True}
NODE = 64 + 20 + 20
RATES = {"encoder_learning_rate": 3e-3, "head_learning_rate": 3e-3, "warm_up": 0}
PUBLISHED = {
    "gain": (
        RecurrentConfig(hidden_size=64, num_hidden_layers=1),
        {"architecture": "gain", "embedding": 6 * NODE, "architecture_options": PROGRAM},
        RATES | {"schedule": "cosine", "unlabelled_per_labelled": 4},
    ),
    "gain of the paper": (
        RecurrentConfig(hidden_size=64, num_hidden_layers=1),
        {"architecture": "gain", "embedding": 6 * NODE},
        RATES | {"schedule": "cosine"},
    ),
    "bilstm": (
        ENCODER_KINDS["bilstm"](),
        {"architecture": "bilstm", "embedding": 128},
        RATES | {"schedule": "constant", "encoder_learning_rate": 1e-2, "head_learning_rate": 1e-2},
    ),
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


class Learnt(TrainerCallback):
    """Ends a training as soon as its documents are known by heart; looks every 20 steps."""

    def __init__(self, model, documents):
        self.model, self.documents, self.scores = model, documents, []

    def on_step_end(self, args, state, control, **others):
        if state.global_step % 20 == 0:
            self.scores.append(development_score(self.model, self.documents)["eval_f1"])
            control.should_training_stop = self.scores[-1] >= BY_HEART


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_it_learns_eight_documents_by_heart_with_its_own_head_and_loss(name, tmp_path):
    sizes, head, rates = PUBLISHED[name]
    documents = tuple(generate_documents(8))
    docs = Corpus(documents, RelationVocabulary.of(documents), AllPairs())
    make_encoder(tmp_path, documents, config=sizes, rarest=1)
    set_seed(0)
    model = RelationModel.from_encoder(
        tmp_path, docs.relations, entity_types=docs.entity_types, block=head["embedding"], **head
    )
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # it is there to hinder what is tested here
    how = Optimisation(epochs=300, batch_documents=8, **rates)
    trainer = Trainer(model, make_risk("cross-entropy"), docs, optimisation=how)
    learnt = Learnt(model, documents)
    trainer.add_callback(learnt)
    trainer.train()
    assert max(learnt.scores) >= BY_HEART, learnt.scores


def made(architecture, options):
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


EARLIER = {
    "gain": {"path_edges": "all-layers", "path_attention": True, "path_layer": False},
    "bilstm": {"layer_before_means": False},
}
"""What these architectures did when there was nothing to choose."""


@pytest.mark.parametrize("architecture", EARLIER)
def test_a_model_from_before_there_were_choices_gives_the_scores_it_gave(architecture, tmp_path):
    model, batch = made(architecture, EARLIER[architecture]), random_batch([20, 50], [4, 5], vocabulary=60)
    if architecture == "bilstm":
        with torch.no_grad():
            model.pairs.distance_embedding.weight[9] = 1.0  # it had learnt something of no distance
    model.save_pretrained(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    del config["architecture_options"]
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    again = RelationModel.from_pretrained(tmp_path).eval()
    assert again.config.architecture_options == EARLIER[architecture]
    assert torch.equal(again(batch), model(batch))
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize(
    ("architecture", "option", "value"),
    [("bilstm", "layer_before_means", False), *(("gain", *o) for o in PROGRAM.items())],
)
def test_a_choice_is_saved_and_changes_scores(architecture, option, value, tmp_path):
    batch = random_batch([20, 50], [4, 5], vocabulary=60)
    model, usual = made(architecture, {option: value}), made(architecture, {})
    assert usual.config.architecture_options[option] != value
    assert not torch.allclose(model(batch), usual(batch))
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path).eval()
    assert again.config.architecture_options[option] == value
    assert torch.equal(again(batch), model(batch))


def test_by_default_they_are_as_their_papers_have_them():
    options = {name: ARCHITECTURES[name].options().model_dump() for name in EARLIER}
    assert options == {"gain": EARLIER["gain"], "bilstm": {"layer_before_means": True}}
