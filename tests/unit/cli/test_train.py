"""`unnoted train`, as a user types it."""

import re
import subprocess
import sys
from functools import partial

import pytest
import torch
from tests.unit.cli import running
from tests.unit.training.factories import config_file, vocabulary_file

from unnoted.training import load_config
from unnoted.training.callbacks import ProgressBar


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


run = partial(running.run, "train")


def test_train_then_again_then_anew(tmp_path):
    config = config_file(tmp_path, documents=4)
    result = run(config, "--set", "epochs=1", "--set", "seed=3")
    assert "2 steps" in result.stdout and str(tmp_path / "run") in result.stdout
    assert load_config(tmp_path / "run" / "config.yaml").seed == 3
    again = run(config, "--set", "optimizer.epochs=1", "--set", "seed=3")
    assert again.stdout == result.stdout
    refused = run(config, code=1)
    assert refused.stderr.startswith("error: ") and "optimizer.epochs" in refused.stderr
    assert "4 steps" in run(config, "--overwrite").stdout


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["--set", "epoch=1"], "epochs"),
        (["--set", "epochs=x"], "optimizer.epochs"),
        (["--set", "model.encoder=x", "--encoder", "y"], "model.encoder"),
        (["--set", "loss=ssrpu"], "ssr-pu"),
        (["--set", "loss=s-pu", "--set", "margin=1"], "margin"),
        (["--resume", "--overwrite"], "only one"),
        (["--set", "train=absent.json"], "absent.json"),
        (["--set", "prior_multiplier=100000"], "priors"),
        (["--set", "teacher=nowhere"], "nowhere"),
    ],
)
def test_errors_are_one_line_and_leave_no_run(tmp_path, arguments, place):
    config = config_file(tmp_path, documents=4)
    lines = [line for line in run(config, *arguments, code=1).stderr.splitlines() if line]
    assert lines[-1].startswith("error: ") and place in lines[-1]
    assert not (tmp_path / "run" / "run.json").exists()


def test_best_needs_documents_and_an_encoder_only(tmp_path, monkeypatch):
    config_file(tmp_path, documents=6)
    monkeypatch.chdir(tmp_path)
    quick = ["--set", "epochs=1", "--set", "embedding=8", "--threads", 1]
    result = run("best", "--train", "train.json", "--encoder", "encoder", *quick)
    assert (
        "runs/best-train" in result.stdout
        and (tmp_path / "runs" / "best-train" / "model.safetensors").is_file()
    )
    assert "1 thread" in result.stderr and "threshold" in result.stderr


def test_a_teacher_and_a_model_to_start_from(tmp_path):
    config = config_file(tmp_path, documents=4, vocabulary=vocabulary_file(tmp_path), epochs=1)
    run(config, "--output", tmp_path / "teacher")
    run(config, "--output", tmp_path / "student", "--set", f"teacher={tmp_path / 'teacher'}")
    assert str(tmp_path / "student") in run(config, "--set", f"init_from={tmp_path / 'student'}").stderr


def test_ctrl_c_says_how_to_continue(tmp_path, monkeypatch):
    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    config = config_file(tmp_path, documents=4)
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "on_step_end", interrupted)
        stderr = run(config, code=130).stderr
    assert "--resume" in stderr.splitlines()[-1] and "Traceback" not in stderr
    assert "4 steps" in run(config, "--resume").stdout


def test_training_draws_one_bar_and_no_warnings(tmp_path):
    config = config_file(tmp_path, documents=4, head_learning_rate=1e-4)
    command = [sys.executable, "-m", "unnoted", "train", str(config), "--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in re.split(r"[\r\n]+", done.stderr) if line]
    others = [line for line in lines if not line.startswith("training: ")]
    assert len(others) == 1 and others[0].startswith("1 thread")
