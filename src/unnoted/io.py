"""Files in and out: text and gzip, JSON and YAML, atomic writes, locks, limits on input, checksums."""

import codecs
import errno
import fcntl
import gzip
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NoReturn, Protocol, TextIO
from weakref import WeakSet

import yaml
from filelock import FileLock, Timeout

from unnoted.errors import DataError, Defect, DefectLog, Kind, fail
from unnoted.utils import describe_error, nearest, short_repr, shorten, strip_control


def read_json(path: Path, error: type[ValueError]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The content of a JSON file.

    Raises:
        ValueError: of the given type, if it cannot be read or is not JSON; names the file.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, MemoryError) as found:
        raise error(
            f"{path}: found no readable JSON ({describe_error(found)}), expected what was saved"
        ) from found


PREFIX = "UNNOTED_MAX_"
MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest that each part of an input may be.

    Attributes:
        line: characters of a line, in formats of lines.
        document: characters of a document, or of a JSON file that is read as a whole.
        words: words of a document.
        entities: entities of a document; what is scored grows with their square.
        mentions: mentions of a document.
        mention: characters, or words, of one mention.
        facts: facts of a document.
        decompressed: bytes that a gzip file may unpack to.
        ratio: how many times its own size a gzip file may unpack to, once it is past `UNPACKED_FREELY`.
        config: characters of a settings file.
        config_values: values of a settings file, counted again wherever an alias repeats them.
        download: bytes of a file that is fetched, where the catalog does not know its size.
        fetch_seconds: seconds that fetching a data set may take, all attempts together.

    Example:
        >>> Limits(words=10).check("words", 10, "words", "note-1")
        >>> Limits(words=10).check("words", 11, "words")
        Traceback (most recent call last):
        unnoted.errors.DataError: : found 11 words, expected at most 10 (UNNOTED_MAX_WORDS)
    """

    line: int = 8 * MEBI
    document: int = 8 * MEBI
    words: int = 1_000_000
    entities: int = 2_000
    mentions: int = 100_000
    mention: int = 1_000
    facts: int = 200_000
    decompressed: int = 64 * 1024 * MEBI
    ratio: int = 100
    config: int = 100_000
    config_values: int = 10_000
    download: int = 4 * 1024 * MEBI
    fetch_seconds: int = 6 * 3600

    @classmethod
    def current(cls) -> "Limits":
        """The limits that hold now: the defaults, and what the environment says otherwise.

        Raises:
            ValueError: names the variable that is no limit.
        """
        names = [field.name for field in fields(cls)]
        known = {variable(name) for name in names}
        for unknown in sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known):
            raise ValueError(f"{short_repr(unknown)}: found no such limit{nearest(unknown, known)}")
        return cls(
            **{
                name: _value(variable(name), text)
                for name in names
                if (text := os.environ.get(variable(name)))
            }
        )

    def check(
        self, name: str, found: int, things: str, document: str | None = None, place: str | None = None
    ) -> None:
        """Refuse what is beyond a limit; the error names what was found, the limit, and what raises it."""
        most: int = getattr(self, name)
        if found > most:
            fail(Kind.TOO_LARGE, document, place, f"{found:,} {things}", self.allowance(name))

    def allowance(self, name: str) -> str:
        """A limit as an error states it."""
        return f"at most {getattr(self, name):,} ({variable(name)})"


def variable(name: str) -> str:
    """The environment variable of a limit.

    Example:
        >>> variable("words")
        'UNNOTED_MAX_WORDS'
    """
    return PREFIX + name.upper()


def _value(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text)):
        raise ValueError(f"{name}: found {text[:60]!r}, expected a whole number above 0")
    return int(text)


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
    return is_special(path) or _of_the_system(follow_links(path))


def is_special(path: Path) -> bool:
    """Whether a path is `-`, or leads to something else than a file or a folder: a pipe, a device."""
    if path == STANDARD:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, or no name at all
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def follow_links(path: Path) -> Path:
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
    number = _open_file(follow_links(path))
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


def display_name(path: Path) -> str:
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


NEW = os.O_WRONLY | os.O_CLOEXEC
UNNAMED = getattr(os, "O_TMPFILE", None)
"""Makes a file without a name, which vanishes with its process; only Linux has it, on most file systems."""

DESCRIPTORS = Path("/proc/self/fd")
"""Where an unnamed file can be reached, to give it a name."""

ALL_MAY_WRITE = 0o666
"""The mode that is asked for; the system takes from it what the umask says."""


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
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


PATIENCE = 10.0
"""Seconds to wait for looks at a lock to end; each takes microseconds where the machine is not overloaded."""

BUSY = "another process is writing it; wait until it has finished, or write to another file"
"""What is said of an output that is locked, after its name."""


@contextmanager
def hold_lock(lock: Path, otherwise: Exception, *, passing: bool = False) -> Iterator[None]:
    """Hold a lock file, in a folder that exists. A link in its place is not followed.

    Args:
        lock: the file.
        otherwise: what to raise if somebody else holds it.
        passing: whether the file is removed in the end.

    Raises:
        OSError: the file cannot be opened, or is a link.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, hold_lock(Path(folder) / ".lock", ValueError("busy")):
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


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


@contextmanager
def lock_output(*outputs: Path, inputs: Iterable[Path] = (), overwrite: bool = False) -> Iterator[None]:
    """Keep outputs for this process while they are made: no other command writes them meanwhile.

    Args:
        outputs: the files to be written.
        inputs: the files that are read; of a folder, such as a model's, all files in it.
        overwrite: whether files that are there already may be replaced; an input never may.

    Raises:
        ValueError: an output is read as well or named twice, is there already, or another process is writing
            it.
        OSError: the folder of the locks cannot be used.
    """
    read = list(inputs)
    with ExitStack() as locks:
        for number, output in enumerate(outputs):
            if any(_same(output, other, 1) for other in outputs[:number]):
                raise ValueError(f"{display_name(output)}: found twice as output, expected different files")
            check_output(output, read, overwrite)
            if not is_stream(output):
                locks.enter_context(hold_lock(output_lock(output), _busy(output), passing=True))
        yield


def check_output(output: Path, inputs: Iterable[Path] = (), overwrite: bool = False) -> None:
    """Refuse an output that is read, is there already, or is being written.

    It is read also under another spelling or through a link. A file of no size may be replaced: nothing is
    lost with it.

    For long work, which should not find out at its end; `claimed` looks too.

    Args:
        output: the file to be written.
        inputs: the files that are read; of a folder, such as a model's, all files in it.
        overwrite: whether a file that is there already may be replaced.

    Raises:
        ValueError: names the file.

    Example:
        >>> check_output(Path("docs/../a.json"), [Path("b.json"), Path("a.json")])
        Traceback (most recent call last):
        ValueError: docs/../a.json: found as input and as output, expected another file to write to
    """
    read = (file for path in inputs for file in (path.iterdir() if path.is_dir() else [path]))
    if any(_same(output, path, 0) for path in read):
        raise ValueError(
            f"{display_name(output)}: found as input and as output, expected another file to write to"
        )
    if is_stream(output):
        return
    if is_held(output_lock(output)):
        raise _busy(output)
    if not overwrite and is_nonempty_file(output):
        raise ValueError(f"{output}: found a file of that name, expected a new one; --overwrite replaces it")


def partial_path(output: Path) -> Path:
    """Where the results of long work are kept until the output is complete.

    Example:
        >>> print(partial_path(Path("facts.jsonl")))
        facts.jsonl.partial
    """
    return Path(f"{output}.partial")


def is_nonempty_file(path: Path) -> bool:
    """Whether a file is there that is not empty; a folder is no file.

    Example:
        >>> is_nonempty_file(Path("/dev/null/none")), holds_something(Path(__file__))
        (False, True)
    """
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Write to what a user named: a stream as it comes, a file when it is complete; links lead to the file.

    Files whose names end in `.gz` are compressed.
    """
    if not is_stream(path):
        with write_text(path, follow_links(path)) as text:
            yield text
        return
    with _naming(path), os.fdopen(_opened(path), "wb") as raw, _plain(raw) as text:
        yield text


def write_binary(path: str | Path, content: bytes) -> None:
    """Write bytes to what a user named: a stream as it comes, a file when it is complete."""
    named = Path(path)
    with _naming(named), ExitStack() as stack:
        if is_stream(named):
            raw: BinaryIO = stack.enter_context(os.fdopen(_opened(named), "wb"))
        else:
            try:
                raw = stack.enter_context(atomic_write(follow_links(named)))
            except OSError as error:
                raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
        raw.write(content)


@contextmanager
def open_binary_output(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes, which are written as they are, whatever the name."""
    if is_stream(path):
        with _naming(path), os.fdopen(_opened(path), "wb") as raw:
            yield raw
        return
    with _naming(path), _made(path, follow_links(path)) as raw:
        yield raw


@contextmanager
def write_text(path: Path, place: Path | None = None) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; `.gz` names are compressed.

    Whatever stops the writing (an exception, a full disk, a kill) leaves the old file as it was.

    Args:
        path: what the file is called.
        place: where it lies, if `path` is a link to it; otherwise a link is replaced.
    """
    encoded = _compressed if path.suffix == ".gz" else _plain
    with _naming(path), _made(path, path if place is None else place) as raw, encoded(raw) as text:
        yield text


@contextmanager
def _made(path: Path, place: Path) -> Iterator[BinaryIO]:
    """A new file at its place, under the name by which errors call it."""
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(atomic_write(place))
        except OSError as error:
            raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
        yield raw


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with write_text(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one record per line to what a user named; returns how many."""
    count = 0
    with open_output(Path(path)) as stream:
        for record in records:
            stream.write(_ENCODER.encode(record) + "\n")
            count += 1
    return count


def write_list(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON list to what a user named, one record per line, never held whole; returns how many."""
    count = 0
    with open_output(Path(path)) as stream:
        stream.write("[")
        for record in records:
            stream.write((",\n" if count else "") + _ENCODER.encode(record))
            count += 1
        stream.write("]\n")
    return count


def _busy(output: Path) -> ValueError:
    return ValueError(f"{output}: {BUSY}")


def _same(output: Path, other: Path, standard: int) -> bool:
    """Whether two names are of one file; `-` stands for a descriptor, as the other name for `standard`."""
    ours, theirs = _status(output, 1), _status(other, standard)
    if ours is None or theirs is None:
        return STANDARD not in (output, other) and follow_links(output) == Path(os.path.realpath(other))
    return stat.S_ISREG(ours.st_mode) and os.path.samestat(ours, theirs)


def _status(path: Path, standard: int) -> os.stat_result | None:
    try:
        return os.fstat(standard) if path == STANDARD else path.stat()
    except OSError:
        return None


def _opened(path: Path) -> int:
    try:
        return open_stream(path)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", display_name(path)) from None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the output in errors of writing, which name no file; errors of other files stay as they are."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, f"not written: {error.strerror}", display_name(path)) from None


@contextmanager
def _plain(raw: BinaryIO | gzip.GzipFile) -> Iterator[TextIO]:
    """A text layer, without closing what it lies over."""
    text = io.TextIOWrapper(raw, "utf-8", newline="\n")
    yield text
    text.detach()


@contextmanager
def _compressed(raw: BinaryIO) -> Iterator[TextIO]:
    """A text layer through gzip, without name and time: equal content, equal bytes."""
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed, _plain(packed) as text:
        yield text


GZIP_MAGIC = b"\x1f\x8b"
START = 1 << 16
"""How many bytes of an input are looked at before it is read, to recognise its format."""
UNPACKED_FREELY = 8 * MEBI
"""Bytes up to which it does not matter how small a gzip file was."""
_TAKEN: WeakSet[BinaryIO] = WeakSet()
"""Standard input, once somebody has begun to read it: a second reader would get the middle of it."""


class TextInput:
    """A file, or a stream that can be read once: its start can be looked at before it is read.

    Standard input is called `-`. A file is opened when it is needed; a stream (a pipe, standard input, a
    device) is opened once and kept open between looking and reading.

    Example:
        >>> TextInput("-").name, TextInput("train.json").name
        ('standard input', 'train.json')
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = "standard input" if self.path == STANDARD else str(path)
        self._start: bytes | None = None
        self._opened: tuple[ExitStack, _Readable] | None = None

    @classmethod
    def of(cls, source: "str | Path | TextInput") -> "TextInput":
        """The input at a path, or the one that is given."""
        return source if isinstance(source, TextInput) else cls(source)

    def start(self) -> str:
        """The first characters; remembered, so that they can be asked for after reading too."""
        with _failures_named():
            return codecs.getincrementaldecoder("utf-8-sig")().decode(self.first_bytes())

    def first_bytes(self) -> bytes:
        """The first bytes, which may be no text; remembered like `start`."""
        with _failures_named():
            if self._start is None:
                stack, stream = self._open()
                self._start = _read_start(stream)
                if is_special(self.path):
                    self._opened = stack, stream
                else:
                    stack.close()
            return self._start

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Read it, and turn every way to fail into a `DataError`.

        Lines end at a newline only: other characters that Python takes for line breaks occur in abstracts.
        """
        with _failures_named():
            head, (stack, stream) = self._taken() if self._opened else (b"", self._open())
            with stack:
                joined = io.BufferedReader(_Joined(head, stream), 1 << 18)
                with io.TextIOWrapper(joined, "utf-8-sig", newline="\n") as text:
                    yield text

    def close(self) -> None:
        """Let go of a stream that was looked at and never read."""
        if self._opened is not None:
            self._taken()[1][0].close()

    def _taken(self) -> "tuple[bytes, tuple[ExitStack, _Readable]]":
        assert self._opened is not None and self._start is not None  # both are set together
        opened, self._opened = self._opened, None
        return self._start, opened

    def _open(self) -> "tuple[ExitStack, _Readable]":
        stack = ExitStack()
        raw = _binary(self.path, stack)
        magic = raw.read(len(GZIP_MAGIC))
        counted = _Joined(magic, raw)
        if magic != GZIP_MAGIC:
            return stack, counted
        buffered = stack.enter_context(io.BufferedReader(counted))
        return stack, _Unpacked(stack.enter_context(gzip.GzipFile(fileobj=buffered)), counted)


@contextmanager
def open_text(path: str | Path) -> Iterator[TextIO]:
    """Open an input, plain or gzip, told apart by content; every way to fail is a `DataError`."""
    with TextInput(path).open() as text:
        yield text


def read_whole(path: str | Path) -> str:
    """The text of an input that is one value, such as a vocabulary, within the limit of a document."""
    limits = Limits.current()
    with open_text(path) as stream:
        text = stream.read(limits.document + 1)
        if len(text) > limits.document:
            found = f"more than {limits.document:,} characters"
            fail(Kind.TOO_LARGE, None, None, found, limits.allowance("document"))
    return text


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that is no text; a stream is refused, because such files are read in parts."""
    refuse_stream(path)
    limits = Limits.current()
    with _failures_named():
        limits.check("decompressed", path.stat().st_size, "bytes")
        return path.read_bytes()


def numbered_lines(stream: TextIO, limits: Limits | None = None) -> Iterator[tuple[int, str]]:
    r"""The lines of a stream with their numbers from 1; one that does not end within the limit is an error.

    So are as many blank lines, one after the other.

    Example:
        >>> list(numbered_lines(io.StringIO("a\n\nb")))
        [(1, 'a\n'), (2, '\n'), (3, 'b')]
    """
    limits = limits or Limits.current()
    last_text = 0
    for number in count(1):
        line = stream.readline(limits.line + 1)
        if not line:
            return
        if line != "\n":
            last_text = number
        elif number - last_text > limits.line:
            found = f"more than {limits.line:,} blank lines"
            fail(Kind.TOO_LARGE, None, f"line {number}", found, limits.allowance("line"))
        if len(line) > limits.line:
            found = f"more than {limits.line:,} characters without a line's end"
            fail(Kind.TOO_LARGE, None, f"line {number}", found, limits.allowance("line"))
        yield number, line


@contextmanager
def rereadable(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The same inputs as files: whatever is a stream is kept in a temporary file until the block ends."""
    with tempfile.TemporaryDirectory(prefix="unnoted-") as folder:
        files = []
        for number, path in enumerate(paths):
            if not is_special(path):
                files.append(path)
                continue
            kept = Path(folder, str(number), TextInput(path).name.replace("/", "_"))
            kept.parent.mkdir()
            _keep(path, kept)
            files.append(kept)
        yield files


def _keep(path: Path, kept: Path) -> None:
    """Copy a stream into a file; one that does not end within the limit is an error."""
    limits, size = Limits.current(), 0
    try:
        with _failures_named(), ExitStack() as stack:
            raw = _binary(path, stack)
            while part := raw.read(MEBI):
                size += len(part)
                limits.check("decompressed", size, "bytes or more")
                _append(kept, part)
    except DataError as error:
        raise DefectLog(TextInput(path).name).located(error) from None


def _append(kept: Path, part: bytes) -> None:
    try:
        with kept.open("ab") as copy:
            copy.write(part)
    except OSError as error:
        found = f"no room to keep it in {kept} ({error.strerror})"
        fail(Kind.UNREADABLE, None, None, found, "a file, or a TMPDIR with room for it")


def content_digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits; of a stream nothing would be left to read.

    Of a folder, that of the names and contents of the files in it.
    """
    refuse_stream(path)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        listed = "".join(f"{file.relative_to(path).as_posix()}\0{content_digest(file)}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    if "\0" in os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, "a name with a NUL character", str(path))
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def refuse_stream(path: Path) -> None:
    """Refuse a stream where the content is read more than once."""
    if is_special(path):
        found = "a stream, which can be read only once"
        raise DataError(Defect(Kind.UNREADABLE, TextInput(path).name, None, None, found, "a file"))


@contextmanager
def _failures_named() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        found = f"the byte 0x{error.object[error.start]:02x}"
        fail(Kind.UNREADABLE, None, None, found, "UTF-8 text")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fail(Kind.UNREADABLE, None, None, f"damaged gzip data ({error})", "a whole gzip file")
    except IsADirectoryError:
        fail(Kind.UNREADABLE, None, None, "a directory", "a file")
    except FileNotFoundError:
        fail(Kind.UNREADABLE, None, None, "no such file", "a file")
    except OSError as error:
        fail(Kind.UNREADABLE, None, None, error.strerror or str(error), "a readable file")


def _binary(path: Path, stack: ExitStack) -> BinaryIO:
    """The bytes of an input; standard input stays open afterwards."""
    if path == STANDARD:
        if sys.stdin is None:
            fail(Kind.UNREADABLE, None, None, "no standard input", "a file")
        if sys.stdin.buffer in _TAKEN:
            fail(Kind.UNREADABLE, None, None, "it named twice, and it can be read once", "a file")
        _TAKEN.add(sys.stdin.buffer)
        return sys.stdin.buffer
    if "\0" in os.fspath(path):
        fail(Kind.UNREADABLE, None, None, "a name with a NUL character", "a file")
    return stack.enter_context(path.open("rb"))


class _Readable(Protocol):
    """What bytes are taken from."""

    def read1(self, size: int, /) -> bytes: ...


def _read_start(stream: _Readable) -> bytes:
    """The first bytes, fewer only at the end: a pipe gives what it has, which may be less."""
    parts: list[bytes] = []
    while (left := START - sum(map(len, parts))) > 0 and (part := stream.read1(left)):
        parts.append(part)
    return b"".join(parts)


class _Joined(io.RawIOBase):
    """Bytes that were taken from a stream already, and those that follow; counts what it gives."""

    def __init__(self, head: bytes, rest: Any) -> None:  # noqa: ANN401
        self.head, self.rest, self.given = head, rest, 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int) -> bytes:
        if self.head:
            part, self.head = self.head[:size], self.head[size:]
        else:
            part = self.rest.read1(size)
        self.given += len(part)
        return part

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        part = self.read1(len(buffer))
        buffer[: len(part)] = part
        return len(part)


class _Unpacked:
    """The content of a gzip stream, which is refused where it grows out of all proportion."""

    def __init__(self, packed: gzip.GzipFile, source: _Joined) -> None:
        self.packed, self.source, self.given, self.limits = packed, source, 0, Limits.current()

    def read1(self, size: int) -> bytes:
        part = self.packed.read1(size)
        self.given += len(part)
        self.limits.check("decompressed", self.given, "bytes or more of decompressed data")
        if self.given > max(UNPACKED_FREELY, self.limits.ratio * self.source.given):
            found = f"gzip data that unpacks to {self.given // self.source.given:,} times its size"
            fail(Kind.TOO_LARGE, None, None, found, self.limits.allowance("ratio"))
        return part


CHUNK = 1 << 20
ENCODABLE = "characters that UTF-8 can hold"


class RepeatedKey(dict[str, object]):
    """An object in which a key stands twice. It is no `dict` to whoever asks for exactly that type."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]

    def __repr__(self) -> str:
        return f"the key {short_repr(self.key)} twice in one object"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else RepeatedKey(pairs)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = _object(pairs)
    if type(fields) is RepeatedKey:
        fail(Kind.MALFORMED, None, f"key {short_repr(fields.key)}", "it twice in one object", "it once")
    return fields


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_LOCATING = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)
"""Hands out objects with a repeated key as such, so that the reader that knows the place reports it."""
_REFUSING = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique)
_BLANKS = re.compile(r"[ \t\r\n]*")


def parse_record(text: str, place: str) -> object:
    """Parse the JSON value of a line; an object in which a key stands twice is a `RepeatedKey`.

    Example:
        >>> parse_record('{"a": 1}', "line 1"), parse_record('{"a": 1, "a": 2}', "line 2")
        ({'a': 1}, the key 'a' twice in one object)
    """
    return _parsed(_LOCATING, text, place)


def parse_json(text: str) -> object:
    r"""Parse the JSON value that a whole file is; a `DataError` names what is wrong with it.

    Example:
        >>> parse_json('{"a": {"b": 1, "b": 2}}')
        Traceback (most recent call last):
        unnoted.errors.DataError: : key 'b': found it twice in one object, expected it once
    """
    value = _parsed(_REFUSING, text, None)
    if (
        "\\u" in text
    ):  # the only way to half a surrogate pair, which can be read from JSON and never be written again
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            fail(Kind.MALFORMED, None, None, short_repr(error.object[error.start]), ENCODABLE)
    return value


def _parsed(decoder: json.JSONDecoder, text: str, place: str | None) -> object:
    try:
        return decoder.decode(text)
    except DataError:
        raise
    except RecursionError:
        fail(Kind.MALFORMED, None, place, "JSON nested too deeply", "a JSON object")
    except ValueError as error:
        fail(Kind.MALFORMED, None, place, f"{short_repr(text)} ({_reason(error)})", "a JSON object")


def _reason(error: ValueError) -> str:
    """What is wrong, where Python says how to allow it instead."""
    return "a number of thousands of digits" if "integer string conversion" in str(error) else str(error)


class ArrayReader:
    """Reads the elements of one JSON array from a stream, holding one chunk and one element at a time.

    Example:
        >>> import io
        >>> list(ArrayReader(io.StringIO('[{"a": 1}, {"a": 2}]')))
        [{'a': 1}, {'a': 2}]
    """

    def __init__(self, stream: TextIO, limits: Limits | None = None) -> None:
        self.stream = stream
        self.limits = limits or Limits.current()
        self.buffer = ""
        self.position = 0
        self.ended = False
        self.index = 0
        self._line, self._counted = 1, 0  # of the buffer's place up to which lines were counted

    def __iter__(self) -> Iterator[object]:
        if self._next_character() != "[":
            self._fail(f"{short_repr(self._next_character())} at the start", "a JSON list of documents, '['")
        self.position += 1
        if self._next_character() == "]":
            self.position += 1
        else:
            yield from self._elements()
        if trailing := self._next_character():
            self._fail(f"{short_repr(trailing)} after the list", "the end of the file")

    @property
    def line(self) -> int:
        """The line that the reader has come to, from 1."""
        self._line += self.buffer.count("\n", self._counted, self.position)
        self._counted = max(self._counted, self.position)
        return self._line

    def numbered(self) -> Iterator[tuple[int, int, object]]:
        """Each element with its number from 0, and the line that it begins at."""
        for index, element in enumerate(self):
            yield index, self._began, element

    def _elements(self) -> Iterator[object]:
        while True:
            yield self._element()
            self.index += 1
            separator = self._next_character()
            self.position += 1
            if separator == "]":
                return
            if separator != ",":
                found = f"{short_repr(separator)}" if separator else "the end of the file"
                self._fail(f"{found} after document {self.index}", "',' or ']'")

    def _next_character(self) -> str:
        """The next character that is not blank, without taking it; empty at the end of the file."""
        passed = 0
        while True:
            blank = _BLANKS.match(self.buffer, self.position)
            assert blank is not None  # it matches nothing at all, too
            passed += blank.end() - self.position
            self.position = blank.end()
            self._check_size(passed)
            if self.position < len(self.buffer):
                return self.buffer[self.position]
            if not self._read_more():
                return ""

    def _read_more(self) -> bool:
        rest = len(self.buffer) - self.position
        # As much again as was not enough, so that nothing is parsed often; never far beyond the limit.
        size = min(max(CHUNK, rest), max(CHUNK, self.limits.document - rest + 1))
        chunk = "" if self.ended else self.stream.read(size)
        self._line, self._counted = self.line, 0  # before its place in the buffer moves
        self.ended = not chunk
        self.buffer = self.buffer[self.position :] + chunk
        self.position = 0
        return bool(chunk)

    def _element(self) -> object:
        self._next_character()
        self._began = self.line
        while True:
            try:
                value, end = _LOCATING.raw_decode(self.buffer, self.position)
            except json.JSONDecodeError as error:
                self._check_size(len(self.buffer) - self.position)
                if _is_definite(error, len(self.buffer)) or not self._read_more():
                    self._fail_element(error)
            except RecursionError:
                self._fail(f"JSON nested too deeply in document {self.index + 1}", "a document")
            except ValueError as error:
                self._fail(f"{_reason(error)} in document {self.index + 1}", "a document")
            else:
                self._check_size(end - self.position)
                self.position = end
                return value

    def _check_size(self, size: int) -> None:
        if size > self.limits.document:
            found = f"more than {self.limits.document:,} characters in document {self.index + 1}"
            fail(Kind.TOO_LARGE, None, None, found, self.limits.allowance("document"))

    def _fail_element(self, error: json.JSONDecodeError) -> NoReturn:
        cut = error.pos >= len(self.buffer.rstrip()) or error.msg.startswith("Unterminated")
        where = f"in document {self.index + 1}"
        if self.ended and cut:
            self._fail(f"the end of the file {where}", "the rest of the document and ']'")
        near = self.buffer[max(0, error.pos - 20) : error.pos + 20]
        self._fail(f"broken JSON {where} near {short_repr(near)} ({error.msg})", "valid JSON")

    def _fail(self, found: str, expected: str) -> NoReturn:
        fail(Kind.UNREADABLE, None, None, found, expected)


def _is_definite(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more input could not mend the error: it lies before the end by more than a cut token."""
    return not error.msg.startswith("Unterminated") and error.pos < length - 16


LONGEST_NUMBER = 1_000
"""Characters; Python itself refuses to read or print numbers beyond some thousand digits."""


DEEPEST = 50
"""How many lists and mappings may lie in each other."""


class YamlError(ValueError):
    """Text that is no YAML as settings need it: says in which line, what was found and what was expected."""


def parse_yaml(text: str) -> object:
    r"""The value of a YAML text.

    Raises:
        YamlError: names the line.

    Example:
        >>> parse_yaml("epochs: 3\ntrain: [a.json, b.json]")
        {'epochs': 3, 'train': ['a.json', 'b.json']}
        >>> parse_yaml("epochs: !!int 3")
        Traceback (most recent call last):
        unnoted.io.YamlError: line 1: found the tag '!!int', expected a plain value
    """
    limits = Limits.current()
    if len(text) > limits.config:
        raise YamlError(f"found {len(text):,} characters, expected {limits.allowance('config')}")
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_aliases(node, limits)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise YamlError(strip_control(f"{line}{shorten(str(error.problem))}")) from None
    except yaml.reader.ReaderError as error:
        number, letter = text.count("\n", 0, error.position) + 1, text[error.position]
        raise YamlError(f"line {number}: found the character {letter!r}, expected text") from None
    except yaml.YAMLError as error:
        raise YamlError(f"found no YAML ({strip_control(shorten(' '.join(str(error).split())))})") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses what YAML would take silently, such as a key that stands twice, of which it keeps the last."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        event = self.peek_event()
        if self.depth > DEEPEST:
            _refuse(event.start_mark, f"values more than {DEEPEST} deep in each other", "settings")
        if getattr(event, "tag", None) is not None:
            tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
            _refuse(event.start_mark, f"the tag {short_repr(tag)}", "a plain value")
        self.depth += 1
        node: yaml.Node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                _refuse(key_node.start_mark, "the merge key '<<'", "keys and values")
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                _refuse(key_node.start_mark, f"{short_repr(key)} as a key", "a text")
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"found the key {short_repr(key)} twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_number(self, node: yaml.ScalarNode) -> object:
        if ":" in node.value:
            return self.construct_yaml_str(node)
        if len(node.value) > LONGEST_NUMBER:
            _refuse(node.start_mark, f"a number of {len(node.value):,} characters", "a shorter one")
        is_int = node.tag.endswith(":int")
        try:
            return self.construct_yaml_int(node) if is_int else self.construct_yaml_float(node)
        except ValueError:  # what looks like a number and is none, such as 0x_
            _refuse(node.start_mark, short_repr(node.value), "a number")


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)


def _refuse(mark: yaml.Mark, found: str, expected: str) -> NoReturn:
    raise yaml.MarkedYAMLError(problem=f"found {found}, expected {expected}", problem_mark=mark)


def _check_aliases(node: yaml.Node, limits: Limits) -> None:
    """Refuse an alias within what it names, and aliases that together stand for more values than allowed."""
    sizes: dict[int, int] = {}
    within: set[int] = set()

    def size(part: yaml.Node) -> int:
        if isinstance(part, yaml.ScalarNode):
            return 1
        if id(part) in within:
            _refuse(part.start_mark, "a value that contains itself", "one that ends")
        if id(part) not in sizes:
            within.add(id(part))
            pairs = part.value if isinstance(part, yaml.MappingNode) else [(each,) for each in part.value]
            sizes[id(part)] = 1 + sum(size(each) for pair in pairs for each in pair)
            within.remove(id(part))
        if sizes[id(part)] > limits.config_values:
            found = f"{sizes[id(part)]:,} values, aliases counted as often as they stand"
            _refuse(part.start_mark, found, limits.allowance("config_values"))
        return sizes[id(part)]

    size(node)


CHECKSUMS = "checksums.json"
"""For each file of the folder, its size and the SHA-256 of its content."""


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Note the size and the content of files, beside them; whatever was noted before is replaced.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     _ = (folder / "config.json").write_text("{}")
        ...     write_checksums(folder, ["config.json"])
        ...     _ = (folder / "config.json").write_text("[]")
        ...     check_checksums(folder, ValueError)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: .../config.json: found other content (SHA-256 4f53cda18c2b...), expected what was ...
    """
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": content_digest(folder / name)}
        for name in sorted(set(names) - {CHECKSUMS})
    }
    write_json(folder / CHECKSUMS, {"files": files})


def check_checksums(folder: Path, error: type[ValueError]) -> Collection[str]:
    """Hold every file that was noted against its checksum.

    Args:
        folder: whose files.
        error: what is raised.

    Returns:
        The names of the files that have checksums; in folders of earlier versions none have.

    Raises:
        ValueError: of the given type, if a file is missing or differs; names it, what is there and what was.
    """
    path = folder / CHECKSUMS
    if not path.exists():
        return ()
    noted = _noted(path, error)
    for name, (size, digest) in noted.items():
        file = folder / name
        try:
            found = file.stat().st_size
            if found != size:
                raise error(f"{file}: found {found:,} bytes, expected {size:,} as saved ({CHECKSUMS})")
            content = content_digest(file)
        except OSError as missing:
            raise error(
                f"{file}: found no readable file ({describe_error(missing)}), expected the one that was saved "
                f"({CHECKSUMS})"
            ) from None
        if content != digest:
            raise error(
                f"{file}: found other content (SHA-256 {content[:12]}...), expected what was saved "
                f"({digest[:12]}... in {CHECKSUMS})"
            )
    return noted.keys()


def _noted(path: Path, error: type[ValueError]) -> dict[str, tuple[int, str]]:
    """The size and the checksum of each file."""
    content = read_json(path, error)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not files:
        raise error(f"{path}: found {short_repr(content)}, expected the checksums of the files beside it")
    noted = {}
    for name, entry in files.items():
        size, digest = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        inside = PurePath(name).name == name
        if not inside or type(size) is not int or not isinstance(digest, str):
            raise error(
                f"{path}: files.{short_repr(name)}: found {short_repr(entry)}, expected size and SHA-256 of a file "
                "in this folder"
            )
        noted[name] = size, digest
    return noted
