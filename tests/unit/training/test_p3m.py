"""P3M in training: its views reach the loss, a resumed training is the same, other scorers are refused."""

import shutil

import pytest
import torch
from tests.unit.training.factories import tiny_encoder
from transformers import set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.losses import P3M
from unnoted.models.architectures import PairEncoder
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.checkpoints import list_checkpoints

HOW = OptimizerConfig(epochs=2, batch_size=2, head_learning_rate=1e-3, checkpoint_steps=2)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def docs():
    made = tuple(generate_documents(6))
    return Corpus(made, RelationVocabulary.from_documents(made), CandidatePairs())


def trainer_of(encoder, docs, seed=0, architecture="p3m", output=None, **options):
    set_seed(seed)
    model = RelationModel.from_encoder(
        encoder, docs.relations, architecture=architecture, embedding=16, block=4
    )
    return Trainer(model, P3M(docs.labelled_priors * 2, **options), docs, optimizer=HOW, output=output)


def weights(trainer):
    return torch.cat([each.flatten() for each in trainer.relation_model.state_dict().values()])


def test_each_augmentation_changes_what_is_learnt(encoder, docs):
    learnt = []
    for options in (
        {},
        {"second_view": False},
        {"mixup_weight": 0},
        {"second_view": False, "mixup_weight": 0},
    ):
        trainer = trainer_of(encoder, docs, **options)
        trainer.train()
        learnt.append(weights(trainer))
        assert not trainer.relation_model.head.bilinear._forward_hooks
    assert all(not torch.equal(one, other) for n, one in enumerate(learnt) for other in learnt[:n])


def test_a_resumed_training_is_the_same(encoder, docs, tmp_path):
    whole = trainer_of(encoder, docs, output=tmp_path)
    whole.train()
    shutil.rmtree(list_checkpoints(whole.checkpoints)[-1])
    again = trainer_of(encoder, docs, seed=1, output=tmp_path)
    again.train(resume=True)
    assert torch.equal(weights(whole), weights(again))


def test_pairs_in_pieces_teach_as_all_at_once(encoder, docs, monkeypatch):
    losses = []
    for at_once in (2**15, 50):
        monkeypatch.setattr(PairEncoder, "pairs_at_once", at_once)
        trainer = trainer_of(encoder, docs)
        trainer.relation_model.head.dropout.p = 0.0
        trainer.train()
        losses.append([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])
    assert losses[0][0] == pytest.approx(losses[1][0], rel=1e-4)
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_other_scorers_are_refused(encoder, docs):
    with pytest.raises(ValueError, match=r"architecture.*'p3m'"):
        trainer_of(encoder, docs, architecture="atlop")
