"""Where the runs of a grid are performed: processes on this machine, or tasks of a Ray cluster."""

import multiprocessing
import os
import shutil
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any

import torch

from unnoted.experiments.grid import Outcome
from unnoted.training.fingerprint import fingerprint
from unnoted.training.record import Failure
from unnoted.training.run import run
from unnoted.training.run_folder import LOG, Busy
from unnoted.training.settings import Settings
from unnoted.training.trainer import CHECKPOINTS
from unnoted.utils import one_line

_STARTING = threading.Lock()
"""Held while a process is started: it inherits the environment, which all pools of this process share."""


SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps Python from putting the working folder first on its path, where a `yaml.py` that lies there would be
taken for the library. The folder of a user's own script stays."""


def perform(settings: Settings) -> Outcome | None:
    """Perform a run in a process that does nothing else: what it prints goes to the run's log.

    Its checkpoints are removed at the end. It returns None if another process is at the run.
    """
    folder = settings.output
    if not folder.parent.is_dir():
        host = socket.gethostname()
        return Failure(folder.name, f"{folder.parent}: found no such folder on {host}, expected a shared one")
    folder.mkdir(exist_ok=True)
    with (folder / LOG).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    _say(f"process {os.getpid()} begins")
    try:
        if fingerprint(settings).address != folder.name:
            raise ValueError(f"{folder}: found data or an encoder that changed since the grid began")
        record = run(settings, resume=True, tell=_say)
        for unneeded in list(folder.rglob(CHECKPOINTS)):
            shutil.rmtree(unneeded, ignore_errors=True)
        return record
    except Busy as busy:
        _say(str(busy))
        return None
    except Exception as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {one_line(error)}" if str(error) else type(error).__name__
        return Failure(folder.name, reason)


def _say(line: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}", file=sys.stderr, flush=True)


class LocalPool:
    """Performs so many runs at a time on this machine, each in a process with a share of the cores.

    Where there are several GPUs, each run sees one of them. The processes end with this one, however it ends.

    Example:
        >>> LocalPool(jobs=10_000).threads
        1
    """

    def __init__(self, jobs: int = 1) -> None:
        if jobs < 1:
            raise ValueError(f"jobs: found {jobs}, expected 1 or more")
        self.room = jobs
        self._processes: set[SpawnProcess] = set()

    @property
    def threads(self) -> int:
        """Of each run: its share of the cores, or fewer if OMP_NUM_THREADS says so."""
        asked = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(_cores() // self.room, int(asked) if asked.isdecimal() else sys.maxsize))

    def __enter__(self) -> "LocalPool":
        devices = visible_gpus()
        self._devices: SimpleQueue[str | None] = SimpleQueue()
        for slot in range(self.room):
            self._devices.put(devices[slot % len(devices)] if devices else None)
        self._waiters = ThreadPoolExecutor(self.room)
        self._over = False
        return self

    def __exit__(self, *error: object) -> None:
        with _STARTING:
            self._over = True
            for process in self._processes:
                process.kill()  # what it wrote is whole
        self._waiters.shutdown(cancel_futures=True)

    def submit(self, settings: Settings) -> Future[Outcome | None]:
        """Begin a run; see `Pool`."""
        return self._waiters.submit(self._in_process, settings)

    def _in_process(self, settings: Settings) -> Outcome | None:
        # Spawned, because a fork would share the threads' locks of torch; and so that what a user's script
        # registers is registered there too.
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_child, args=(settings, sender))
        device = self._devices.get()
        share = {"OMP_NUM_THREADS": str(self.threads), "RAYON_NUM_THREADS": str(self.threads)}
        if device is not None:
            share["CUDA_VISIBLE_DEVICES"] = device
        try:
            with _STARTING, _environment(share | SAFE_PATH), _without_working_folder():
                if self._over:
                    return None
                process.start()
                self._processes.add(process)
            sender.close()
            outcome: Outcome | None = receiver.recv()
            process.join()
            return outcome
        except EOFError:
            process.join()
            what = f"{_described(process.exitcode)}; see {settings.output / LOG}"
            return Failure(settings.output.name, what)
        finally:
            self._processes.discard(process)
            self._devices.put(device)


def _child(settings: Settings, sender: "Connection[Outcome | None, Any]") -> None:
    def end_with_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)  # at once, as a kill would: all that a run writes is whole at any moment

    # Ctrl-C in a terminal reaches all processes there; this one is ended by its parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    sender.send(perform(settings))


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Change the environment while a process is started, which inherits it before it loads any library."""
    before = {key: os.environ[key] for key in changes if key in os.environ}
    os.environ.update(changes)
    try:
        yield
    finally:
        for key in changes:
            del os.environ[key]
        os.environ.update(before)


@contextmanager
def _without_working_folder() -> Iterator[None]:
    """Take the working folder off the path while a process is started, which takes the path over.

    It is there under the empty name where Python runs no file: `python -c`, a notebook.
    """
    before = sys.path
    sys.path = [entry for entry in before if entry]
    try:
        yield
    finally:
        sys.path = before


def _described(code: int | None) -> str:
    if code == -signal.SIGKILL:
        return "its process was killed (signal 9: perhaps memory ran out)"
    return f"its process ended {f'by signal {-code}' if code and code < 0 else f'with code {code}'}"


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, by what CUDA_VISIBLE_DEVICES calls them."""
    every = ",".join(map(str, range(torch.cuda.device_count())))
    return [device for device in os.environ.get("CUDA_VISIBLE_DEVICES", every).split(",") if device.strip()]


class RayPool:
    """Performs runs as Ray tasks, as many at a time as the cluster has room for.

    The folder of the grid, the data and the encoder must have the same paths on every machine, and `unnoted`
    be installed there. Where the cluster has GPUs, each run gets one. Without an address, such as `auto` or
    `ray://host:10001`, it is the cluster that is connected to, or that RAY_ADDRESS names, or Ray is started
    on this machine until the runs are done.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise ValueError("ray: found no such package, expected it: pip install 'unnoted[ray]'") from None
        self._ray: Any = ray  # it is optional, and has no types
        self.address = address

    def __enter__(self) -> "RayPool":
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect()
        self._scarce = "GPU" if self._ray.cluster_resources().get("GPU") else "CPU"
        gpus = int(self._scarce == "GPU")
        # One run per worker process: transformers keeps one state per process.
        self._task = self._ray.remote(num_cpus=1, num_gpus=gpus, max_calls=1)(perform)
        self._tasks: list[Any] = []
        return self

    def __exit__(self, *error: object) -> None:
        for task in self._tasks:
            self._ray.cancel(task, force=True)
        if self._ours:
            self._ray.shutdown()

    @property
    def room(self) -> int:
        """How many runs the cluster has room for."""
        resources = self._ray.cluster_resources()
        return max(1, int(min(resources.get("CPU", 0), resources.get(self._scarce, 0))))

    def submit(self, settings: Settings) -> Future[Outcome | None]:
        """Begin a run; see `Pool`."""
        self._tasks.append(self._task.remote(settings))
        future: Future[Outcome | None] = self._tasks[-1].future()
        return future

    def _connect(self) -> None:
        # Ray reports its use to its makers, and lets all other work of the machine go before its own, unless
        # it is told not to.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_worker_niceness", "0")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "WARNING"}
        if self.address is None:
            options["include_dashboard"] = False
        # It would also put the working folder on the path of all tasks; those of its clients go without.
        job = self._ray.job_config.JobConfig(_client_job=True)
        try:
            with _STARTING, _environment(SAFE_PATH):
                self._ray.init(address=self.address, job_config=job, **options)
        except (ConnectionError, ValueError) as error:
            found = f"found no Ray that answers at {self.address or 'this machine'} ({one_line(error)})"
            raise ValueError(f"--ray: {found}") from error
