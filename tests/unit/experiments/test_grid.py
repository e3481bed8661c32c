"""Runs in processes of their own: killed, failing, stopped, shared; finished ones stay as they are."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from tests.unit.experiments.factories import address, docred_folder, make_run, without_time, write_data

import unnoted
from unnoted.data import load_documents
from unnoted.experiments import grid
from unnoted.experiments.grid import Scale, level_rule, make_training_file, parse_seeds, run_grid
from unnoted.training import TrainingConfig, run
from unnoted.training.checkpoints import list_checkpoints
from unnoted.training.config import expand_key
from unnoted.training.results import Failure, Record
from unnoted.training.run_directory import RunDirectory

PATIENCE = 300
"""Seconds after which something that does not happen is an error; on a free machine it takes a few."""

EPOCHS = 30
"""Enough for a kill in the middle."""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # the figures are compared with those of this process
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def long_run(data):
    return make_run(data, epochs=EPOCHS)


@pytest.fixture(scope="module")
def uninterrupted(data, tmp_path_factory):
    """The record of the long run that nothing interrupted."""
    output = tmp_path_factory.mktemp("uninterrupted") / "run"
    return run(make_run(data, epochs=EPOCHS, checkpoint_steps=1000, output=output))


def test_a_run_means_the_same_in_every_folder(data, monkeypatch, tmp_path):
    monkeypatch.chdir(data)
    paths = {"train": "train.json", "dev": "test.json", "test": {"a": "test.json"}, "vocabulary": "v.json"}
    paths |= {"rules": "r.txt", "prior_file": "p.json", "teacher": "t", "init_from": "m", "output": "unused"}
    made = {"encoder": "recurrent", "vectors": "w.txt", "tokenizer": "encoder"}
    common = {"loss": "ssr-pu", "epochs": 2, "schedule": {"name": "cosine", "num_cycles": 2}}
    runs = [TrainingConfig.from_keys(common | paths | more) for more in ({"encoder": "encoder"}, made)]
    wanted = [
        {*map(expand_key, (*paths.keys() - {"test"}, *names)), "test.a"}
        for names in (["encoder"], ["vectors", "tokenizer"])
    ]
    for one, keys in zip(runs, wanted, strict=True):
        before, placed = one.flatten(), grid._place(one, tmp_path / "to").flatten()
        assert {key for key, value in before.items() if placed[key] != value} == keys
        assert placed.keys() == before.keys()
        for key in keys:
            assert all(
                Path(each).is_absolute()
                for each in ([placed[key]] if isinstance(placed[key], str) else placed[key])
            )


def until(happened):
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def log(folder):
    return (folder / "log.txt").read_text() if (folder / "log.txt").is_file() else ""


def processes(folder):
    """The ids of the processes that performed a run, in their order."""
    return [int(number) for number in re.findall(r"process (\d+) begins", log(folder))]


def alive(process):
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return bool(status.stdout) and not status.stdout.startswith("Z")


def resumed_at(folder):
    """The steps of the checkpoints at which sessions continued."""
    return [int(step) for step in re.findall(r"continuing at checkpoint-(\d+)", log(folder))]


def state(folder):
    """All files below a folder that tell of work, as they were last written."""
    return {
        path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    }


@pytest.mark.slow
def test_a_failing_run_does_not_stop_the_others_and_nothing_is_repeated(data, tmp_path):
    (tmp_path / "bad.json").write_text("[{}]")
    bad = make_run(data, train=tmp_path / "bad.json")
    good = [make_run(data, epochs=1, seed=seed) for seed in (1, 2)]
    folder = tmp_path / "grid"
    outcomes = run_grid([bad, *good, good[0]], folder, 2)
    assert list(outcomes) == [address(each) for each in (bad, *good)]
    failed = outcomes[address(bad)]
    assert isinstance(failed, Failure) and re.search(r"DataError: .*bad\.json", failed.reason)
    assert "\n" not in failed.reason and "Traceback" in log(folder / address(bad))
    for settings in good:
        here = run(settings.model_copy(update={"output": tmp_path / "here" / address(settings)}))
        record = outcomes[address(settings)]
        assert isinstance(record, Record) and without_time(here) == without_time(record)
        assert not list((folder / address(settings)).rglob("checkpoint*"))
    before = {address(each): state(folder / address(each)) for each in good}
    lines = []
    assert run_grid([bad, *good], folder, 2, lines.append) == outcomes
    assert lines[0] == "3 runs: 2 finished before, 1 to do"
    assert {address(each): state(folder / address(each)) for each in good} == before
    assert len(processes(folder / address(bad))) == 2


@pytest.mark.slow
def test_a_killed_worker_fails_alone_and_its_run_resumes(data, long_run, uninterrupted, tmp_path):
    other = make_run(data, epochs=1)
    folder = tmp_path / address(long_run)

    def kill():
        until(lambda: len(list_checkpoints(folder / "checkpoints")) >= 2)
        os.kill(processes(folder)[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = run_grid([long_run, other], tmp_path)
    killer.join()
    assert "signal 9" in outcomes[address(long_run)].reason
    assert isinstance(outcomes[address(other)], Record)
    last = list_checkpoints(folder / "checkpoints")[-1]
    outcomes = run_grid([long_run, other], tmp_path)
    assert resumed_at(folder) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[address(long_run)]) == without_time(uninterrupted)
    assert len(processes(tmp_path / address(other))) == 1


GRID = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from pathlib import Path
from unnoted.experiments.grid import run_grid
from unnoted.training import TrainingConfig
run_grid([TrainingConfig.model_validate(json.loads(sys.argv[1]))], Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_grid_ends_its_worker_and_resumes(long_run, uninterrupted, tmp_path, how):
    folder = tmp_path / address(long_run)
    process = subprocess.Popen(
        [sys.executable, "-c", GRID, json.dumps(long_run.to_dict()), str(tmp_path)], stderr=subprocess.DEVNULL
    )
    until(lambda: list_checkpoints(folder / "checkpoints"))
    (worker,) = processes(folder)
    process.send_signal(how)
    assert process.wait() == -how
    # A process whose threads are still going holds its lock for a moment longer.
    until(lambda: not alive(worker) and not RunDirectory(folder).is_busy)
    assert RunDirectory(folder).read_record() is None
    last = list_checkpoints(folder / "checkpoints")[-1]
    outcomes = run_grid([long_run], tmp_path)
    assert resumed_at(folder) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[address(long_run)]) == without_time(uninterrupted)


@pytest.mark.slow
def test_two_grids_in_one_folder_share_the_runs(data, tmp_path):
    runs = [make_run(data, epochs=2, seed=seed) for seed in (1, 2)]
    found = {}

    def perform(number):
        found[number] = run_grid(runs, tmp_path)

    threads = [threading.Thread(target=perform, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    for settings in runs:
        assert isinstance(found[0][address(settings)], Record)
        text = log(tmp_path / address(settings))
        assert text.count("scoring test") == 1 and "continuing" not in text


@pytest.mark.slow
def test_runs_on_ray_are_those_of_a_process_here(data, tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'unnoted[ray]'")
    (tmp_path / "bad.json").write_text("[{}]")
    good, bad = make_run(data, epochs=1), make_run(data, train=tmp_path / "bad.json")
    here = run(good.model_copy(update={"output": tmp_path / "here"}))
    lines = []
    outcomes = run_grid([good, bad], tmp_path / "grid", log=lines.append, ray="local")
    assert without_time(outcomes[address(good)]) == without_time(here)
    assert re.search(r"DataError: .*bad\.json", outcomes[address(bad)].reason) and len(lines) == 2
    before = state(tmp_path / "grid" / address(good))
    assert run_grid([good], tmp_path / "grid") == {address(good): outcomes[address(good)]}
    assert state(tmp_path / "grid" / address(good)) == before


@pytest.mark.slow
def test_data_that_changed_meanwhile_are_refused(data, tmp_path, monkeypatch):
    shutil.copy(data / "train.json", tmp_path / "train.json")
    settings = make_run(data, train=tmp_path / "train.json")
    start = grid._start

    def change_first(*arguments):
        (tmp_path / "train.json").write_text("[]")
        return start(*arguments)

    monkeypatch.setattr(grid, "_start", change_first)
    (outcome,) = run_grid([settings], tmp_path / "grid").values()
    assert isinstance(outcome, Failure) and "changed" in outcome.reason


def test_a_run_elsewhere_is_waited_for(data, tmp_path, monkeypatch):
    """Another process performs the run, and gives it up: then it is performed here."""
    settings, lines, started = make_run(data), [], []
    elsewhere = RunDirectory(tmp_path / address(settings)).lock()

    def watch(line):
        lines.append(line)
        if line.startswith("waiting"):
            elsewhere.__exit__(None, None, None)

    def start(*arguments):
        started.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(grid, "_start", start)
    elsewhere.__enter__()
    with pytest.raises(KeyboardInterrupt):
        run_grid([settings], tmp_path, log=watch)
    assert len(started) == 1 and lines[1].startswith("waiting") and lines[-1].startswith("stopped")


def test_no_runs_are_no_trouble(tmp_path):
    assert run_grid([], tmp_path) == {}
    with pytest.raises(ValueError, match="jobs"):
        run_grid([], tmp_path, 0)


LOSSES = """
from unnoted.losses import ATLOP, register_loss


@register_loss("my-own")
class MyOwn(ATLOP):
    pass
"""
SCRIPT = """
import sys
from pathlib import Path
import my_losses  # beside this script
from unnoted.experiments.grid import run_grid
from unnoted.training import TrainingConfig

if __name__ == "__main__":
    data = sys.argv[1]
    settings = TrainingConfig.from_keys({
        "train": f"{data}/train.json", "encoder": f"{data}/encoder", "loss": "my-own", "epochs": 1, "batch_size": 4,
        "embedding": 16, "test": f"{data}/test.json", "output": f"{data}/unused",
    })
    print([type(outcome).__name__ for outcome in run_grid([settings], Path(data) / "grid").values()])
"""


@pytest.mark.slow
def test_a_run_takes_losses_from_the_users_script_and_nothing_from_the_working_directory(data, tmp_path):
    planted = tmp_path / "working"
    planted.mkdir()
    for name in ("yaml", "numpy", "signal", "torch", "typer", "json"):
        text = f"open({str(tmp_path / 'was run')!r}, 'a').write(__file__)\nraise ImportError('planted')\n"
        (planted / f"{name}.py").write_text(text)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "script.py").write_text(SCRIPT)
    (tmp_path / "own" / "my_losses.py").write_text(LOSSES)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(tmp_path / "own" / "script.py"), str(data)],
        cwd=planted, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(unnoted.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "['Record']", done.stderr
    assert not (tmp_path / "was run").exists()


def test_the_first_documents_are_written_once(tmp_path):
    source = docred_folder(tmp_path / "data") / "train_annotated.json"
    made = make_training_file([source], tmp_path / "made", documents=4)
    assert made.documents == 4 and made.after == made.before
    assert load_documents(made.path).documents == load_documents(source).documents[:4]
    before = made.path.stat().st_mtime_ns
    assert make_training_file([source], tmp_path / "made", documents=4) == made
    assert made.path.stat().st_mtime_ns == before
    assert make_training_file([source], tmp_path / "made", documents=3).path != made.path


def test_a_level_hides_labels_and_counts_them(tmp_path):
    source = docred_folder(tmp_path / "data", documents=20) / "train_annotated.json"
    truth = load_documents(source).documents
    made = make_training_file([source], tmp_path, level="extreme")
    kept = load_documents(made.path).documents
    assert made.after == sum(len(document.facts) for document in kept) < made.before
    assert made.before == sum(len(document.facts) for document in truth)
    half = make_training_file([source], tmp_path, level="0.5")
    assert 0.35 < half.after / half.before < 0.65 and half.path != made.path
    with pytest.raises(ValueError, match=r"'extrem'.*'extreme'"):
        level_rule("extrem")


def test_seeds():
    assert parse_seeds("62-66") == (62, 63, 64, 65, 66) == parse_seeds("5")
    assert parse_seeds("66-66") == (66,)
    for wrong in ("", "x", "66-62", "62,62", "62-", "62", "0"):
        with pytest.raises(ValueError, match="seeds: "):
            parse_seeds(wrong)
    with pytest.raises(ValueError, match="--seeds"):
        Scale({"seed": 3})
