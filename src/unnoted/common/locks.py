"""Locks between processes: a file that one holds at a time, and that a process lets go of when it is killed.

On Windows nothing is locked.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def held(lock: Path, otherwise: Exception) -> Iterator[None]:
    """Hold a lock file, in a folder that exists.

    Args:
        lock: the file.
        otherwise: what to raise if another process holds it.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, held(Path(folder) / ".lock", ValueError("busy")):
        ...     is_held(Path(folder) / ".lock")
        True
    """
    with lock.open("w") as stream:
        if sys.platform != "win32":
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise otherwise from None
        yield


def is_held(lock: Path) -> bool:
    """Whether somebody holds a lock file; only a look, which may be outdated at once."""
    if sys.platform != "win32" and lock.is_file():
        with lock.open() as stream:
            try:
                # A shared lock, so that several that only look are not taken for one at work.
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False
