"""Runs in processes of their own: killed, failing, stopped, shared; finished ones stay as they are."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch
from tests.unit.experiments.making_runs import make_run, without_time, write_data

from unnoted.experiments.grid import run_grid
from unnoted.experiments.perform import perform
from unnoted.experiments.place import Place
from unnoted.experiments.pools import Ended, LocalPool, Started
from unnoted.training.checkpoints import checkpoints
from unnoted.training.record import Failure, Record

PATIENCE = 300
"""Seconds after which something that does not happen is an error; on a free machine it takes a few."""

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
    run = make_run(data, epochs=EPOCHS, checkpoint_steps=1000)
    return perform(run, tmp_path_factory.mktemp("uninterrupted"))


def until(happened):
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def processes(place):
    """The ids of the processes that were at a run, in their order."""
    text = place.log.read_text() if place.log.is_file() else ""
    return [int(number) for number in re.findall(r"process (\d+) begins", text)]


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that is gone, and that nobody asked for yet, still has its number.
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return not status.stdout.startswith("Z") and bool(status.stdout)


def resumed_at(place):
    """The steps of the checkpoints at which sessions went on."""
    return [int(step) for step in re.findall(r"going on at checkpoint-(\d+)", place.log.read_text())]


def state(folder):
    """All files below a folder that tell of work, as they were last written."""
    return {
        path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    }


def test_a_failing_run_does_not_stop_the_others_and_nothing_is_repeated(data, tmp_path):
    (tmp_path / "bad.json").write_text("[{}]")
    bad = make_run(data, train=tmp_path / "bad.json")
    good = [make_run(data, epochs=1, seed=seed) for seed in (1, 2)]
    grid = tmp_path / "grid"
    outcomes = run_grid([bad, *good], grid, LocalPool(2))
    assert isinstance(outcomes[bad.address], Failure)
    assert re.match(r"DataError: .*bad\.json", outcomes[bad.address].reason)
    assert "Traceback" in (grid / bad.address / "failed.txt").read_text()
    assert all(isinstance(outcomes[run.address], Record) for run in good)
    for run in good:
        here = perform(run, tmp_path / "here")
        assert without_time(here) == without_time(outcomes[run.address])
    before = {run.address: state(grid / run.address) for run in good}
    told = []
    assert run_grid([bad, *good], grid, LocalPool(2), told.append) == outcomes
    assert told[0] == "3 runs: 2 finished before, 1 to do"
    assert {run.address: state(grid / run.address) for run in good} == before
    assert len(processes(Place(grid, bad.address))) == 2


def test_a_killed_worker_fails_alone_and_its_run_resumes(data, long_run, uninterrupted, tmp_path):
    other = make_run(data, epochs=1)
    place = Place(tmp_path, long_run.address)

    def kill():
        until(lambda: len(checkpoints(place.model / "checkpoints")) >= 2)
        os.kill(processes(place)[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = run_grid([long_run, other], tmp_path, LocalPool(1))
    killer.join()
    assert "was killed" in outcomes[long_run.address].reason
    assert isinstance(outcomes[other.address], Record)
    last = checkpoints(place.model / "checkpoints")[-1]
    outcomes = run_grid([long_run, other], tmp_path, LocalPool(1))
    assert resumed_at(place) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[long_run.address]) == without_time(uninterrupted)
    assert len(processes(Place(tmp_path, other.address))) == 1


GRID = """
import json, sys
from pathlib import Path
from unnoted.experiments.grid import run_grid
from unnoted.experiments.pools import LocalPool
from unnoted.experiments.runs import Run
LocalPool.threads = 1
run_grid([Run.from_json(json.loads(sys.argv[1]))], Path(sys.argv[2]), LocalPool(1))
"""


def test_a_killed_grid_takes_its_worker_along_and_resumes(long_run, uninterrupted, tmp_path):
    place = Place(tmp_path, long_run.address)
    grid = subprocess.Popen([sys.executable, "-c", GRID, json.dumps(long_run.to_json()), str(tmp_path)])
    until(lambda: checkpoints(place.model / "checkpoints"))
    (worker,) = processes(place)
    grid.kill()
    assert grid.wait() == -signal.SIGKILL
    # A process whose threads are still going holds its lock for a moment longer.
    until(lambda: not alive(worker) and not place.busy)
    assert place.record() is None
    last = checkpoints(place.model / "checkpoints")[-1]
    outcomes = run_grid([long_run], tmp_path, LocalPool(1))
    assert resumed_at(place) == [int(last.name.removeprefix("checkpoint-"))]
    assert without_time(outcomes[long_run.address]) == without_time(uninterrupted)


def test_an_interrupted_grid_stops_its_worker(long_run, tmp_path):
    place = Place(tmp_path, long_run.address)
    events = LocalPool(1).perform([long_run], tmp_path)
    assert next(events) == Started(long_run)
    until(lambda: processes(place))
    events.close()
    assert not alive(processes(place)[0]) and not place.busy


def test_two_grids_in_one_folder_share_the_runs(data, tmp_path):
    runs = [make_run(data, epochs=2, seed=seed) for seed in (1, 2)]
    found = {}

    def grid(number):
        events = LocalPool(1).perform(runs, tmp_path)
        found[number] = {event.run.address: event.outcome for event in events if isinstance(event, Ended)}

    grids = [threading.Thread(target=grid, args=(number,)) for number in range(2)]
    for thread in grids:
        thread.start()
    for thread in grids:
        thread.join()
    assert found[0] == found[1]
    for run in runs:
        assert isinstance(found[0][run.address], Record)
        log = Place(tmp_path, run.address).log.read_text()
        assert log.count("scoring test") == 1 and "going on" not in log
