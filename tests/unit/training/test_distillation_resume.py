"""`kill -9` in either of two stages, and between them: `resume` comes to the weights of an uninterrupted run."""

import json

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.training.making import killed_runs, two_stages_file

from unnoted.training import Teacher, load_settings
from unnoted.training.run import run as train

KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
import unnoted.training.run
from unnoted.training import load_settings, run as train
from unnoted.training.trainer import Trainer

def before(owner, name, unless):
    original = getattr(owner, name)
    def wrapped(*arguments, **options):
        if not unless(*arguments):
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)
    setattr(owner, name, wrapped)

seen = []
moments = {
    "in the first stage": lambda: before(
        Trainer, "compute_loss", lambda *a: seen.append(1) or len(seen) < 4),
    "as the first stage ends": lambda: before(
        sys.modules["unnoted.training.run"], "write_json", lambda path, content: path.name != "training.json"),
    "before the second stage": lambda: before(
        Trainer, "train", lambda self, resume=False: "distillation" in str(self.folder)),
    "in the second stage": lambda: before(
        Trainer, "compute_loss", lambda *a: seen.append(1) or len(seen) < 9),
}
# One child for each moment, so that torch is loaded once.
for config, moment in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    child = os.fork()
    if child == 0:
        os.environ["UNNOTED_CACHE"] = str(Path(config).parent / "cache")
        moments[moment]()
        try:
            train(load_settings(config))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, moment
"""
MOMENTS = {
    "in the first stage": (["checkpoint-2"], []),
    "as the first stage ends": (["checkpoint-2", "checkpoint-4"], []),
    "before the second stage": (["checkpoint-2", "checkpoint-4"], []),
    "in the second stage": (["checkpoint-2", "checkpoint-4"], ["checkpoint-3"]),
}
"""The checkpoints of each stage that are left at each."""

SETTINGS = {
    "documents": 6, "distant": 4, "epochs": 2, "unlabelled_share": 0.5, "log_steps": 1,
    "distillation": "{unlabelled_share: 0.7, seed: 7, weight: 0.5}",
}  # fmt: skip
"""4 steps, then 6; in both dropout and samples draw at random."""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("uninterrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(folder / "cache"))
        train(load_settings(two_stages_file(folder, **SETTINGS)))
    return folder / "run"


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of a killed run for each moment."""
    folders = {moment: tmp_path_factory.mktemp("killed") for moment in MOMENTS}
    return killed_runs(KILLED, folders, lambda folder: two_stages_file(folder, **SETTINGS))


def told(run):
    """What a run says of both stages, but for how long its sessions took."""
    summary = json.loads((run / "record.json").read_text())["training"]
    for stage in (summary, summary["distillation"]):
        del stage["seconds_of_last_session"]
    return summary


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_is_resumed_to_the_same_weights(monkeypatch, killed, uninterrupted, moment):
    parent = killed[moment]
    monkeypatch.setenv("UNNOTED_CACHE", str(parent / "cache"))
    run = parent / "run"
    for folder, expected in zip(("distillation/checkpoints", "checkpoints"), MOMENTS[moment], strict=True):
        found = (run / folder).iterdir() if (run / folder).exists() else ()
        assert sorted(path.name for path in found) == expected
    assert not (run / "record.json").exists()
    if MOMENTS[moment][1]:
        monkeypatch.setattr(Teacher, "from_folder", None)  # not needed any more
    assert train(load_settings(parent / "settings.yaml"), resume=True).steps == 10
    weights, expected = (load_file(folder / "model.safetensors") for folder in (run, uninterrupted))
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], expected[name]) for name in weights)
    assert told(run) == told(uninterrupted)
    assert {path.name for path in run.rglob(".*")} == {".lock"}
