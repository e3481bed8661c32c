"""Locks between processes: a file that one process holds at a time; a killed process lets go of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

GRACE = 0.2
"""Seconds for which a lock must stay taken to count as held.

Looking at a lock takes it for a moment; whoever comes at that moment waits for the look to end.
"""


@contextmanager
def held(lock: Path, otherwise: Exception) -> Iterator[None]:
    """Hold a lock file, in a folder that exists.

    Args:
        lock: the file.
        otherwise: what to raise if somebody else holds it.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, held(Path(folder) / ".lock", ValueError("busy")):
        ...     is_held(Path(folder) / ".lock")
        True
    """
    file_lock = FileLock(lock, timeout=GRACE, poll_interval=GRACE / 10)
    try:
        file_lock.acquire()
    except Timeout:
        raise otherwise from None
    try:
        yield
    finally:
        file_lock.release()


def is_held(lock: Path) -> bool:
    """Whether somebody holds a lock file; only a look, which may be outdated at once."""
    if not lock.is_file():
        return False
    try:
        with FileLock(lock, timeout=GRACE / 2, poll_interval=GRACE / 20):
            return False
    except Timeout:
        return True
    except PermissionError:
        return False  # in somebody else's folder, where a look must not fail
