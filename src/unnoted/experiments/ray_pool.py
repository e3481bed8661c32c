"""Runs as Ray tasks, on one machine or on a cluster."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unnoted.experiments.place import Place
from unnoted.experiments.pools import Ending, Events, Job, WorkerProcess, scheduled
from unnoted.experiments.runs import Run
from unnoted.training.checkpoints import one_line


class RayPool:
    """Performs runs as Ray tasks, as many at a time as the cluster has room for.

    The folder of the grid, the data and the encoder must have the same paths on every machine, and `unnoted`
    be installed there. Where the cluster has GPUs, each run gets one. A run whose machine is lost is gone on
    with elsewhere.

    Args:
        address: of a cluster, e.g. `auto` or `ray://host:10001`; None takes the one that is connected to, or
            that RAY_ADDRESS names, or starts Ray on this machine until the runs are done.
        processors: that each run takes.

    Raises:
        ValueError: Ray is not installed.
    """

    def __init__(self, address: str | None = None, processors: int = 1) -> None:
        self._ray = _installed_ray()
        self.address = address
        self.processors = processors

    def perform(self, runs: Sequence[Run], folder: Path) -> Events:
        """Perform runs; see `Pool`."""
        ray = self._ray
        ours = not ray.is_initialized()
        if ours:
            self._connect()
        try:
            gpus = 1 if ray.cluster_resources().get("GPU") else 0
            task = ray.remote(num_cpus=self.processors, num_gpus=gpus)(_perform)

            def slots() -> int:
                resources = ray.cluster_resources()
                room = resources.get("CPU", 0) // self.processors
                return max(1, int(min(room, resources.get("GPU", 0)) if gpus else room))

            def start(place: Place) -> Job:
                return _RayJob(ray, task.remote(str(place.specification.absolute()), self.processors))

            yield from scheduled(runs, folder, slots, start)
        finally:
            if ours:
                ray.shutdown()

    def _connect(self) -> None:
        # Ray reports its use to its makers, and lets all other work of the machine go before its own, unless
        # it is told not to.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_worker_niceness", "0")
        local: dict[str, Any] = {"include_dashboard": False} if self.address is None else {}
        try:
            self._ray.init(address=self.address, log_to_driver=False, logging_level="WARNING", **local)
        except (ConnectionError, ValueError) as error:
            found = f"found no Ray that answers at {self.address or 'this machine'} ({one_line(error)})"
            raise ValueError(f"--ray: {found}") from error


class _RayJob:
    """A run under way as a Ray task."""

    def __init__(self, ray: Any, reference: Any) -> None:  # noqa: ANN401  Ray is optional, and has no types
        self._ray = ray
        self._reference = reference

    def ending(self) -> Ending | None:
        """How it ended; None while it has not."""
        done, _ = self._ray.wait([self._reference], timeout=0)
        if not done:
            return None
        try:
            ending: Ending = self._ray.get(self._reference)
        except self._ray.exceptions.RayError as error:
            return Ending(1, f"Ray lost it ({type(error).__name__}: {one_line(error)})")
        return ending

    def stop(self) -> None:
        """End it now: the process of the run ends with the process of the task."""
        self._ray.cancel(self._reference, force=True)


def _perform(specification: str, threads: int) -> Ending:
    """The task: the same process of its own as on one machine."""
    file = Path(specification)
    if not file.is_file():
        return Ending(1, f"{file}: found no such file on {socket.gethostname()}, expected a shared folder")
    return WorkerProcess(Place(file.parent.parent, file.parent.name), threads).wait()


def _installed_ray() -> Any:  # noqa: ANN401  Ray is optional, and has no types
    try:
        import ray
    except ImportError:
        raise ValueError("ray: found no such package, expected it: pip install 'unnoted[ray]'") from None
    return ray
