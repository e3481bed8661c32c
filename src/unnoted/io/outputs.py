"""Files out: one process writes an output at a time, and it appears when it is complete."""

import errno
import gzip
import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from filelock import FileLock, Timeout

from unnoted.io.inputs import STANDARD, is_stream


@contextmanager
def hold_lock(lock: Path, otherwise: Exception, *, remove: bool = False) -> Iterator[None]:
    """Hold a lock file, in a folder that exists. A link in its place is not followed.

    Args:
        lock: the file.
        otherwise: what to raise if another process holds it.
        remove: delete the file in the end.
    """
    file_lock = FileLock(lock)
    try:
        file_lock.acquire(timeout=1, poll_interval=0.01)  # `is_held` holds it for an instant
    except Timeout:
        raise otherwise from None
    except OSError as error:
        reason = "the lock is a link; remove it" if error.errno == errno.ELOOP else error.strerror
        raise OSError(error.errno, reason, str(lock)) from None
    try:
        yield
    finally:
        if remove:
            lock.unlink(missing_ok=True)  # still held: whoever waits for this file sees that it is gone
        file_lock.release()


def is_held(lock: Path) -> bool:
    """Whether another process, or another part of this one, holds a lock file."""
    if lock.is_symlink() or not lock.is_file():
        return False
    try:
        with FileLock(lock, timeout=0, is_singleton=False):
            return False
    except Timeout:
        return True
    except OSError:
        return False  # in a folder of somebody else


@contextmanager
def lock_output(*outputs: Path, inputs: Iterable[Path] = (), overwrite: bool = False) -> Iterator[None]:
    """Keep outputs for this process while they are written, by a lock file `<output>.lock` beside each.

    An empty file may be replaced: nothing is lost with it.

    Args:
        outputs: the files to be written.
        inputs: the files that are read; of a folder, such as a model's, all files in it.
        overwrite: replace files that are there already; an input is never replaced.

    Raises:
        ValueError: an output is an input as well (also under another spelling, or through a link) or named
            twice, is there already, or another process is writing it.

    Example:
        >>> with lock_output(Path("docs/../a.json"), inputs=[Path("b.json"), Path("a.json")]):
        ...     pass
        Traceback (most recent call last):
        ValueError: docs/../a.json: is read as input; write to another file
    """
    read = [file for path in inputs for file in (path.iterdir() if path.is_dir() else [path])]
    with ExitStack() as locks:
        for number, output in enumerate(outputs):
            if any(_is_same_file(output, other, 1) for other in outputs[:number]):
                raise ValueError(f"{display_name(output)}: named twice as output; name different files")
            if any(_is_same_file(output, path, 0) for path in read):
                raise ValueError(f"{display_name(output)}: is read as input; write to another file")
            if is_stream(output):
                continue
            busy = ValueError(
                f"{output}: another process is writing it; wait for it, or write to another file"
            )
            # The lock is the same for all links to the output, and all spellings.
            lock = Path(os.path.realpath(output) + ".lock")
            locks.enter_context(hold_lock(lock, busy, remove=True))
            # Not before: whoever held the lock until now may have written it.
            if not overwrite and output.is_file() and output.stat().st_size:
                raise ValueError(f"{output}: exists already; --overwrite replaces it")
        yield


def _is_same_file(output: Path, other: Path, standard: int) -> bool:
    """Whether two names are of one file; `-` stands for a descriptor, as the other name for `standard`."""

    def status(path: Path, descriptor: int) -> os.stat_result | None:
        try:
            return os.fstat(descriptor) if path == STANDARD else path.stat()
        except (OSError, ValueError):
            return None

    ours, theirs = status(output, 1), status(other, standard)
    if ours is None or theirs is None:
        return STANDARD not in (output, other) and os.path.realpath(output) == os.path.realpath(other)
    return stat.S_ISREG(ours.st_mode) and os.path.samestat(ours, theirs)


def display_name(path: Path) -> str:
    """What an output is called in messages."""
    return "standard output" if path == STANDARD else str(path)


_TEMPORARY = ".unnoted-"


def _temporary(path: Path) -> Path:
    return path.with_name(_TEMPORARY + secrets.token_hex(8))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name an output in errors of writing, which name no file or a temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and _TEMPORARY not in str(error.filename):
            raise
        raise OSError(error.errno, f"not written: {error.strerror}", display_name(path)) from None


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A new file that is called `path` once all of it is on disk.

    An exception or a full disk leaves the old file as it was, and nothing else; after a kill or a loss of
    power, a temporary file `.unnoted-*` may be left beside it.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "not written: it is a folder", str(path))
    temporary = _temporary(path)
    with _named(path):
        try:
            # Unlike a NamedTemporaryFile, with the permissions of the umask.
            with temporary.open("xb") as raw:
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that is called `path` once all of it is written; nothing is left of it if that never comes.

    Raises:
        OSError: there is something of that name already that is not an empty folder.
    """
    if path.is_symlink() or path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise FileExistsError(errno.EEXIST, "not written: the name is taken", str(path))
    made = _temporary(path)
    try:
        with _named(path):
            made.mkdir()
            yield made
            made.rename(path)
    finally:
        shutil.rmtree(made, ignore_errors=True)


_OPEN_FILE = re.compile(r"/dev/std(?:out|err)|/(?:dev|proc/self)/fd/(\d+)")


@contextmanager
def open_binary_output(path: Path) -> Iterator[BinaryIO]:
    """Write bytes to what a user named: to a stream as they come, to a file when it is complete.

    A link leads to the file. Errors name the output.
    """
    if not is_stream(path):
        with atomic_write(Path(os.path.realpath(path))) as raw:
            yield raw
        return
    with _named(path):
        if path == STANDARD:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        if match := _OPEN_FILE.fullmatch(str(path)):  # opened by its name, it would begin at its start again
            descriptor = os.dup(int(match[1] or (2 if path.name == "stderr" else 1)))
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOCTTY", 0))
        with os.fdopen(descriptor, "wb") as raw:
            yield raw


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Write text, as `open_binary_output` does; files whose names end in `.gz` are compressed."""
    with open_binary_output(path) as raw, ExitStack() as stack:
        packed: Any = raw
        if path.suffix == ".gz" and not is_stream(path):  # without name and time: equal content, equal bytes
            packed = stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0))
        text = io.TextIOWrapper(packed, "utf-8", newline="\n")
        try:
            yield text
            text.flush()
        finally:
            text.detach()


def write_binary(path: str | Path, content: bytes) -> None:
    """Write bytes to what a user named."""
    with open_binary_output(Path(path)) as raw:
        raw.write(content)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with open_output(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON record per line to what a user named; returns how many."""
    written = 0
    with open_output(Path(path)) as stream:
        for record in records:
            stream.write(_ENCODER.encode(record) + "\n")
            written += 1
    return written


def write_list(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON list to what a user named, one record per line, never held whole; returns how many."""
    written = 0
    with open_output(Path(path)) as stream:
        stream.write("[")
        for record in records:
            stream.write((",\n" if written else "") + _ENCODER.encode(record))
            written += 1
        stream.write("]\n")
    return written
