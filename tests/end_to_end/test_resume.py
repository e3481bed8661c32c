"""`kill -9` at the worst moments, then `--resume`: the weights of a run that nothing interrupted."""

from pathlib import Path

import pytest
import torch
import typer
from safetensors.torch import load_file
from tests.unit.training.factories import config_file, killed_runs
from typer.testing import CliRunner

from unnoted.cli.train import train

app = typer.Typer()
app.command()(train)

KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
import transformers
from unnoted.training import callbacks, load_config, run
from unnoted.training.trainer import Trainer

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def before(owner, name, unless):
    original = getattr(owner, name)
    def wrapped(*arguments, **options):
        if not unless(*arguments):
            die()
        return original(*arguments, **options)
    setattr(owner, name, wrapped)

seen = []
moments = {
    "amid the batches of one step": lambda: before(
        Trainer, "compute_loss", lambda *a: seen.append(1) or len(seen) < 20),
    "before the first checkpoint": lambda: before(
        Trainer, "compute_loss", lambda *a: seen.append(1) or len(seen) < 4),
    "while a checkpoint is written": lambda: before(
        Trainer, "_save_rng_state", lambda self, target: self.state.global_step < 6),
    "after rotation, before the manifest": lambda: before(
        callbacks, "write_manifest", lambda path: path.name != "checkpoint-9"),
    "while the model is put in its place": lambda: before(
        Path, "replace", lambda self, target: self.parent.name != "model" or self.name != "model.safetensors"),
}
# One child for each moment, so that torch is loaded once.
for config, moment in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    child = os.fork()
    if child == 0:
        moments[moment]()
        try:
            run(load_config(config))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, moment
"""
MOMENTS = {
    "amid the batches of one step": {"checkpoint-6": True, "checkpoint-9": True},
    "before the first checkpoint": {},
    "while a checkpoint is written": {"checkpoint-3": True, "checkpoint-6": False},
    "after rotation, before the manifest": {"checkpoint-6": True, "checkpoint-9": False},
    "while the model is put in its place": {"checkpoint-9": True, "checkpoint-12": True},
}
"""The checkpoints that are left at each, and whether they have a manifest."""

SETTINGS = {
    "documents": 13, "epochs": 3, "gradient_accumulation": 2, "checkpoint_steps": 3, "unlabelled_rate": 0.5,
}  # fmt: skip
"""4 steps an epoch, the last of one batch; checkpoints amid an epoch; dropout and samples draw at random."""


def run(*arguments):
    torch.set_num_threads(1)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    run(config_file(folder, **SETTINGS))
    return load_file(folder / "run" / "model.safetensors")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of a killed run for each moment."""
    folders = {moment: tmp_path_factory.mktemp("killed") for moment in MOMENTS}
    return killed_runs(KILLED, folders, lambda folder: config_file(folder, **SETTINGS))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_is_resumed_to_the_same_weights(killed, uninterrupted, moment):
    parent = killed[moment]
    folder = parent / "run" / "checkpoints"
    found = {path.name: (path / "manifest.json").is_file() for path in folder.glob("checkpoint-*")}
    assert found == MOMENTS[moment]
    assert not (parent / "run" / "record.json").exists()
    run(parent / "config.yaml", "--resume")
    weights = load_file(parent / "run" / "model.safetensors")
    assert weights.keys() == uninterrupted.keys()
    assert all(torch.equal(weights[name], uninterrupted[name]) for name in weights)
    assert {path.name for path in Path(parent, "run").rglob(".*")} <= {".lock"}
    assert not (parent / "run" / "model").exists()
    assert len(list(folder.glob("checkpoint-*"))) == 2
