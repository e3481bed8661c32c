"""Locks between processes: a file that one process holds at a time; a killed process lets go of it."""

import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

PATIENCE = 10.0
"""Seconds to wait for looks at a lock to end; each takes microseconds where the machine is not overloaded."""

BUSY = "another process is writing it; wait until it has finished, or write to another file"
"""What is said of an output that is locked, after its name."""


@contextmanager
def held(lock: Path, otherwise: Exception, *, passing: bool = False) -> Iterator[None]:
    """Hold a lock file, in a folder that exists. A link in its place is not followed.

    Args:
        lock: the file.
        otherwise: what to raise if somebody else holds it.
        passing: whether the file is removed in the end.

    Raises:
        OSError: the file cannot be opened, or is a link.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, held(Path(folder) / ".lock", ValueError("busy")):
        ...     is_held(Path(folder) / ".lock")
        True
    """
    file_lock = _acquired(lock, otherwise)
    try:
        yield
    finally:
        if passing:
            lock.unlink(missing_ok=True)  # still held: whoever waits for this file sees that it is gone
        file_lock.release()


def _acquired(lock: Path, otherwise: Exception) -> FileLock:
    """Take a lock. Looks share it, so only a holder makes a look fail, and only looks are waited for."""
    file_lock = FileLock(lock)
    patience = time.monotonic() + PATIENCE
    while True:
        if lock.is_symlink():
            raise OSError(0, "found a link in the place of a lock, expected none; remove it", str(lock))
        try:
            file_lock.acquire(blocking=False)
            return file_lock
        except Timeout:
            if is_held(lock) or time.monotonic() > patience:
                raise otherwise from None
            time.sleep(0.005)


def is_held(lock: Path) -> bool:
    """Whether somebody holds a lock file; only a look, which may be outdated at once."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False  # not there, or in somebody else's folder, where a look must not fail
    try:
        return not locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def locked(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file until it is closed; False if somebody else holds it.

    A file system that has no locks counts as one where nobody holds any.
    """
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def output_lock(output: Path) -> Path:
    """The lock file of an output, the same for all links and spellings.

    It lies in a folder of this user's, because one beside the output would be left there by a kill.

    Raises:
        OSError: that folder is somebody else's, or a link.
    """
    folder = Path(tempfile.gettempdir()) / f"unnoted-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not ours or stat.S_IMODE(found.st_mode) & 0o077:
        expected = "expected a folder that only you may enter; remove it, or set TMPDIR to another place"
        raise OSError(0, f"found a link or a folder open to others, {expected}", str(folder))
    return folder / f"{hashlib.sha256(os.fsencode(os.path.realpath(output))).hexdigest()[:32]}.lock"
