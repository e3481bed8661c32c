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

import pytest
import torch
from tests.unit.experiments.making_runs import address, make_run, without_time, write_data

from unnoted.experiments import pools
from unnoted.experiments.grid import run_grid
from unnoted.experiments.pools import LocalPool
from unnoted.training import run
from unnoted.training.checkpoints import checkpoints
from unnoted.training.record import Failure, Record
from unnoted.training.run_folder import RunFolder

PATIENCE = 300
"""Seconds after which something that does not happen is an error; on a free machine it takes a few."""

THREADS = LocalPool.threads

EPOCHS = 30
"""Enough for a kill in the middle."""


@pytest.fixture(scope="module", autouse=True)
def one_thread_and_own_cache(tmp_path_factory):
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(tmp_path_factory.mktemp("cache")))
        # The figures are held against those of this process.
        patch.setattr(LocalPool, "threads", 1)
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


def until(happened):
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def log(folder):
    return (folder / "log.txt").read_text() if (folder / "log.txt").is_file() else ""


def processes(folder):
    """The ids of the processes that were at a run, in their order."""
    return [int(number) for number in re.findall(r"process (\d+) begins", log(folder))]


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that is gone, and that nobody asked for yet, still has its number.
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return not status.stdout.startswith("Z") and bool(status.stdout)


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
    grid = tmp_path / "grid"
    outcomes = run_grid([bad, *good], grid, LocalPool(2))
    failed = outcomes[address(bad)]
    assert isinstance(failed, Failure) and re.match(r"DataError: .*bad\.json", failed.reason)
    assert "\n" not in failed.reason and "Traceback" in log(grid / address(bad))
    for settings in good:
        here = run(settings.model_copy(update={"output": tmp_path / "here" / address(settings)}))
        record = outcomes[address(settings)]
        assert isinstance(record, Record) and without_time(here) == without_time(record)
        assert not list((grid / address(settings)).rglob("checkpoint*"))
    before = {address(each): state(grid / address(each)) for each in good}
    told = []
    assert run_grid([bad, *good], grid, LocalPool(2), told.append) == outcomes
    assert told[0] == "3 runs: 2 finished before, 1 to do"
    assert {address(each): state(grid / address(each)) for each in good} == before
    assert len(processes(grid / address(bad))) == 2


@pytest.mark.slow
def test_a_killed_worker_fails_alone_and_its_run_resumes(data, long_run, uninterrupted, tmp_path):
    other = make_run(data, epochs=1)
    folder = tmp_path / address(long_run)

    def kill():
        until(lambda: len(checkpoints(folder / "checkpoints")) >= 2)
        os.kill(processes(folder)[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = run_grid([long_run, other], tmp_path, LocalPool(1))
    killer.join()
    assert "was killed" in outcomes[address(long_run)].reason
    assert isinstance(outcomes[address(other)], Record)
    last = checkpoints(folder / "checkpoints")[-1]
    outcomes = run_grid([long_run, other], tmp_path, LocalPool(1))
    assert resumed_at(folder) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[address(long_run)]) == without_time(uninterrupted)
    assert len(processes(tmp_path / address(other))) == 1


GRID = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from pathlib import Path
from unnoted.experiments.grid import run_grid
from unnoted.experiments.pools import LocalPool
from unnoted.training import Settings
LocalPool.threads = 1
run_grid([Settings.model_validate(json.loads(sys.argv[1]))], Path(sys.argv[2]), LocalPool(1))
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_grid_takes_its_worker_along_and_resumes(long_run, uninterrupted, tmp_path, how):
    folder = tmp_path / address(long_run)
    grid = subprocess.Popen(
        [sys.executable, "-c", GRID, json.dumps(long_run.to_json()), str(tmp_path)], stderr=subprocess.DEVNULL
    )
    until(lambda: checkpoints(folder / "checkpoints"))
    (worker,) = processes(folder)
    grid.send_signal(how)
    assert grid.wait() == -how
    # A process whose threads are still going holds its lock for a moment longer.
    until(lambda: not alive(worker) and not RunFolder(folder).busy)
    assert RunFolder(folder).record() is None
    last = checkpoints(folder / "checkpoints")[-1]
    outcomes = run_grid([long_run], tmp_path, LocalPool(1))
    assert resumed_at(folder) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[address(long_run)]) == without_time(uninterrupted)


def test_an_interrupted_grid_stops_its_worker(long_run, tmp_path):
    output = tmp_path / address(long_run)
    with LocalPool(1) as pool:
        future = pool.submit(long_run.model_copy(update={"output": output}))
        until(lambda: processes(output))
    assert not alive(processes(output)[0]) and not RunFolder(output).busy
    assert isinstance(future.result(), Failure)


@pytest.mark.slow
def test_two_grids_in_one_folder_share_the_runs(data, tmp_path):
    runs = [make_run(data, epochs=2, seed=seed) for seed in (1, 2)]
    found = {}

    def grid(number):
        found[number] = run_grid(runs, tmp_path, LocalPool(1))

    grids = [threading.Thread(target=grid, args=(number,)) for number in range(2)]
    for thread in grids:
        thread.start()
    for thread in grids:
        thread.join()
    assert found[0] == found[1]
    for settings in runs:
        assert isinstance(found[0][address(settings)], Record)
        text = log(tmp_path / address(settings))
        assert text.count("scoring test") == 1 and "continuing" not in text


def test_data_that_changed_meanwhile_are_refused(data, tmp_path):
    shutil.copy(data / "train.json", tmp_path / "train.json")
    settings = make_run(data, train=tmp_path / "train.json")
    output = tmp_path / address(settings)
    (tmp_path / "train.json").write_text("[]")
    with LocalPool() as pool:
        outcome = pool.submit(settings.model_copy(update={"output": output})).result()
    assert "changed since the grid began" in outcome.reason


def test_a_folder_that_is_not_shared_is_named(data, tmp_path):
    outcome = pools.perform(make_run(data, output=tmp_path / "absent" / "0123"))
    assert "absent: found no such folder on" in outcome.reason and "expected a shared one" in outcome.reason


def test_threads_are_shared_out(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(pools, "_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [THREADS.fget(LocalPool(jobs)) for jobs in (1, 2, 3, 8, 9)] == [8, 4, 2, 1, 1]
    with pytest.raises(ValueError, match="jobs: found 0, expected 1 or more"):
        LocalPool(0)


@pytest.mark.parametrize(
    ("asked", "threads"), [("1", [1, 1]), ("3", [3, 2]), ("16", [8, 2]), ("4,2", [8, 2]), ("", [8, 2])]
)
def test_no_run_has_more_threads_than_were_asked_for(monkeypatch, asked, threads):
    monkeypatch.setattr(pools, "_cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert [THREADS.fget(LocalPool(jobs)) for jobs in (1, 4)] == threads


def test_each_run_sees_one_gpu_of_those_that_may_be_seen(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    assert pools.visible_gpus() == ["2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert pools.visible_gpus() == []


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (-9, "its process was killed (signal 9: perhaps memory ran out)"),
        (-11, "its process ended by signal 11"),
        (1, "its process ended with code 1"),
    ],
)
def test_a_process_that_left_no_reason(code, reason):
    assert pools._described(code) == reason
