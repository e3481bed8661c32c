"""P3M in training: its views reach the loss, a resumed training is the same, other scorers are refused."""

import shutil

import pytest
from tests.unit.training.factories import corpus, equal, fresh_model

from unnoted.losses import P3M
from unnoted.models.architectures import PairEncoder
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.checkpoints import list_checkpoints

HOW = OptimizerConfig(epochs=2, batch_size=2, head_learning_rate=1e-3, checkpoint_steps=2)
DOCS = corpus(6)


def trainer_of(encoder, seed=0, architecture="p3m", output=None, **options):
    model = fresh_model(encoder, seed, architecture=architecture, embedding=16)
    return Trainer(model, P3M(DOCS.labelled_priors * 2, **options), DOCS, optimizer=HOW, output=output)


def test_each_augmentation_changes_what_is_learnt(encoder):
    learnt = []
    for second in (True, False):
        for weight in (0.05, 0):
            trainer = trainer_of(encoder, second_view=second, mixup_weight=weight)
            trainer.train()
            learnt.append(trainer.relation_model)
    assert not any(equal(one, other) for n, one in enumerate(learnt) for other in learnt[:n])


def test_a_resumed_training_is_the_same(encoder, tmp_path):
    whole = trainer_of(encoder, output=tmp_path)
    whole.train()
    shutil.rmtree(list_checkpoints(whole.checkpoints)[-1])
    again = trainer_of(encoder, seed=1, output=tmp_path)
    again.train(resume=True)
    assert equal(whole.relation_model, again.relation_model)


def test_pairs_in_pieces_teach_as_all_at_once(encoder, monkeypatch):
    losses = []
    for at_once in (2**15, 50):
        monkeypatch.setattr(PairEncoder, "pairs_at_once", at_once)
        trainer = trainer_of(encoder)
        trainer.relation_model.head.dropout.p = 0.0
        trainer.train()
        losses.append([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])
    assert losses[0][0] == pytest.approx(losses[1][0], rel=1e-4)
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_other_scorers_are_refused(encoder):
    with pytest.raises(ValueError, match=r"architecture.*'p3m'"):
        trainer_of(encoder, architecture="atlop")
