"""Runs as Ray tasks: the same records as on one machine."""

import sys
import time
from importlib.util import find_spec

import pytest
import torch
from tests.unit.experiments.making_runs import make_run, without_time, write_data

from unnoted.experiments.grid import run_grid
from unnoted.experiments.perform import perform
from unnoted.experiments.place import Place
from unnoted.experiments.pools import Ending
from unnoted.experiments.ray_pool import RayPool, _perform
from unnoted.training.record import Failure

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed (pip install 'unnoted[ray]')"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    """A local Ray with room for two runs."""
    import ray

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # on a busy machine, Ray's 15 is next to nothing
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
        yield ray
        ray.shutdown()


@pytest.mark.slow  # starting Ray takes longer than the runs
@needs_ray
def test_the_records_are_the_same(two_workers, data, tmp_path):
    (tmp_path / "bad.json").write_text("[{}]")
    bad = make_run(data, train=tmp_path / "bad.json")
    runs = [make_run(data, epochs=1, seed=seed) for seed in (1, 2)]
    told = []
    outcomes = run_grid([*runs, bad], tmp_path / "grid", RayPool(), told.append)
    for run in runs:
        assert without_time(outcomes[run.address]) == without_time(perform(run, tmp_path / "here"))
    assert isinstance(outcomes[bad.address], Failure) and "DataError" in outcomes[bad.address].reason
    assert [line.split(":")[0] for line in told[1:3]] == ["begun", "begun"]  # two at a time
    assert two_workers.is_initialized()  # who connected disconnects


@pytest.mark.slow  # starting Ray takes longer than the runs
@needs_ray
def test_stopping_ends_the_processes(two_workers, data, tmp_path):
    run = make_run(data, epochs=500)
    place = Place(tmp_path, run.address)
    events = RayPool().perform([run], tmp_path)
    next(events)
    end = time.monotonic() + 300
    while not place.busy:
        assert time.monotonic() < end
        time.sleep(0.02)
    events.close()
    while place.busy:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_folder_that_is_not_shared_is_named(tmp_path):
    ending = _perform(str(tmp_path / "0123" / "run.json"), 1)
    assert isinstance(ending, Ending) and ending.code == 1
    assert "run.json: found no such file on" in ending.said and "expected a shared folder" in ending.said


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ValueError, match=r"ray: found no such package, expected it: pip install 'unnoted\[ray\]'"
    ):
        RayPool()
