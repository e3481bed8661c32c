"""Runs as Ray tasks: the same records as on one machine."""

import sys
import time
from importlib.util import find_spec

import pytest
import torch
from tests.unit.experiments.making_runs import address, make_run, without_time, write_data

from unnoted.experiments.grid import run_grid
from unnoted.experiments.pools import RayPool
from unnoted.training import run
from unnoted.training.record import Failure
from unnoted.training.run_folder import RunFolder

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
    for settings in runs:
        here = run(settings.model_copy(update={"output": tmp_path / address(settings)}))
        assert without_time(outcomes[address(settings)]) == without_time(here)
    assert isinstance(outcomes[address(bad)], Failure) and "DataError" in outcomes[address(bad)].reason
    assert [line.split(":")[0] for line in told[1:3]] == ["begun", "begun"]  # two at a time
    assert two_workers.is_initialized()  # who connected disconnects


@pytest.mark.slow  # starting Ray takes longer than the runs
@needs_ray
def test_stopping_ends_the_processes(two_workers, data, tmp_path):
    settings = make_run(data, epochs=500)
    settings = settings.model_copy(update={"output": tmp_path / address(settings)})
    folder = RunFolder(settings.output)
    end = time.monotonic() + 300
    with RayPool() as pool:
        pool.submit(settings)
        while not folder.busy:
            assert time.monotonic() < end
            time.sleep(0.02)
    while folder.busy:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ValueError, match=r"ray: found no such package, expected it: pip install 'unnoted\[ray\]'"
    ):
        RayPool()
