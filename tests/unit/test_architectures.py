"""Every model, whatever is inside: it is one of a kind with the others."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from tests.making import make_risk
from tests.reference.batches import only, random_batch
from torch import nn
from transformers import BertConfig, TrainerCallback, set_seed

from unnoted import architectures
from unnoted.architectures import ARCHITECTURES
from unnoted.documents.candidates import AllPairs
from unnoted.documents.corpus import Corpus
from unnoted.documents.generator import generate_documents
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.schema import Document, Entity, Mention
from unnoted.encoders import RecurrentConfig, make_encoder
from unnoted.extraction import Extractor
from unnoted.model import RelationConfig, RelationModel
from unnoted.pairs import AxialPairs, UNetPairs
from unnoted.risks import SSRPU
from unnoted.training import Optimisation, Trainer
from unnoted.training.development import development_score

every = pytest.mark.parametrize("architecture", ARCHITECTURES)
OWN_LOSS = {
    "atlop": "atlop",
    "docunet": "balanced-softmax",
    "kd-docre": "adaptive-focal",
    "gain": "cross-entropy",
    "bilstm": "cross-entropy",
    "max-pool": "cross-entropy",
    "bran": "cross-entropy",
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def made(architecture, options=None):
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
    make_encoder(folder, documents, config=RecurrentConfig(hidden_size=32, hidden_dropout_prob=0.0), rarest=1)
    return folder


def corpus(documents):
    made = tuple(generate_documents(documents))
    return Corpus(made, RelationVocabulary.of(made), AllPairs())


def on_documents(architecture, encoder, docs, embedding=16, block=4, markers=True):
    set_seed(0)
    return RelationModel.from_encoder(
        encoder,
        docs.relations,
        architecture=architecture,
        entity_types=docs.entity_types,
        embedding=embedding,
        block=block,
        markers=markers,
    )


@every
def test_scores_do_not_depend_on_what_shares_the_batch(architecture):
    model, batch = made(architecture), random_batch([20, 50, 12, 100], [4, 7, 1, 2], vocabulary=60)
    with torch.no_grad():
        together, start = model(batch), 0
        for document in range(4):
            alone = model(only(batch, document)[0])
            shared = together[start : start + len(alone)]
            torch.testing.assert_close(alone, shared, rtol=1e-4, atol=1e-5)
            start += len(alone)
    assert start == len(together)


@every
def test_saved_and_loaded_it_gives_the_same_scores(architecture, tmp_path):
    model, batch = made(architecture), random_batch([20, 50], [4, 3], vocabulary=60)
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(model(batch), again(batch))


@every
@pytest.mark.parametrize("own", [False, True], ids=["ssr-pu", "own loss"])
def test_it_trains_with_ssr_pu_and_with_its_own_loss(architecture, own, encoder):
    docs = corpus(8)
    model = on_documents(architecture, encoder, docs)
    risk = make_risk(OWN_LOSS[architecture]) if own else SSRPU(docs.labelled_priors * 1.5)
    how = Optimisation(epochs=6, encoder_learning_rate=3e-3, head_learning_rate=3e-3, log_steps=1)
    trainer = Trainer(model, risk, docs, optimisation=how)
    trainer.train()
    risks = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert min(risks[-2:]) < risks[0]
    assert all(parameter.isfinite().all() for parameter in model.parameters())


@every
@pytest.mark.parametrize("entities", [1, 60])
def test_it_extracts_from_documents_of_any_number_of_entities(architecture, entities, encoder):
    docs = corpus(4)
    model = on_documents(architecture, encoder, docs)
    words = tuple(tuple(f"w{number}" for number in range(start, start + 10)) for start in range(0, 60, 10))
    named = tuple(
        Entity((Mention(number // 10, number % 10, number % 10 + 1, "PER", f"w{number}"),))
        for number in range(entities)
    )
    (found,) = Extractor(model).extract([Document("d", words, named)], threshold=0.0)
    assert len(found.facts) == entities * (entities - 1) * len(docs.relations)


BY_HEART = 0.95


class Learnt(TrainerCallback):
    """Ends a training as soon as its documents are known by heart; looks every 20 steps."""

    def __init__(self, model, documents):
        self.model, self.documents, self.scores = model, documents, []

    def on_step_end(self, args, state, control, **others):
        if state.global_step % 20 == 0:
            self.scores.append(development_score(self.model, self.documents)["eval_f1"])
            control.should_training_stop = self.scores[-1] >= BY_HEART


@every
def test_it_learns_eight_documents_by_heart(architecture, tmp_path, monkeypatch):
    """With one loss for all, because it is the model that is tested here."""
    # As published, 256 wide and 6 layers deep, these two would take minutes.
    monkeypatch.setattr(architectures, "UNetPairs", partial(UNetPairs, unet_width=16, unet_output=32))
    monkeypatch.setattr(architectures, "AxialPairs", partial(AxialPairs, layers=2))
    docs = corpus(8)
    sizes = RecurrentConfig(hidden_size=64, num_hidden_layers=1, hidden_dropout_prob=0.0)
    make_encoder(tmp_path, docs.documents, config=sizes, rarest=1)
    model = on_documents(architecture, tmp_path, docs, embedding=128, block=16)
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # it is there to hinder what is tested here
    how = Optimisation(epochs=300, batch_documents=8, encoder_learning_rate=1e-2, head_learning_rate=1e-2)
    trainer = Trainer(model, make_risk("atlop"), docs, optimisation=how)
    learnt = Learnt(model, docs.documents)
    trainer.add_callback(learnt)
    trainer.train()
    assert max(learnt.scores) >= BY_HEART, learnt.scores


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["max-pool", "bran"])
def test_those_of_chemdisgene_learn_eight_documents_by_heart_with_their_own_loss(architecture, tmp_path):
    """As published: all tokens of mentions, no markers, a head of 128, sigmoid cross-entropy.

    That loss first lowers all scores alike: for about 80 steps no fact is predicted, and then they come.
    """
    docs = corpus(8)
    sizes = RecurrentConfig(hidden_size=64, num_hidden_layers=1, hidden_dropout_prob=0.0)
    make_encoder(tmp_path, docs.documents, config=sizes, rarest=1)
    model = on_documents(architecture, tmp_path, docs, embedding=128, block=16, markers=False)
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # it is there to hinder what is tested here
    how = Optimisation(epochs=600, batch_documents=8, encoder_learning_rate=1e-2, head_learning_rate=1e-2)
    trainer = Trainer(model, make_risk("cross-entropy"), docs, optimisation=how)
    learnt = Learnt(model, docs.documents)
    trainer.add_callback(learnt)
    trainer.train()
    assert max(learnt.scores) >= BY_HEART, learnt.scores


@pytest.mark.parametrize("architecture", ["max-pool", "bran"])
def test_a_model_from_before_there_was_a_choice_reads_the_first_tokens(architecture, tmp_path):
    batch = random_batch([20, 50], [4, 3], vocabulary=60)
    model = made(architecture, {"mention_tokens": "first"})
    model.save_pretrained(tmp_path)
    (tmp_path / "checksums.json").unlink()
    saved = json.loads((tmp_path / "config.json").read_text("utf-8"))
    for key in ("architecture_options", "markers"):
        del saved[key]
    (tmp_path / "config.json").write_text(json.dumps(saved), "utf-8")
    again = RelationModel.from_pretrained(tmp_path)
    assert again.config.markers is True
    with torch.no_grad():
        assert torch.equal(model(batch), again(batch))
        assert not torch.allclose(made(architecture)(batch), again(batch))


def test_every_model_has_a_loss_of_its_own():
    assert OWN_LOSS.keys() == ARCHITECTURES.keys()


def test_entity_types_are_seen_by_those_that_look_at_them():
    batch = random_batch([30], [4], vocabulary=60)
    other = replace(batch, mention_type=(batch.mention_type + 1) % 4)
    for architecture in ARCHITECTURES:
        model = made(architecture)
        with torch.no_grad():
            assert torch.equal(model(batch), model(other)) == (architecture != "gain")
