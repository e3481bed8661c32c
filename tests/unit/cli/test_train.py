"""`unnoted train`, as a user types it."""

import re
import subprocess
import sys

import pytest
import torch
import typer
from tests.unit.training.making import settings_file, vocabulary_file
from typer.testing import CliRunner

from unnoted.cli.train import train
from unnoted.training import load_settings
from unnoted.training.progress import Progress

app = typer.Typer()
app.command()(train)


@pytest.fixture(autouse=True)
def one_thread_and_own_cache(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setenv("UNNOTED_CACHE", str(tmp_path / "cache"))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_train_then_again_then_anew(tmp_path):
    config = settings_file(tmp_path, documents=4)
    result = run(config, "--set", "epochs=1", "--set", "seed=3")
    assert result.stdout.startswith("trained for 2 steps, loss ")
    assert result.stdout.rstrip().endswith(f"the model is in {tmp_path / 'run'}")
    assert "seed: 3" in (tmp_path / "run" / "settings.yaml").read_text()
    again = run(config, "--set", "epochs=1", "--set", "seed=3")
    assert again.stdout == result.stdout and "this run is finished; nothing to do" in again.stderr
    refused = run(config, code=1)
    assert "error: " in refused.stderr and "another run (epochs 1, not 2; seed 3, not 62)" in refused.stderr
    assert run(config, "--overwrite").stdout.startswith("trained for 4 steps")


def test_errors_are_one_line(tmp_path):
    config = settings_file(tmp_path, documents=4)
    cases = [
        (["--set", "epoch=1"], "error: unknown key 'epoch' (nearest: 'epochs')\n"),
        (["--set", "epochs=x"], "error: epochs: found 'x', expected a valid integer"),
        (
            ["--set", "epochs=2", "--epochs", 3],
            "error: epochs: found both --epochs and --set, expected one of them\n",
        ),
        (["--loss", "ssrpu"], "error: unknown loss 'ssrpu', expected one of "),
        (
            ["--loss", "s-pu", "--set", "margin=1"],
            "error: margin: found 1, expected none: the loss 's-pu' does not use it\n",
        ),
        (["--resume", "--overwrite"], "error: found both resume and overwrite, expected one of them\n"),
        (["--set", "train=absent.json"], "error: absent.json: found no readable file"),
        (
            ["--set", f"encoder={tmp_path}"],
            f"error: encoder folder '{tmp_path}': found no usable config.json",
        ),
        (["--set", "prior_multiplier=100000"], "error: priors: relation "),
    ]
    for arguments, expected in cases:
        lines = [line for line in run(config, *arguments, code=1).stderr.splitlines() if line]
        assert lines[-1].startswith(expected.rstrip("\n"))
    assert "found no readable file" in run(tmp_path / "absent.yaml", code=1).stderr
    assert "unknown config 'smal' (nearest: 'small')" in run("smal", code=1).stderr
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_teacher_and_a_model_to_start_from(tmp_path):
    config = settings_file(tmp_path, documents=4, vocabulary=vocabulary_file(tmp_path), epochs=1)
    run(config, "--output", tmp_path / "teacher")
    run(config, "--output", tmp_path / "student", "--teacher", tmp_path / "teacher")
    result = run(config, "--init-from", tmp_path / "student")
    assert result.stdout.startswith("trained for 2 steps")
    assert "starting from the weights of" in result.stderr


def test_a_config_by_name_with_options(tmp_path):
    settings_file(tmp_path, documents=4)
    own = [
        "--train", tmp_path / "train.json", "--encoder", tmp_path / "encoder", "--encoder-layers", 1,
        "--epochs", 1, "--seed", 3, "--output", tmp_path / "own", "--set", "embedding=8", "--set", "block=4",
    ]  # fmt: skip
    assert run("small", *own).stdout.rstrip().endswith(f"the model is in {tmp_path / 'own'}")
    settings = load_settings(tmp_path / "own" / "settings.yaml")
    assert (settings.epochs, settings.seed, settings.encoder_layers) == (1, 3, 1)
    assert (settings.loss, settings.prior_multiplier) == ("ssr-pu", 3)
    told = run("small", *own, "--loss", "atlop", "--overwrite").stderr
    assert "note: small: prior_multiplier 3 is left out: the loss 'atlop' does not use it" in told
    refused = run("small", *own, "--loss", "atlop", "--prior-multiplier", 2, code=1).stderr
    assert "error: prior_multiplier: found 2.0, expected none: the loss 'atlop' does not use it" in refused


def test_ctrl_c_says_how_to_continue(tmp_path, monkeypatch):
    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    config = settings_file(tmp_path, documents=4)
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "on_step_end", interrupted)
        told = run(config, code=130).stderr
    assert told.splitlines()[-1] == (
        "interrupted; the same command with --resume continues from the last checkpoint"
    )
    assert "Traceback" not in told
    assert run(config, "--resume").stdout.startswith("trained for 4 steps")


def test_training_draws_one_bar_and_no_warnings(tmp_path):
    config = settings_file(tmp_path, documents=4, head_learning_rate=1e-4)
    command = [sys.executable, "-m", "unnoted", "train", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in re.split(r"[\r\n]+", done.stderr) if line]
    assert [line for line in lines if not line.startswith("training: ")] == []


def test_torch_is_loaded_only_when_it_is_needed():
    code = "import sys, unnoted.cli.train; sys.exit(any(n in sys.modules for n in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
