"""Several processes train the model that one would, also where they share a batch unevenly."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.unit.losses.factories import reviewed_batch
from tests.unit.training.factories import config_file, corpus, fresh_model, together, vocabulary_file

from unnoted.losses import LOSSES, P3M, SSRPU, LabelLikelihood, create_loss
from unnoted.losses.base import shared_batch, weighted_mean
from unnoted.priors import Priors
from unnoted.training import NotFiniteError, OptimizerConfig, Record, Trainer, load_config, run
from unnoted.training.builders import build_model
from unnoted.training.checkpoints import list_checkpoints
from unnoted.training.run_directory import RunDirectory
from unnoted.training.trainer import CHECKPOINTS

ENTITY_TYPES = corpus(9).entity_types
QUICK = {"epochs": 2, "batch_size": 4, "encoder_learning_rate": 1e-3, "head_learning_rate": 1e-3}
PRIORS = Priors(("a", "b", "c"), (0.1, 0.2, 0.3), (0.3, 0.3, 0.5))
OPTIONS = [
    *({"name": name} for name in LOSSES),
    *({"name": "ssr-pu", "correction": correction} for correction in ("none", "clamp")),
    {"name": "s-pu", "correction": "clamp", "normalisation": "expected"},
]


def made(options):
    name, rest = options["name"], {key: value for key, value in options.items() if key != "name"}
    return create_loss(name, PRIORS if LOSSES[name].needs_priors else None, **rest)


def loss_batch():
    """Logits, labels, negatives, weights; class 0 is labelled among the last pairs alone, where no negatives are."""
    logits, labels, negatives, weights = reviewed_batch(3, 12, 0.4)
    labels[:8, 0], negatives[8:] = False, False
    labels[8:, 0] = True
    return logits, labels, negatives, weights


def part_of_loss(options, rows, contributes=True):
    """The loss and the gradient of some rows, of which the other process may have the rest."""
    logits, labels, negatives, weights = (each[rows] for each in loss_batch())
    logits.requires_grad_()
    with shared_batch(contributes):
        loss = made(options)(logits, labels, weights, negatives)
    loss.backward()
    return loss.item(), logits.grad.numpy()


@pytest.mark.parametrize("parts", [(slice(0, 8), slice(8, 12)), (slice(0, 12), slice(0, 0)), None], ids=str)
def test_every_loss_of_the_parts_of_a_batch_is_that_of_the_batch(parts):
    def work(process):
        rows = slice(None) if parts is None else parts[process]
        return [part_of_loss(options, rows, parts is not None or process == 0) for options in OPTIONS]

    first, second = together(work)
    for options, own, other in zip(OPTIONS, first, second, strict=True):
        logits, labels, negatives, weights = loss_batch()
        logits.requires_grad_()
        loss = made(options)(logits, labels, weights, negatives)
        loss.backward()
        assert own[0] == pytest.approx(loss.item(), rel=1e-9) == other[0], options
        # Gradients are averaged over processes.
        found = (own[1] + other[1]) / 2 if parts is None else np.concatenate([own[1], other[1]]) / 2
        np.testing.assert_allclose(found, logits.grad.numpy(), rtol=1e-6, atol=1e-9, err_msg=str(options))


def weights_of(model):
    return {name: value.numpy() for name, value in model.state_dict().items()}


def assert_equal_weights(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_allclose(other[name], value, atol=1e-5, rtol=0, err_msg=name)


def trainer_of(encoder, loss=None, docs=9, output=None, model=None, options=None, **changes):
    train = corpus(docs)
    model = fresh_model(encoder, embedding=16, **model or {})
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # processes draw other masks
    loss = SSRPU(train.labelled_priors * 2) if loss is None else loss(train.labelled_priors * 2)
    how = OptimizerConfig(**QUICK | changes)
    return Trainer(model, loss, train, optimizer=how, output=output, **options or {})


CASES = {
    "ssr-pu, a last batch of one document": {},
    "accumulation": {"gradient_accumulation": 2},
    "a last batch of three documents": {"docs": 7, "group_by_length": False},
    "a sample of pairs": {"unlabelled_rate": 0.3},
    "label likelihood": {"loss": LabelLikelihood},
    "evidence": {"options": {"evidence_weight": 0.5}},
    "views of labelled pairs": {
        "loss": lambda priors: P3M(priors, mixup_weight=0, second_view=True),
        "model": {"architecture": "p3m"},
    },
    "entity recognition": {
        "model": {"markers": False, "entity_types": ENTITY_TYPES},
        "options": {"entity_recognition_weight": 0.5},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_two_processes_train_the_model_of_one(steady_encoder, case):
    def train():
        trainer = trainer_of(steady_encoder, **CASES[case])
        output = trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        return weights_of(trainer.relation_model), output.global_step, losses

    expected = train()
    for found in together(lambda process: train()):
        assert_equal_weights(expected[0], found[0])
        assert found[1] == expected[1] and found[2] == pytest.approx(expected[2], rel=1e-4)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (2, 2)])
def test_a_checkpoint_is_continued_by_another_number_of_processes(steady_encoder, tmp_path, before, after):
    def train(folder, epochs, resume=False):
        trainer = trainer_of(steady_encoder, output=folder, epochs=epochs, schedule={"name": "constant"})
        trainer.train(resume=resume)
        return weights_of(trainer.relation_model), trainer.state.global_step

    def train_together(processes, *arguments):
        return together(lambda process: train(*arguments), processes)[0]

    expected = train(tmp_path / "whole", 2)
    train_together(before, tmp_path / "parts", 1)
    assert [path.name for path in list_checkpoints(tmp_path / "parts" / CHECKPOINTS)] == ["checkpoint-3"]
    found = train_together(after, tmp_path / "parts", 2, True)
    assert_equal_weights(expected[0], found[0])
    assert found[1] == expected[1] == 6


@pytest.mark.parametrize(("is_joined", "named"), [(True, 4), (False, 2)])
def test_a_loss_that_is_not_finite_in_one_process_stops_all_of_them(steady_encoder, is_joined, named):
    def train(process):
        def broken(logits, *others):
            total = logits.sum() * (torch.inf if process else 1)
            return weighted_mean(total, torch.ones_like(total)) if is_joined else total

        trainer = trainer_of(steady_encoder, docs=4)
        trainer.loss.forward = broken
        with pytest.raises(NotFiniteError) as caught:
            trainer.train()
        return caught.value.step, sorted(caught.value.documents)

    first, second = together(train)
    assert first == second and first[0] == 1 and len(set(first[1])) == named


def test_fewer_documents_in_a_batch_than_processes_are_refused(steady_encoder):
    def make(process):
        with pytest.raises(ValueError, match=r"optimizer\.batch_size"):
            trainer_of(steady_encoder, batch_size=1)

    together(make)


def test_a_run_of_two_processes_is_that_of_one(steady_encoder, tmp_path):
    options = {
        "loss": "label-likelihood",
        "folds": 2,
        "epochs": 1,
        "batch_size": 4,
        "encoder": str(steady_encoder),
    }
    path = config_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), test=tmp_path / "train.json", **options
    )
    lines = []
    one = run(load_config(path))

    def start(process):
        config = load_config(path, {"output": tmp_path / "together"})
        return run(config, log=lines.append), [line for line in lines if line.startswith("calibrated")]

    (first, said), (second, other) = together(start)
    assert first == second == Record.read(tmp_path / "together" / "record.json")
    assert len(said) == 1 and other == []
    assert first.run_id == one.run_id and first.steps == one.steps
    assert first.training["calibration"] == pytest.approx(one.training["calibration"], abs=1e-3)
    assert first.scored.keys() == one.scored.keys() == {"test"}
    expected, found = (load_file(tmp_path / name / "model.safetensors") for name in ("run", "together"))
    assert_equal_weights(
        *({name: value.numpy() for name, value in each.items()} for each in (expected, found))
    )
    assert {file.name for file in (tmp_path / "together").iterdir()} == {
        file.name for file in (tmp_path / "run").iterdir()
    }


@pytest.mark.parametrize("encoder", ["recurrent", "bran"])
def test_processes_start_from_one_encoder_that_is_made_for_the_corpus(tmp_path, encoder):
    config = load_config(config_file(tmp_path, encoder=encoder, embedding=16))
    one = build_model(config, corpus())
    for model in together(lambda process: weights_of(build_model(config, corpus()))):
        assert model.keys() == weights_of(one).keys()
        assert all((model[name] == value).all() for name, value in weights_of(one).items())


FAILING = """
import os
from unnoted.cli.main import app
from unnoted.training import Trainer

learn = Trainer.compute_loss

def fail(self, *arguments, **options):
    if os.environ["RANK"] == "1" and self.state.global_step == 1:
        raise MemoryError("no memory is left")
    return learn(self, *arguments, **options)

Trainer.compute_loss = fail
app()
"""


@pytest.mark.slow
def test_an_error_in_one_process_ends_all_of_them_and_says_in_which(tmp_path):
    script, path = tmp_path / "failing.py", config_file(tmp_path)
    script.write_text(FAILING)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", script, "train", path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode != 0 and "process 1 of 2: MemoryError: no memory is left" in done.stderr
    assert list_checkpoints(tmp_path / "run" / CHECKPOINTS) == []
    assert not RunDirectory(tmp_path / "run").is_busy
