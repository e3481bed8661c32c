"""A file that takes the place of another in one step, and leaves nothing behind if that step never comes."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

NEW = os.O_WRONLY | os.O_CLOEXEC
UNNAMED = getattr(os, "O_TMPFILE", None)
"""Makes a file without a name, which vanishes with its process; only Linux has it, on most file systems."""

DESCRIPTORS = Path("/proc/self/fd")
"""Where an unnamed file can be reached, to give it a name."""

ALL_MAY_WRITE = 0o666
"""The mode that is asked for; the system takes from it what the umask says."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that is called `path` once all of it is on disk. A link of that name is replaced.

    Whatever stops the writing (an exception, a full disk, a kill) leaves the old file as it was.

    Raises:
        OSError: the file cannot be made; errors of writing come without a file's name.
    """
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        descriptor, name = _new_file(folder)
        try:
            with os.fdopen(descriptor, "wb") as raw:
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
                _put_in_place(raw.fileno(), folder, name, path.name)
        finally:
            _remove(name, folder)
    finally:
        os.close(folder)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that is called `path` once all of it is written; nothing is left of it if that never comes.

    Raises:
        OSError: there is something of that name already that is not an empty folder.
    """
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise OSError(errno.EEXIST, "cannot write here: expected a new name or an empty folder", str(path))
    made = path.with_name(_hidden_name())
    try:
        made.mkdir()
        yield made
        made.rename(path)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _new_file(folder: int) -> tuple[int, str]:
    """A new file, and its name; it has none where the system can make such files."""
    if UNNAMED is not None and DESCRIPTORS.is_dir():
        with suppress(OSError):  # not on this file system: a file with a name tells what else may be wrong
            return os.open(".", NEW | UNNAMED, ALL_MAY_WRITE, dir_fd=folder), ""
    name = _hidden_name()
    return os.open(name, NEW | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, ALL_MAY_WRITE, dir_fd=folder), name


def _put_in_place(descriptor: int, folder: int, name: str, wanted: str) -> None:
    """Give a file the wanted name, also where another file has it; errors name neither of them."""
    source = str(DESCRIPTORS / str(descriptor))
    try:
        if not name:
            with suppress(FileExistsError):
                os.link(source, wanted, dst_dir_fd=folder, follow_symlinks=True)
                return
            name = _hidden_name()
            os.link(source, name, dst_dir_fd=folder, follow_symlinks=True)
        os.rename(name, wanted, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        _remove(name, folder)
        raise OSError(error.errno, error.strerror) from None


def _remove(name: str, folder: int) -> None:
    """Remove a file that has a name of ours, if it still has it."""
    if name:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _hidden_name() -> str:
    """A name that does not grow with the one that is wanted, which may be as long as names can be."""
    return f".unnoted-{secrets.token_hex(8)}"
