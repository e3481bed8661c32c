"""Where the runs of a grid are performed: a pool takes runs, and tells what becomes of each."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import torch

from unnoted.experiments.place import Place
from unnoted.experiments.runs import Run
from unnoted.training.checkpoints import one_line
from unnoted.training.record import Failure, Record

PAUSE = 0.2
"""Seconds between two looks at the runs under way."""

FAILED = 3
"""The exit code of a worker whose run failed; its reason is written down."""

BUSY = 75
"""The exit code of a worker that found another process at its run."""

END_WITH_INPUT = "--end-with-input"
"""Tells a worker to end when its standard input does."""


@dataclass(frozen=True, slots=True)
class Started:
    """A run was begun, or is gone on with."""

    run: Run


@dataclass(frozen=True, slots=True)
class Ended:
    """A run came to an end.

    Attributes:
        run: which.
        outcome: its record, or why it failed.
    """

    run: Run
    outcome: Record | Failure


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A run is waited for, because another process is at it."""

    run: Run


Events: TypeAlias = Generator[Started | Ended | Elsewhere, None, None]
"""What happens to runs, as it happens."""


class Pool(Protocol):
    """Performs runs, some at a time, each in a process of its own."""

    def perform(self, runs: Sequence[Run], folder: Path) -> Events:
        """Perform runs of different addresses into `folder`/address.

        For each run there is one `Ended`, in the order in which they end; before it a `Started`, unless
        another process finished the run meanwhile. No failure of a run is raised. Closing the generator, or
        an error in it, stops the runs under way; they are gone on with the next time.

        Args:
            runs: each of another address.
            folder: of the grid.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ending:
    """How the process of a run ended.

    Attributes:
        code: its exit code; negative for the signal that ended it.
        said: what is known about it otherwise, in one line.
    """

    code: int
    said: str = ""


class Job(Protocol):
    """A run under way."""

    def ending(self) -> Ending | None:
        """How it ended; None while it has not."""
        ...

    def stop(self) -> None:
        """End it now."""
        ...


class LocalPool:
    """Performs runs on this machine, each in a process of its own with a share of the cores.

    Where there are several GPUs, each run sees one of them.

    Args:
        jobs: how many at a time.

    Raises:
        ValueError: `jobs` is less than 1.

    Example:
        >>> LocalPool(jobs=10_000).threads
        1
    """

    def __init__(self, jobs: int = 1) -> None:
        if jobs < 1:
            raise ValueError(f"jobs: found {jobs}, expected 1 or more")
        self.jobs = jobs

    @property
    def threads(self) -> int:
        """Of each run: its share of the cores, or fewer if OMP_NUM_THREADS says so."""
        return max(1, min(_cores() // self.jobs, _threads_asked_for()))

    def perform(self, runs: Sequence[Run], folder: Path) -> Events:
        """Perform runs; see `Pool`."""
        devices = _devices()
        taken: dict[int, WorkerProcess] = {}

        def start(place: Place) -> Job:
            slot = next(slot for slot in range(self.jobs) if slot not in taken or not taken[slot].running)
            device = devices[slot % len(devices)] if devices else None
            taken[slot] = WorkerProcess(place, self.threads, device)
            return taken[slot]

        return scheduled(runs, folder, lambda: self.jobs, start)


class WorkerProcess:
    """The process that performs a run. It ends with the process that started it, however that ends.

    Args:
        place: of the run, which is specified there.
        threads: that it may use.
        device: the GPU that it sees; None leaves it to the environment.
    """

    def __init__(self, place: Place, threads: int, device: str | None = None) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
        if device is not None:
            environment["CUDA_VISIBLE_DEVICES"] = device
        command = [sys.executable, "-m", "unnoted.experiments.worker", str(place.specification.absolute())]
        with place.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, END_WITH_INPUT],
                # Nothing is ever written: its end tells the worker that nobody waits for it any more.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                # Ctrl-C in a terminal reaches all processes of a session; this one is stopped by `stop`.
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def ending(self) -> Ending | None:
        """How it ended; None while it has not."""
        code = self._process.poll()
        if code is None:
            return None
        self._close()
        return Ending(code)

    def wait(self) -> Ending:
        """Wait until it has ended."""
        code = self._process.wait()
        self._close()
        return Ending(code)

    def stop(self) -> None:
        """End it now; what it wrote is whole."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()


def scheduled(
    runs: Sequence[Run], folder: Path, slots: Callable[[], int], start: Callable[[Place], Job]
) -> Events:
    """Start runs as there is room for them, and tell what becomes of each.

    A run that another process is at is left to it: its record is taken when it is there, and the run is
    started here if the other process goes without leaving one.

    Args:
        runs: each of another address.
        folder: of the grid.
        slots: how many may be under way at the moment.
        start: begins the run of a place, which is specified there.
    """
    waiting = {run.address: run for run in runs}
    under_way: dict[str, tuple[Run, Job]] = {}
    elsewhere: set[str] = set()
    try:
        while waiting or under_way:
            room = slots() if waiting else 0
            for address, run in list(waiting.items()):
                place = Place(folder, address)
                if (record := place.record()) is not None:
                    del waiting[address]
                    yield Ended(run, record)
                elif len(under_way) >= room:
                    continue
                elif not place.busy:
                    del waiting[address]
                    try:
                        place.specify(run)
                        under_way[address] = run, start(place)
                    except OSError as error:
                        yield Ended(run, Failure(address, f"not begun: {one_line(error)}"))
                        continue
                    yield Started(run)
                elif address not in elsewhere:
                    elsewhere.add(address)
                    yield Elsewhere(run)
            for address, (run, job) in list(under_way.items()):
                if (ending := job.ending()) is None:
                    continue
                del under_way[address]
                if ending.code == BUSY:
                    waiting[address] = run
                else:
                    yield Ended(run, _outcome(Place(folder, address), ending))
            time.sleep(PAUSE)
    finally:
        for _, job in under_way.values():
            job.stop()


def _outcome(place: Place, ending: Ending) -> Record | Failure:
    record = place.record()
    if ending.code == 0 and record is not None:
        return record
    failure = place.failure() if ending.code == FAILED else None
    if failure is not None:
        return failure
    return Failure(place.address, f"{ending.said or _described(ending.code)}; see {place.log}")


def _described(code: int) -> str:
    if code == 0:
        return "its process ended without a record"
    if code == -9:
        return "its process was killed (signal 9: perhaps memory ran out)"
    return f"its process ended by signal {-code}" if code < 0 else f"its process ended with code {code}"


def _cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _threads_asked_for() -> int:
    """What OMP_NUM_THREADS allows a process; without it, or where it is a list, as many as there are."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdecimal() else sys.maxsize


def _devices() -> list[str]:
    """The GPUs that this process may use, by what CUDA_VISIBLE_DEVICES calls them."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [device for device in chosen.split(",") if device.strip()]
    return [str(number) for number in range(torch.cuda.device_count())]
