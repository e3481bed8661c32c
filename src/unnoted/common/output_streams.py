"""Outputs that are written and never replaced: standard output, pipes, devices."""

import errno
import io
import os
import stat
import sys
from pathlib import Path
from typing import Any

STANDARD = Path("-")
"""Standard input where files are read, standard output where they are written."""

STANDARD_NAME = "standard output"

LINKS = 40
"""How many links may lead to one another, as Linux has it."""

OPEN_FILES = ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")
"""The folders of what this process has open, by number."""


def is_stream(path: Path) -> bool:
    """Whether an output is a stream: `-`, a pipe, a device, or an open file under a name such as /dev/stdout.

    Example:
        >>> is_stream(Path("-")), is_stream(Path("/dev/null")), is_stream(Path("facts.jsonl"))
        (True, True, False)
    """
    return is_special(path) or _of_the_system(followed(path))


def is_special(path: Path) -> bool:
    """Whether a path is `-`, or leads to something else than a file or a folder: a pipe, a device."""
    if path == STANDARD:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, or no name at all
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def followed(path: Path) -> Path:
    """Where the links of a path lead, but not out of /dev and /proc: links there stand for open files.

    Raises:
        OSError: the links lead in a circle.
    """
    step = path
    for _ in range(LINKS):
        step = Path(os.path.realpath(step.parent)) / step.name
        if _of_the_system(step) or not step.is_symlink():
            return step
        step = step.parent / step.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def open_stream(path: Path) -> int:
    """The descriptor of a stream, open for writing; one that is open already goes on where it stands."""
    if path == STANDARD:
        return os.dup(1)
    number = _open_file(followed(path))
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY) if number is None else os.dup(number)


def _open_file(place: Path) -> int | None:
    """The number of the open file that a name stands for, as /dev/stdout does; None if it is something else.

    To open such a name again would begin at the file's start, and leave the place where others go on.
    """
    folders = {os.path.realpath(folder) for folder in OPEN_FILES}
    for _ in range(LINKS):
        parent = os.path.realpath(place.parent)
        if place.name.isdecimal() and parent in folders:
            return int(place.name)
        if not place.is_symlink():
            return None
        place = Path(parent) / place.readlink()
    return None


def shown_name(path: Path) -> str:
    """What an output is called in messages."""
    return STANDARD_NAME if path == STANDARD else str(path)


class StandardOutput(io.FileIO):
    """Standard output that names itself when it cannot be written: nobody reads on, or the disk is full.

    It says so once. What comes afterwards is thrown away, or Python would fail again at its end.
    """

    def __init__(self) -> None:
        super().__init__(1, "wb", closefd=False)
        self._failed = False

    def write(self, data: Any, /) -> int:  # noqa: ANN401
        """Write bytes; returns how many."""
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            raise OSError(error.errno, f"not written: {error.strerror}", STANDARD_NAME) from None


def name_standard_output() -> None:
    """Let all that the program prints go through `StandardOutput`."""
    printed = sys.stdout
    if printed is sys.__stdout__ and isinstance(printed, io.TextIOWrapper):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(StandardOutput()), printed.encoding, printed.errors,
            line_buffering=printed.line_buffering, write_through=printed.write_through,
        )  # fmt: skip


def _of_the_system(path: Path) -> bool:
    """Whether a path is an entry of /dev or /proc. Shared memory is an ordinary place for files."""
    return path.parts[1:2] in (("dev",), ("proc",)) and path.parts[1:3] != ("dev", "shm")
