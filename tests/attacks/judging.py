"""What became of one case: accepted, refused in a clear sentence, or one of the ways in which a reader can fail."""

import re
import resource
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Files = dict[str, bytes]
"""The content of a case's files by name."""

SECONDS = 10.0
"""The longest that a case may compute; a busy machine is not its fault."""

TIMES_INPUT, AND_BYTES = 50, 500 << 20
"""The most memory that a case may take: so many times its size, and so much more."""

ADDRESS_SPACE = 8 << 30
"""The machine is protected from a case that takes all: here it fails."""

RAW = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that no message may hold: line breaks, escape codes, changes of direction, lone surrogates."""

LONGEST_MESSAGE = 1_000


class Target(Protocol):
    """Something that reads files.

    Attributes:
        errors: what it may raise.
    """

    errors: tuple[type[Exception], ...]

    def prepare(self, folder: Path) -> None:
        """Make what all cases share, in a folder of its own."""

    def case(self, rng) -> Files:
        """The files of a case."""

    def attempt(self, folder: Path) -> None:
        """Read the case's files in a folder; anything raised but `errors` is a failure."""


class Wrong(Exception):
    """A target accepted what it should have refused, or gave something else than it should have."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Attributes:
        kind: `accepted`, `refused`, or the way in which it failed.
        detail: the message.
        place: the line of code that raised it: two failures of one place are one fault.
        seconds: how long it computed.
        memory: how many bytes more than before it took at its peak.
    """

    kind: str
    detail: str = ""
    place: str = ""
    seconds: float = 0.0
    memory: int = 0

    @property
    def failed(self) -> bool:
        return self.kind not in ("accepted", "refused")

    @property
    def fault(self) -> tuple[str, str]:
        return self.kind, self.place


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judged(target: Target, folder: Path, size: int) -> Outcome:
    """Let a target read a case of so many bytes, and see what becomes of it."""
    before, start = _reset_peak(), time.process_time()
    kind, detail, place = _attempted(lambda: target.attempt(folder), target.errors, str(folder))
    seconds, memory = time.process_time() - start, _peak() - before
    if seconds > SECONDS:
        kind, detail = "slow", f"{seconds:.0f} s"
    elif memory > TIMES_INPUT * size + AND_BYTES:
        kind, detail = "memory", f"{memory >> 20} MB for {size:,} bytes"
    return Outcome(kind, detail, place, seconds, memory)


def _attempted(
    read: Callable[[], None], errors: tuple[type[Exception], ...], folder: str
) -> tuple[str, str, str]:
    try:
        read()
    except errors as error:
        message, place = str(error), _place(error)
        if folder not in message:
            return "unnamed", message[:300], place
        if RAW.search(message) or len(message.replace(folder, "")) > LONGEST_MESSAGE:
            return "raw", repr(message[:300]), place
        return "refused", message, place
    except Wrong as error:
        return "wrong", str(error)[:300], str(error)[:60]
    except Exception as error:
        return "traceback", f"{type(error).__name__}: {error}"[:300], _place(error)
    return "accepted", "", ""


def _place(error: BaseException) -> str:
    """The last line of our own that an error passed through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "unnoted" in frame.filename]
    return (
        f"{type(error).__name__} {Path(frames[-1].filename).name}:{frames[-1].name}"
        if frames
        else type(error).__name__
    )


def _reset_peak() -> int:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()  # then only what exceeds every case before is seen
    return _peak()


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10
