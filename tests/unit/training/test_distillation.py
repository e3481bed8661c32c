"""A student learns its labels and a teacher's scores."""

import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tests.making import make_loss
from tests.unit.training.factories import corpus, fresh_model, tiny_encoder

from unnoted.losses import ATLOP, SPU, SSRPU, DecisionRule, Distillation
from unnoted.models.batch import Collator
from unnoted.models.model import ModelError, RelationModel
from unnoted.training import OptimizerConfig, Teacher, Trainer

DOCS = corpus(4)
PRIORS = DOCS.labelled_priors * 2


def model_with(encoder, seed, loss, **options):
    model = fresh_model(encoder, seed, **options)
    model.decoder = loss.decoder
    return model


@pytest.mark.parametrize("loss", [SSRPU(PRIORS), ATLOP(), SPU(PRIORS)])
def test_the_student_minimises_its_loss_and_the_difference_from_the_teacher(steady_encoder, tmp_path, loss):
    teacher = model_with(steady_encoder, 1, loss).train()
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    still = OptimizerConfig(epochs=1, batch_size=4, encoder_learning_rate=0, head_learning_rate=0)
    student = model_with(steady_encoder, 0, loss)
    trainer = Trainer(student, loss, DOCS, optimizer=still, output=tmp_path, teacher=Teacher(teacher, 0.7))
    trainer.train()
    batch = Collator(trainer.features)(list(trainer.features))
    with torch.no_grad():
        scores, known = student.train()(batch).logits, teacher.eval()(batch).logits
        expected = Distillation(loss, 0.7)(scores, batch.labels(), teacher=known)
        assert abs(expected - loss(scores, batch.labels())) > 1e-3
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert logged == [pytest.approx(float(expected), rel=1e-4, abs=1e-4)]
    assert not any(weight.requires_grad for weight in teacher.parameters())
    assert all(torch.equal(before[name], weight) for name, weight in teacher.state_dict().items())
    saved = load_file(tmp_path / "checkpoints" / "checkpoint-1" / "model.safetensors")
    assert saved.keys() == student.state_dict().keys()
    groups = trainer.optimizer.param_groups
    assert sum(len(group["params"]) for group in groups) == len(list(student.parameters()))


def test_a_teacher_of_another_architecture_and_size(encoder):
    teacher = model_with(encoder, 1, ATLOP(), architecture="max-pool", embedding=4)
    trainer = Trainer(
        model_with(encoder, 0, ATLOP()), ATLOP(), DOCS, optimizer=OptimizerConfig(epochs=1, batch_size=4),
        teacher=Teacher(teacher),
    )  # fmt: skip
    trainer.train()
    assert math.isfinite(trainer.state.log_history[0]["loss"])


def test_what_does_not_fit_is_refused(encoder, tmp_path):
    loss = SSRPU(PRIORS)
    student = model_with(encoder, 0, loss)
    log_sigmoid, wide = make_loss("s-pu-log-sigmoid-ranking", PRIORS), SSRPU(PRIORS, margin=0.5)
    other_relations = RelationModel.from_encoder(encoder, ("other",), embedding=8, block=4)
    bare, typed = model_with(encoder, 1, loss), model_with(encoder, 1, loss)
    bare.config.markers, typed.config.entity_types = False, ["LOC"]
    teachers = {
        "threshold-softmax": model_with(encoder, 1, ATLOP()),
        "sigmoid-ranking": model_with(encoder, 1, log_sigmoid),
        "0.5": model_with(encoder, 1, wide),
        "tokenizer": model_with(tiny_encoder(tmp_path, documents=3), 1, loss),
        "markers": bare,
        "entity types": typed,
        "other": other_relations,
    }
    for reason, teacher in teachers.items():
        with pytest.raises(ModelError, match=reason):
            Teacher(teacher).check(student, loss)
    with pytest.raises(ModelError, match="nowhere"):
        Teacher.from_pretrained(tmp_path / "nowhere")


def test_a_teacher_whose_thresholds_were_tuned_has_the_same_scores(encoder):
    loss = SPU(DOCS.labelled_priors)
    teacher = model_with(encoder, 1, loss)
    tuned = DecisionRule("zero", tuple(float(number) for number in range(len(DOCS.relations))))
    teacher.decoder = replace(teacher.decoder, decision=tuned)
    Teacher(teacher).check(model_with(encoder, 0, loss), loss)
