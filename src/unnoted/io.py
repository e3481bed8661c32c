"""Files in and out: text and gzip, JSON and YAML, limits on input, locks, atomic writes, checksums."""

import codecs
import errno
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
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NoReturn, TextIO
from weakref import WeakSet

import yaml  # type: ignore[import-untyped]
from filelock import FileLock, Timeout

from unnoted.errors import DataError, Defect, DefectLog, Kind, fail
from unnoted.utils import describe_error, nearest, short_repr, shorten, strip_control

PREFIX = "UNNOTED_MAX_"
MEBI = 1 << 20
STANDARD = Path("-")
"""Standard input where files are read, standard output where they are written."""


# Limits


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest that each part of an input may be; the environment variable `UNNOTED_MAX_<NAME>` raises one.

    Attributes:
        document: characters of a document, of a line, or of a JSON file that is read as a whole.
        words: words of a document.
        entities: entities of a document; its candidate pairs grow with their square.
        mentions: mentions of a document.
        mention: characters, or words, of one mention.
        facts: facts of a document.
        decompressed: bytes that a gzip file may unpack to.
        ratio: how many times its own size a gzip file may unpack to, beyond the first 8 MB.
        download: bytes of a file that is fetched, where the catalog does not know its size.

    Example:
        >>> Limits(words=10).check("words", 10, "words", "note-1")
        >>> Limits(words=10).allowance("words")
        'at most 10 (UNNOTED_MAX_WORDS)'
    """

    document: int = 8 * MEBI
    words: int = 1_000_000
    entities: int = 2_000
    mentions: int = 100_000
    mention: int = 1_000
    facts: int = 200_000
    decompressed: int = 64 * 1024 * MEBI
    ratio: int = 100
    download: int = 4 * 1024 * MEBI

    @classmethod
    def current(cls) -> "Limits":
        """The limits that hold now: the defaults, and what the environment sets.

        Raises:
            ValueError: names the variable that is no limit, or whose value is none.
        """
        known = {variable(field.name): field.name for field in fields(cls)}
        given: dict[str, int] = {}
        for name in sorted(name for name in os.environ if name.startswith(PREFIX)):
            if name not in known:
                raise ValueError(f"{short_repr(name)}: there is no such limit{nearest(name, known)}")
            if not (text := os.environ[name]):
                continue
            if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text)):
                raise ValueError(f"{name}: must be a whole number above 0, not {text[:60]!r}")
            given[known[name]] = int(text)
        return cls(**given)

    def check(
        self, name: str, size: int, things: str, document: str | None = None, place: str | None = None
    ) -> None:
        """Raise a `DataError` if a size is beyond a limit; it names the variable that raises the limit."""
        if size > getattr(self, name):
            fail(Kind.TOO_LARGE, document, place, f"{size:,} {things}", self.allowance(name))

    def allowance(self, name: str) -> str:
        """A limit as an error states it."""
        return f"at most {getattr(self, name):,} ({variable(name)})"


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return PREFIX + name.upper()


# Text in


GZIP_MAGIC = b"\x1f\x8b"
START = 1 << 16
"""How many bytes of an input are looked at before it is read, to recognise its format."""
_BUFFER = 1 << 18
_taken: WeakSet[Any] = WeakSet()
"""Standard inputs that somebody has begun to read: a second reader would get the middle of them."""


def is_special(path: Path) -> bool:
    """Whether a path is `-`, or leads to something else than a file or a folder: a pipe, a device."""
    if path == STANDARD:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, or no name at all
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


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
        self._rest: io.BufferedReader[Any] | None = None  # of a stream that was looked at and not yet read

    @classmethod
    def of(cls, source: "str | Path | TextInput") -> "TextInput":
        """The input at a path, or the one that is given."""
        return source if isinstance(source, TextInput) else cls(source)

    def start(self) -> str:
        """The first characters; remembered, so that they can be asked for after reading too."""
        with _located():
            return codecs.getincrementaldecoder("utf-8-sig")().decode(self.first_bytes())

    def first_bytes(self) -> bytes:
        """The first bytes, decompressed, which may be no text; remembered like `start`."""
        if self._start is None:
            with _located():
                stream = _open_bytes(self.path)
                self._start = stream.read(START)
                if is_special(self.path):
                    self._rest = stream
                else:
                    stream.close()
        return self._start

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Read it, and turn every way to fail into a `DataError`.

        Lines end at a newline only: other characters that Python takes for line breaks occur in abstracts.
        """
        with _located():
            rest, self._rest = self._rest, None
            stream: BinaryIO = _open_bytes(self.path) if rest is None else rest
            if rest is not None and self._start:
                stream = io.BufferedReader(_Bytes(rest, self._start), _BUFFER)
            with io.TextIOWrapper(stream, "utf-8-sig", newline="\n") as text:
                yield text

    def close(self) -> None:
        """Let go of a stream that was looked at and never read."""
        if self._rest is not None:
            self._rest.close()
            self._rest = None


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
        limits.check("document", len(text), "characters or more")
    return text


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that is no text; a stream is refused, because such files are read in parts."""
    refuse_stream(path)
    with _located():
        Limits.current().check("decompressed", path.stat().st_size, "bytes")
        return path.read_bytes()


def numbered_lines(stream: TextIO, limits: Limits | None = None) -> Iterator[tuple[int, str]]:
    r"""The lines of a stream with their numbers from 1; one that does not end within the limit is an error.

    So are as many blank lines, one after the other.

    Example:
        >>> list(numbered_lines(io.StringIO("a\n\nb")))
        [(1, 'a\n'), (2, '\n'), (3, 'b')]
    """
    limits = limits or Limits.current()
    most, number, last_text = limits.document, 0, 0
    while line := stream.readline(most + 1):
        number += 1
        if line != "\n":
            last_text = number
        if number - last_text > most or len(line) > most:
            things = "blank lines or more" if line == "\n" else "characters or more"
            limits.check("document", max(number - last_text, len(line)), things, None, f"line {number}")
        yield number, line


@contextmanager
def rereadable(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The same inputs as files: whatever is a stream is copied to a temporary file until the block ends."""
    with tempfile.TemporaryDirectory(prefix="unnoted-") as folder:
        files = []
        for number, path in enumerate(paths):
            if is_special(path):
                kept = Path(folder, str(number), TextInput(path).name.replace("/", "_"))
                kept.parent.mkdir()
                try:
                    _copy_stream(path, kept)
                except DataError as error:
                    raise DefectLog(TextInput(path).name).located(error) from None
                files.append(kept)
            else:
                files.append(path)
        yield files


def _copy_stream(path: Path, kept: Path) -> None:
    limits = Limits.current()
    with _located(), _open_bytes(path) as stream, kept.open("wb") as copy:
        while part := stream.read1(MEBI):
            try:
                copy.write(part)
            except OSError as error:
                problem = f"no space to keep it in {kept} ({error.strerror})"
                fail(Kind.UNREADABLE, None, None, problem, "a file, or a TMPDIR with space for it")
            limits.check("decompressed", copy.tell(), "bytes or more")


def content_digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits; of a folder, that of its files with their names.

    A stream is refused: nothing would be left to read.
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
        problem = "a stream, which can be read only once"
        raise DataError(Defect(Kind.UNREADABLE, TextInput(path).name, None, None, problem, "a file"))


@contextmanager
def _located() -> Iterator[None]:
    """Turn every way in which reading fails into a `DataError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        fail(Kind.UNREADABLE, None, None, f"the byte 0x{error.object[error.start]:02x}", "UTF-8 text")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fail(Kind.UNREADABLE, None, None, f"damaged gzip data ({error})", "a whole gzip file")
    except IsADirectoryError:
        fail(Kind.UNREADABLE, None, None, "a directory", "a file")
    except FileNotFoundError:
        fail(Kind.UNREADABLE, None, None, "no such file", "a file")
    except OSError as error:
        fail(Kind.UNREADABLE, None, None, error.strerror or str(error), "a readable file")


def _open_bytes(path: Path) -> "io.BufferedReader[Any]":
    """The bytes of an input, decompressed; standard input stays open afterwards."""
    if path == STANDARD:
        if sys.stdin is None:
            fail(Kind.UNREADABLE, None, None, "no standard input", "a file")
        if sys.stdin.buffer in _taken:
            fail(Kind.UNREADABLE, None, None, "named twice, and it can be read once", "a file")
        _taken.add(sys.stdin.buffer)
        raw: io.BufferedReader[Any] = io.BufferedReader(_Bytes(sys.stdin.buffer), _BUFFER)
    elif "\0" in os.fspath(path):
        fail(Kind.UNREADABLE, None, None, "a name with a NUL character", "a file")
    else:
        raw = io.BufferedReader(io.FileIO(path), _BUFFER)
    try:
        magic = raw.peek(len(GZIP_MAGIC))[: len(GZIP_MAGIC)]
    except BaseException:
        raw.close()
        raise
    if magic != GZIP_MAGIC:
        return raw
    counted = _Bytes(raw)
    buffered = io.BufferedReader(counted, _BUFFER)
    return io.BufferedReader(_Bytes(gzip.GzipFile(fileobj=buffered), packed=counted), _BUFFER)


class _Bytes(io.RawIOBase):
    """The bytes of another stream, after some that were taken from it before; counts them.

    Decompressed bytes (`packed` is where they come from) are refused where they exceed the limits.
    """

    def __init__(self, stream: Any, head: bytes = b"", packed: "_Bytes | None" = None) -> None:  # noqa: ANN401
        self.stream, self.head, self.packed, self.given = stream, head, packed, 0
        self.limits = Limits.current()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        if self.head:
            part, self.head = self.head[: len(buffer)], self.head[len(buffer) :]
        else:
            part = self.stream.read1(len(buffer))
        self.given += len(part)
        if self.packed is not None:
            self.limits.check("decompressed", self.given, "bytes or more of decompressed data")
            if self.given > max(8 * MEBI, self.limits.ratio * self.packed.given):
                problem = f"gzip data that unpacks to {self.given // self.packed.given:,} times its size"
                fail(Kind.TOO_LARGE, None, None, problem, self.limits.allowance("ratio"))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        if not self.closed and self.stream not in _taken:
            self.stream.close()
        super().close()


# Locks and outputs


@contextmanager
def hold_lock(lock: Path, otherwise: Exception, *, remove: bool = False) -> Iterator[None]:
    """Hold a lock file, in a folder that exists. A link in its place is not followed.

    Args:
        lock: the file.
        otherwise: what to raise if another process holds it.
        remove: delete the file in the end.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder, hold_lock(Path(folder, "lock"), ValueError("busy")):
        ...     is_held(Path(folder, "lock"))
        True
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

    Args:
        outputs: the files to be written.
        inputs: the files that are read; of a folder, such as a model's, all files in it.
        overwrite: replace files that are there already; an input is never replaced.

    Raises:
        ValueError: an output is an input as well or named twice, is there already, or another process is
            writing it.
    """
    read = list(inputs)
    with ExitStack() as locks:
        for number, output in enumerate(outputs):
            if any(_is_same_file(output, other, 1) for other in outputs[:number]):
                raise ValueError(f"{display_name(output)}: named twice as output; name different files")
            check_output(output, read, overwrite)
            if not is_stream(output):
                locks.enter_context(hold_lock(_lock_of(output), _busy(output), remove=True))
        yield


def check_output(output: Path, inputs: Iterable[Path] = (), overwrite: bool = False) -> None:
    """Refuse an output that is read (also under another spelling, or through a link), exists, or is locked.

    For long work, which should not find out at its end; `lock_output` looks too. A file of no size may be
    replaced: nothing is lost with it.

    Example:
        >>> check_output(Path("docs/../a.json"), [Path("b.json"), Path("a.json")])
        Traceback (most recent call last):
        ValueError: docs/../a.json: is read as input; write to another file
    """
    read = (file for path in inputs for file in (path.iterdir() if path.is_dir() else [path]))
    if any(_is_same_file(output, path, 0) for path in read):
        raise ValueError(f"{display_name(output)}: is read as input; write to another file")
    if is_stream(output):
        return
    if is_held(_lock_of(output)):
        raise _busy(output)
    if not overwrite and is_nonempty_file(output):
        raise ValueError(f"{output}: exists already; --overwrite replaces it")


def _lock_of(output: Path) -> Path:
    """The lock file of an output, the same for all links and spellings."""
    return Path(os.path.realpath(output) + ".lock")


def _busy(output: Path) -> ValueError:
    return ValueError(f"{output}: another process is writing it; wait for it, or write to another file")


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


def is_nonempty_file(path: Path) -> bool:
    """Whether a file is there that is not empty; a folder is no file."""
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def is_stream(path: Path) -> bool:
    """Whether an output is a stream: `-`, a pipe, a device, or an open file under a name such as /dev/stdout.

    Example:
        >>> is_stream(Path("-")), is_stream(Path("/dev/null")), is_stream(Path("facts.jsonl"))
        (True, True, False)
    """
    system = path.parts[1:2] in (("dev",), ("proc",)) and path.parts[1:3] != ("dev", "shm")
    return is_special(path) or system


def display_name(path: Path) -> str:
    """What an output is called in messages."""
    return "standard output" if path == STANDARD else str(path)


def partial_path(output: Path) -> Path:
    """Where the results of long work are kept until the output is complete.

    Example:
        >>> print(partial_path(Path("facts.jsonl")))
        facts.jsonl.partial
    """
    return Path(f"{output}.partial")


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A new file that is called `path` once all of it is on disk.

    An exception or a full disk leaves the old file as it was, and nothing else; after a kill or a loss of
    power, a temporary file `.unnoted-*` may be left beside it.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "cannot write here: it is a folder", str(path))
    temporary = path.with_name(_temporary_name())
    try:
        raw = temporary.open("xb")  # unlike a NamedTemporaryFile, with the permissions of the umask
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
    try:
        with _named(path), raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        with _named(path):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that is called `path` once all of it is written; nothing is left of it if that never comes.

    Raises:
        OSError: there is something of that name already that is not an empty folder.
    """
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(errno.EEXIST, "cannot write here: the name is taken", str(path))
    made = path.with_name(_temporary_name())
    try:
        made.mkdir()
        yield made
        made.rename(path)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


_TEMPORARY = ".unnoted-"


def _temporary_name() -> str:
    return _TEMPORARY + secrets.token_hex(8)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name an output in errors of writing, which name no file; errors of other files stay as they are."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not Path(str(error.filename)).name.startswith(_TEMPORARY):
            raise
        raise OSError(error.errno, f"not written: {error.strerror}", display_name(path)) from None


_STANDARD_FILES = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
_OPEN_FILE = re.compile(r"-|/dev/std(?:out|err)|/(?:dev|proc/self|proc/thread-self)/fd/(\d+)")


@contextmanager
def open_binary_output(path: Path) -> Iterator[BinaryIO]:
    """Write bytes to what a user named: to a stream as they come, to a file when it is complete.

    A link leads to the file. Errors name the output.
    """
    if not is_stream(path):
        place = Path(os.path.realpath(path))
        if place.is_symlink():
            raise OSError(errno.ELOOP, f"cannot write here: {os.strerror(errno.ELOOP)}", str(path))
        with atomic_write(place) as raw:
            yield raw
        return
    number = _OPEN_FILE.fullmatch(str(path))  # opened by its name, it would begin at the file's start again
    try:
        if number is not None:
            descriptor = os.dup(int(number[1] or _STANDARD_FILES[str(path)]))
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOCTTY", 0))
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", display_name(path)) from None
    with _named(path), os.fdopen(descriptor, "wb") as raw:
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


# JSON


CHUNK = MEBI
ENCODABLE = "characters that UTF-8 can hold"
_BLANKS = re.compile(r"[ \t\r\n]*")


class RepeatedKey:
    """Stands for a JSON object in which a key stands twice: it is no dictionary, so that no model accepts it."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        self.key = ""
        for name, _ in pairs:
            if name in seen:
                self.key = name
                break
            seen.add(name)

    def __repr__(self) -> str:
        return f"the key {short_repr(self.key)} twice in one object"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object] | RepeatedKey:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else RepeatedKey(pairs)


def _unique(pairs: list[tuple[str, object]]) -> object:
    fields = _object(pairs)
    if isinstance(fields, RepeatedKey):
        fail(Kind.MALFORMED, None, f"key {short_repr(fields.key)}", "twice in one object", "each key once")
    return fields


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_LOCATING = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)
"""Hands out objects with a repeated key as such, so that the reader that knows the place reports it."""
_REFUSING = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique)
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def parse_record(text: str, place: str) -> object:
    """Parse the JSON value of a line; an object in which a key stands twice is a `RepeatedKey`."""
    return _parse(_LOCATING, text, place)


def parse_json(text: str) -> object:
    """Parse the JSON value that a whole file is; a `DataError` names what is wrong with it."""
    value = _parse(_REFUSING, text, None)
    if "\\u" in text:  # the only way to half a surrogate pair, which can be read and never be written again
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            fail(Kind.MALFORMED, None, None, short_repr(error.object[error.start]), ENCODABLE)
    return value


def _parse(decoder: json.JSONDecoder, text: str, place: str | None) -> object:
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
        >>> list(ArrayReader(io.StringIO('[{"a": 1}, {"a": 2}]')))
        [{'a': 1}, {'a': 2}]
    """

    def __init__(self, stream: TextIO, limits: Limits | None = None) -> None:
        self.stream = stream
        self.limits = limits or Limits.current()
        self.buffer, self.position, self.ended = "", 0, False
        self.index = 0
        self._line, self._counted = 1, 0  # of the buffer's place up to which lines were counted

    def __iter__(self) -> Iterator[object]:
        return (element for _, _, element in self.numbered())

    def numbered(self) -> Iterator[tuple[int, int, object]]:
        """Each element with its number from 0, and the line that it begins at."""
        if (first := self._next_character()) != "[":
            self._fail(f"{short_repr(first)} at the start", "a JSON list of documents, '['")
        self.position += 1
        separator = self._next_character()
        while separator != "]":
            self._next_character()
            line = self.line
            yield self.index, line, self._element()
            self.index += 1
            separator = self._next_character()
            if separator not in ("]", ","):
                problem = short_repr(separator) if separator else "the end of the file"
                self._fail(f"{problem} after document {self.index}", "',' or ']'")
            self.position += separator == ","
        self.position += 1
        if trailing := self._next_character():
            self._fail(f"{short_repr(trailing)} after the list", "the end of the file")

    @property
    def line(self) -> int:
        """The line that the reader has come to, from 1."""
        self._line += self.buffer.count("\n", self._counted, self.position)
        self._counted = max(self._counted, self.position)
        return self._line

    def _next_character(self) -> str:
        """The next character that is not blank, without taking it; empty at the end of the file."""
        skipped = 0
        while True:
            blank = _BLANKS.match(self.buffer, self.position)
            assert blank is not None  # it matches nothing at all, too
            skipped += blank.end() - self.position
            self.position = blank.end()
            self._check_size(skipped)
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
        self.buffer, self.position = self.buffer[self.position :] + chunk, 0
        return bool(chunk)

    def _element(self) -> object:
        where = f"in document {self.index + 1}"
        while True:
            try:
                value, end = _LOCATING.raw_decode(self.buffer, self.position)
            except json.JSONDecodeError as error:
                self._check_size(len(self.buffer) - self.position)
                # A token that is cut by the end of the buffer fails within its last characters.
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self.buffer) - 16
                if cut and self._read_more():
                    continue
                if self.ended and (
                    error.msg.startswith("Unterminated") or error.pos >= len(self.buffer.rstrip())
                ):
                    self._fail(f"the end of the file {where}", "the rest of the document and ']'")
                near = self.buffer[max(0, error.pos - 20) : error.pos + 20]
                self._fail(f"broken JSON {where} near {short_repr(near)} ({error.msg})", "valid JSON")
            except RecursionError:
                self._fail(f"JSON nested too deeply {where}", "a document")
            except ValueError as error:
                self._fail(f"{_reason(error)} {where}", "a document")
            if end == len(self.buffer) and self._read_more():
                continue  # a number may go on
            self._check_size(end - self.position)
            self.position = end
            return value

    def _check_size(self, size: int) -> None:
        if size > self.limits.document:
            problem = f"more than {self.limits.document:,} characters in document {self.index + 1}"
            fail(Kind.TOO_LARGE, None, None, problem, self.limits.allowance("document"))

    def _fail(self, found: str, expected: str) -> NoReturn:
        fail(Kind.UNREADABLE, None, None, found, expected)


def read_json(path: Path, error: type[ValueError]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The content of a JSON file; a failure raises the given type of error, which names the file."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, MemoryError) as problem:
        raise error(f"{path}: no readable JSON ({describe_error(problem)})") from problem


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with open_output(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON record per line to what a user named; returns how many."""
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


# YAML


CONFIG_CHARACTERS = 100_000


class YamlError(ValueError):
    """Text that is no YAML of plain values; names the line."""


def parse_yaml(text: str) -> object:
    r"""The value of a YAML text of mappings, lists and plain values, without tags and aliases.

    Raises:
        YamlError: names the line.

    Example:
        >>> parse_yaml("epochs: 3\ntrain: [a.json, b.json]")
        {'epochs': 3, 'train': ['a.json', 'b.json']}
        >>> parse_yaml("epochs: 3\nepochs: 4")
        Traceback (most recent call last):
        unnoted.io.YamlError: line 2: the key 'epochs' stands twice
    """
    if len(text) > CONFIG_CHARACTERS:
        raise YamlError(f"line 1: {len(text):,} characters are more than {CONFIG_CHARACTERS:,}")
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlError(strip_control(f"line {line}: {shorten(str(error.problem))}")) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(f"line {line}: the character {text[error.position]!r} is not allowed") from None
    except RecursionError:
        raise YamlError("line 1: values are nested too deeply") from None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses what YAML would take silently, such as a key that stands twice, of which it keeps the last."""

    yaml_implicit_resolvers: Mapping[str, Any] = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="tags and aliases are not allowed", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {short_repr(key.value)} stands twice", problem_mark=key.start_mark
                    )
                seen.add((key.tag, key.value))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        try:
            if len(node.value) > 1000 and node.tag.endswith((":int", ":float")):
                raise ValueError("Python cannot print it")
            return super().construct_object(node, deep)
        except ValueError as error:  # what looks like a number and is none, or one of thousands of digits
            value = short_repr(node.value)
            raise yaml.MarkedYAMLError(
                problem=f"{value} is not a number", problem_mark=node.start_mark
            ) from error


# Checksums


CHECKSUMS = "checksums.json"
"""For each file of the folder, its size and the SHA-256 of its content."""


def write_checksums(folder: Path, names: Iterable[str], to: str = CHECKSUMS) -> None:
    """Record the size and the content of files, beside them; replaces what was recorded before.

    Example:
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     _ = (folder / "config.json").write_text("{}")
        ...     write_checksums(folder, ["config.json"])
        ...     _ = (folder / "config.json").write_text("[]")
        ...     check_checksums(folder, ValueError)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: .../config.json: the content differs from what was saved (SHA-256 4f53cda18c2b..., not ...
    """
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": content_digest(folder / name)}
        for name in sorted(set(names) - {to})
    }
    write_json(folder / to, {"files": files})


def check_checksums(folder: Path, error: type[ValueError], name: str = CHECKSUMS) -> Collection[str]:
    """Compare every file that has a checksum with it.

    Args:
        folder: whose files.
        error: what is raised.
        name: the file of the checksums.

    Returns:
        The names of the files that have checksums; none if the folder has no checksums.

    Raises:
        ValueError: of the given type, if a file is missing or differs; names it.
    """
    path = folder / name
    if not path.exists():
        return ()
    content = read_json(path, error)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not files:
        raise error(f"{path}: must list the files beside it with their checksums, not {short_repr(content)}")
    for file_name, entry in files.items():
        size, digest = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if PurePath(file_name).name != file_name or type(size) is not int or not isinstance(digest, str):
            raise error(f"{path}: files.{short_repr(file_name)}: {short_repr(entry)} is no size and SHA-256")
        file = folder / file_name
        try:
            actual = file.stat().st_size
            if actual != size:
                raise error(f"{file}: has {actual:,} bytes, and {size:,} were saved ({name})")
            changed = content_digest(file)
        except OSError as missing:
            raise error(
                f"{file}: cannot be read ({describe_error(missing)}); it was saved ({name})"
            ) from None
        if changed != digest:
            raise error(
                f"{file}: the content differs from what was saved (SHA-256 {changed[:12]}..., "
                f"not {digest[:12]}... as in {name})"
            )
    return files.keys()
