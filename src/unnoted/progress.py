"""How much of a long work is done, and how long the rest will take: a bar on a terminal, else a line now and then.

Example:
    >>> with show_progress(2, "counting") as progress:
    ...     for number in (1, 2):
    ...         progress.report(number)
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bars

from unnoted.utils import duration, strip_control

SETTLING = 1
"""Seconds after the first report in which others are taken for a part of it: threads report side by side."""

SECONDS_A_LINE = 30
"""How often a line is printed where there is no terminal to draw a bar on; shorter work prints none."""

SECONDS_A_FILE = 1
"""How often a process writes for another one how far it is."""

MAX_MARKS = 512


class TimeLeft:
    """How long the rest of a work will take, by the pace of the latter half of the time so far.

    The first report says nothing of the pace: whatever is slow only once is in it.

    Example:
        >>> left = TimeLeft(total=100)
        >>> for second, done in ((60, 10), (62, 20), (64, 30)):
        ...     left.report(done, second)
        >>> left.seconds
        14.0
    """

    def __init__(self, total: float) -> None:
        self.total, self.done = total, 0.0
        self._first: float | None = None
        self._marks: list[tuple[float, float]] = []  # second, done

    def report(self, done: float, now: float) -> None:
        """So much is done at a second."""
        if done <= self.done:
            return
        self.done = done
        self._first = now if self._first is None else self._first
        if now - self._first < SETTLING:
            self._marks = []
        elif len(self._marks) == MAX_MARKS:
            del self._marks[1:-1:2]
        self._marks.append((now, done))

    def skip(self, done: float) -> None:
        """So much is done, and what is new took no time."""
        more, self.done = max(done - self.done, 0), max(done, self.done)
        self._marks = [(second, before + more) for second, before in self._marks]

    def forget_pace(self) -> None:
        """What comes next has a pace of its own."""
        self._first, self._marks = None, []

    @property
    def seconds(self) -> float | None:
        """How many are left; None while there is no pace."""
        if len(self._marks) < 2:
            return None
        now, done = self._marks[-1]
        middle = (self._marks[0][0] + now) / 2
        since, before = max(mark for mark in self._marks[:-1] if mark[0] <= middle)
        return (self.total - self.done) * (now - since) / (done - before)


Show: TypeAlias = Callable[[float, float | None, str], None]
"""Is given the share that is done, the seconds left as far as they are known, and a note."""


class Progress:
    """How much of a total is done, in any unit of which each takes about as long, such as tokens."""

    def __init__(self, total: float, show: Show, skip: Callable[[float], None] = lambda share: None) -> None:
        self._left, self._show, self._skip = TimeLeft(total), show, skip

    def report(self, done: float, note: str = "") -> None:
        """So much is done now."""
        self._left.report(done, time.monotonic())
        self._show(self._share, self._left.seconds, note)

    def advance(self, more: float) -> None:
        """So much more is done."""
        self.report(self._left.done + more)

    def skip(self, done: float) -> None:
        """So much is done, and what is new took no time, because it was done before."""
        self._left.skip(done)
        self._skip(self._share)

    @property
    def _share(self) -> float:
        return min(self._left.done / self._left.total, 1) if self._left.total else 1

    @contextmanager
    def part(self, size: float) -> Iterator[None]:
        """What shows progress within counts as so much of this work."""
        start = self._left.done

        def nest(total: float) -> Progress:
            return Progress(
                total,
                lambda share, left, note: self.report(start + size * share, note),
                lambda share: self.skip(start + size * share),
            )

        token = _outer.set(nest)
        try:
            yield
        finally:
            _outer.reset(token)
        self.skip(start + size)
        self._left.forget_pace()


_outer: ContextVar[Callable[[float], Progress] | None] = ContextVar("outer", default=None)


@contextmanager
def show_progress(
    total: float, title: str, *, shown: bool = True, file: Path | None = None
) -> Iterator[Progress]:
    """Show on stderr how far a work is; within a part of another work, as progress of that.

    Args:
        total: how much there is to do.
        title: what is done.
        shown: whether anything is shown.
        file: where `read_progress` finds, from another process, the share that is done.
    """
    if (nest := _outer.get()) is not None:
        yield nest(total)
        return
    screen = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rest]}", markup=False),
    )
    drawn, last_line, last_written = shown and screen.is_terminal, float("-inf"), float("-inf")
    with Bars(*columns, console=screen, transient=True, disable=not drawn) as bars:
        bar = bars.add_task(title, total=1.0, rest="")

        def show(share: float, left: float | None, note: str) -> None:
            nonlocal last_line, last_written
            now = time.monotonic()
            rest = ", ".join(filter(None, ("" if left is None else f"{duration(left)} left", note)))
            bars.update(bar, completed=share, rest=rest)
            is_long = last_line > 0 or (left is not None and left >= SECONDS_A_LINE)
            if shown and not drawn and is_long and now - last_line >= SECONDS_A_LINE:
                last_line = now
                line = ", ".join(filter(None, (f"{title}: {share:.0%}", rest)))
                print(strip_control(line), file=sys.stderr, flush=True)
            if file is not None and now - last_written >= SECONDS_A_FILE:
                last_written = now
                with suppress(OSError):  # what is done matters more
                    file.write_text(str(share))

        yield Progress(total, show)


def read_progress(file: Path) -> float:
    """The share that another process has done; 0 where it says nothing."""
    try:
        return float(file.read_text())
    except (OSError, ValueError):
        return 0.0
