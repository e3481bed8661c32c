"""A grid: independent runs, each in a process of its own; what is finished is never repeated."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from unnoted.training.fingerprint import fingerprint, is_folder
from unnoted.training.record import Failure, Record
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings
from unnoted.utils import duration, one_line, plural

PAUSE = 0.5
"""Seconds between two looks at runs that other processes are at."""

Outcome: TypeAlias = Record | Failure


class Pool(Protocol):
    """Performs runs, each in a process of its own. Leaving it as a context ends what is under way."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    @property
    def room(self) -> int:
        """How many runs may be under way at the moment."""

    def submit(self, settings: Settings) -> Future[Outcome | None]:
        """Begin a run into `settings.output`; None comes of it if another process is at that run."""


def run_grid(
    runs: Iterable[Settings], folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
) -> dict[str, Outcome]:
    """Perform runs, equal ones once, each into `folder`/address.

    A finished run is read. An interrupted one continues at its last checkpoint. One that fails is told, and
    tried again by the next call; the others continue. Several processes that work on one folder share the
    runs.

    Returns:
        the record or the failure of each run by its address, in the order of the runs.

    Raises:
        RunError: a file of a run cannot be read; nothing was begun.
    """
    by_address = {fingerprint(settings).address: settings for settings in runs}
    every = {address: _placed(settings, folder / address) for address, settings in by_address.items()}
    found = {address: RunFolder(run.output).finished(run, tell) for address, run in every.items()}
    outcomes: dict[str, Outcome] = {address: record for address, record in found.items() if record}
    waiting = {address: run for address, run in every.items() if address not in outcomes}
    tell(f"{plural(len(every), 'run')}: {len(outcomes)} finished before, {len(waiting)} to do")
    folder.mkdir(parents=True, exist_ok=True)
    teller = _Teller(tell, len(waiting))
    try:
        with pool:
            _perform(waiting, outcomes, pool, teller)
    except KeyboardInterrupt:
        tell(f"stopped; nothing is lost: the same command continues ({plural(teller.left, 'run')} to do)")
        raise
    return {address: outcomes[address] for address in every}


def _perform(
    waiting: dict[str, Settings], outcomes: dict[str, Outcome], pool: Pool, teller: "_Teller"
) -> None:
    running: dict[Future[Outcome | None], Settings] = {}
    while waiting or running:
        for address, run in list(waiting.items()):
            if len(running) >= pool.room:
                break
            folder = RunFolder(run.output)
            if (record := folder.finished(run)) is not None:
                outcomes[address] = record
                teller.ended(waiting.pop(address), record)
            elif folder.busy:
                teller.elsewhere(run)
            else:
                teller.begun(run)
                running[pool.submit(waiting.pop(address))] = run
        done = wait(running, PAUSE, FIRST_COMPLETED).done
        for future in done:
            run = running.pop(future)
            outcome = _outcome(future, run.output.name)
            if outcome is None:
                waiting[run.output.name] = run
            else:
                outcomes[run.output.name] = outcome
                teller.ended(run, outcome)
        if not running:
            time.sleep(0 if done else PAUSE)


def _outcome(future: Future[Outcome | None], address: str) -> Outcome | None:
    try:
        return future.result()
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Failure(address, f"its process was not started, or is lost ({reason})")


def title(settings: Settings) -> str:
    """A run for people.

    Example:
        >>> title(Settings(train="x.json", encoder="recurrent", loss="atlop", output="y"))
        'architecture atlop, loss atlop, seed 62'
    """
    return f"architecture {settings.architecture}, loss {settings.loss}, seed {settings.seed}"


def _placed(settings: Settings, output: Path) -> Settings:
    """Settings that mean the same from everywhere on the machine."""
    values = _absolute(dict(settings))
    if is_folder(settings.encoder):
        values["encoder"] = str(Path(settings.encoder).absolute())
    return settings.model_copy(update={**values, "output": output.absolute()})


def _absolute(value: Any) -> Any:  # noqa: ANN401 - whatever a setting may be
    match value:
        case Path():
            return value.absolute()
        case tuple():
            return tuple(map(_absolute, value))
        case dict():
            return {key: _absolute(each) for key, each in value.items()}
        case _:
            return value


class _Teller:
    """Tells what happens, and about how long the rest will take."""

    def __init__(self, tell: Callable[[str], None], runs: int) -> None:
        self.tell = tell
        self.left = self.runs = runs
        self.since = time.monotonic()
        self.waited_for: set[Path] = set()

    def begun(self, run: Settings) -> None:
        self.tell(f"begun: {self._named(run)}")

    def elsewhere(self, run: Settings) -> None:
        if run.output not in self.waited_for:
            self.waited_for.add(run.output)
            self.tell(f"waiting for {self._named(run)}: another process is at it")

    def ended(self, run: Settings, outcome: Outcome) -> None:
        self.left -= 1
        # What is under way counts as not begun, so that this is rather too much than too little.
        seconds = (time.monotonic() - self.since) / (self.runs - self.left) * self.left
        rest = f"{self.left} left" + (f", about {duration(seconds)}" if self.left else "")
        if isinstance(outcome, Failure):
            self.tell(f"failed: {self._named(run)}: {outcome.reason} (in {run.output}); {rest}")
            return
        figures = ", ".join(f"{name} F1 {100 * each.overall.f1:.2f}" for name, each in outcome.scored.items())
        self.tell(f"finished: {self._named(run)}: {figures} after {duration(outcome.seconds)}; {rest}")

    def _named(self, run: Settings) -> str:
        return f"{title(run)} [{run.output.name}]"
