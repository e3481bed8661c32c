"""A grid: a set of independent runs, performed in a pool; what is finished is never repeated."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from unnoted.common.wording import duration
from unnoted.experiments.place import Place
from unnoted.experiments.pools import Elsewhere, Ended, Pool, Started
from unnoted.experiments.runs import Run
from unnoted.training.record import Failure, Record


def run_grid(
    runs: Sequence[Run], folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
) -> dict[str, Record | Failure]:
    """Perform runs, each address once, into `folder`/address.

    A run that is finished is read. One that was interrupted goes on at its last checkpoint. One that fails is
    told, and tried again by the next call; the others go on. Several processes may work on one folder: they
    share the runs.

    Args:
        runs: in any order; equal ones are performed once.
        folder: of the grid.
        pool: where the runs are performed.
        tell: is given a line on everything that happens.

    Returns:
        the record or the failure of each run by its address, in the order of the runs.

    Raises:
        RunError: a file of a run cannot be read; nothing was begun.
    """
    distinct = {run.address: run for run in runs}
    found = {address: Place(folder, address).record(tell) for address in distinct}
    outcomes: dict[str, Record | Failure] = {
        address: record for address, record in found.items() if record is not None
    }
    left = [run for address, run in distinct.items() if address not in outcomes]
    tell(f"{len(distinct)} runs: {len(outcomes)} finished before, {len(left)} to do")
    folder.mkdir(parents=True, exist_ok=True)
    teller = _Teller(tell, folder, len(left))
    try:
        with closing(pool.perform(left, folder)) as events:
            for event in events:
                match event:
                    case Started(run):
                        teller.started(run)
                    case Ended(run, outcome):
                        outcomes[run.address] = outcome
                        teller.ended(run, outcome)
                    case Elsewhere(run):
                        tell(f"waiting for {named(run)}: another process is at it")
    except KeyboardInterrupt:
        tell(f"stopped; nothing is lost: the same command goes on ({teller.left} runs to do)")
        raise
    return {address: outcomes[address] for address in distinct}


def named(run: Run) -> str:
    """A run, so that people know it and find its folder."""
    return f"{run.title()} [{run.address}]"


class _Teller:
    """Tells what happens, and about how long the rest will take."""

    def __init__(self, tell: Callable[[str], None], folder: Path, runs: int) -> None:
        self.tell = tell
        self.folder = folder
        self.left = self.runs = runs
        self.begun = time.monotonic()

    def started(self, run: Run) -> None:
        self.tell(f"begun: {named(run)}")

    def ended(self, run: Run, outcome: Record | Failure) -> None:
        self.left -= 1
        rest = f"{self.left} left"
        if self.left:
            # What is under way counts as not begun, so that this is rather too much than too little.
            seconds = (time.monotonic() - self.begun) / (self.runs - self.left) * self.left
            rest += f", about {duration(seconds)}"
        match outcome:
            case Failure(address, reason):
                self.tell(f"failed: {named(run)}: {reason} (in {self.folder / address}); {rest}")
            case Record():
                figures = ", ".join(
                    f"{name} F1 {100 * scored.overall.f1:.2f}" for name, scored in outcome.scored.items()
                )
                self.tell(f"finished: {named(run)}: {figures} after {duration(outcome.seconds)}; {rest}")
