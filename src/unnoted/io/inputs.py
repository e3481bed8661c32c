"""Text in: limits on its size, plain or gzip, from a file or a stream."""

import codecs
import errno
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any, TextIO
from weakref import WeakSet

from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.utils import nearest, short_repr

PREFIX = "UNNOTED_MAX_"
MEBI = 1 << 20
STANDARD = Path("-")
"""Standard input where files are read, standard output where they are written."""


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
        ratio: how many times its own size a `.spacy` file, which is read as a whole, may unpack to.
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
            raise DataError(
                f"{size:,} {things}", self.allowance(name), document, place, kind=DefectKind.TOO_LARGE
            )

    def allowance(self, name: str) -> str:
        """A limit as an error states it."""
        return f"at most {getattr(self, name):,} ({variable(name)})"


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return PREFIX + name.upper()


START = 1 << 16
"""How many bytes of an input are looked at before it is read, to recognise its format."""
_BUFFER = 1 << 18
_taken: WeakSet[Any] = WeakSet()
"""Standard inputs that somebody has begun to read: a second reader would get the middle of them."""


def is_stream(path: Path) -> bool:
    """Whether a path is no file or folder: `-`, a pipe, a device, or an open file under a name like /dev/stdout.

    Example:
        >>> is_stream(Path("-")), is_stream(Path("/dev/null")), is_stream(Path("facts.jsonl"))
        (True, True, False)
    """
    if path == STANDARD or (path.parts[1:2] in (("dev",), ("proc",)) and path.parts[2:3] != ("shm",)):
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, or no name at all
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_stream(path: Path) -> None:
    """Refuse a stream where the content is read more than once."""
    if is_stream(path):
        problem = "a stream, which can be read only once"
        raise DataError(problem, "a file", kind=DefectKind.UNREADABLE, file=TextInput(path).name)


class TextInput:
    """A file, or a stream that can be read once: its start can be looked at before it is read.

    Standard input is called `-`. A file is opened when it is needed; a stream (a pipe, standard input, a
    device) is opened once and kept open between looking and reading.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = "standard input" if self.path == STANDARD else str(path)
        self._start: bytes | None = None
        self._rest: Any = None  # of a stream that was looked at and not yet read

    @classmethod
    def from_path(cls, source: "str | Path | TextInput") -> "TextInput":
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
                if is_stream(self.path):
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
            if self._rest is None:
                stream = _open_bytes(self.path)
            else:
                stream, self._rest = io.BufferedReader(_Bytes(self._rest, self._start or b""), _BUFFER), None
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
    blank = 0
    for number in count(1):
        if not (line := stream.readline(limits.document + 1)):
            return
        blank = blank + 1 if line == "\n" else 0
        size = max(blank, len(line))
        limits.check("document", size, "characters or blank lines", None, f"line {number}")
        yield number, line


@contextmanager
def rereadable(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The same inputs as files: whatever is a stream is copied to a temporary file until the block ends."""
    limits = Limits.current()
    with tempfile.TemporaryDirectory(prefix="unnoted-") as folder:
        files = list(paths)
        for number, path in enumerate(paths):
            if is_stream(path):
                name = TextInput(path).name
                files[number] = Path(folder, str(number), name.replace("/", "_"))
                files[number].parent.mkdir()
                with (
                    DefectLog(name).locating(),
                    _located(),
                    _open_bytes(path) as stream,
                    files[number].open("wb") as copy,
                ):
                    while part := stream.read1(MEBI):
                        copy.write(part)
                        limits.check("decompressed", copy.tell(), "bytes or more")
        yield files


@contextmanager
def _located() -> Iterator[None]:
    """Turn every way in which reading fails into a `DataError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"the byte 0x{error.object[error.start]:02x}", "UTF-8 text", kind=DefectKind.UNREADABLE
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"damaged gzip data ({error})", "a whole gzip file", kind=DefectKind.UNREADABLE
        ) from None
    except OSError as error:
        reasons = {errno.EISDIR: "a directory", errno.ENOENT: "no such file"}
        reason = reasons.get(error.errno or 0, error.strerror or str(error))
        raise DataError(reason, "a file", kind=DefectKind.UNREADABLE) from None


def _open_bytes(path: Path) -> Any:  # noqa: ANN401 - a buffered reader, or a gzip file
    """The bytes of an input, decompressed; standard input stays open afterwards."""
    if path == STANDARD:
        if sys.stdin is None:
            raise DataError("no standard input", "a file", kind=DefectKind.UNREADABLE)
        if sys.stdin.buffer in _taken:
            raise DataError("named twice, and it can be read once", "a file", kind=DefectKind.UNREADABLE)
        _taken.add(sys.stdin.buffer)
        raw: Any = io.BufferedReader(_Bytes(sys.stdin.buffer), _BUFFER)
    elif "\0" in os.fspath(path):
        raise DataError("a name with a NUL character", "a file", kind=DefectKind.UNREADABLE)
    else:
        raw = io.BufferedReader(io.FileIO(path), _BUFFER)
    try:
        return _LimitedGzip(fileobj=raw) if raw.peek(2).startswith(b"\x1f\x8b") else raw
    except BaseException:
        raw.close()
        raise


class _Bytes(io.RawIOBase):
    """The bytes of another stream, after some that were taken from it; standard input stays open."""

    def __init__(self, stream: Any, head: bytes = b"") -> None:  # noqa: ANN401
        self.stream, self.head = stream, head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        part = self.head[: len(buffer)] or self.stream.read1(len(buffer))
        self.head = self.head[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        if not self.closed and self.stream not in _taken:
            self.stream.close()
        super().close()


class _LimitedGzip(gzip.GzipFile):
    """Refuses to unpack more than the limit; closes what it reads from."""

    def __init__(self, fileobj: Any) -> None:  # noqa: ANN401
        super().__init__(fileobj=fileobj, mode="rb")
        self.packed, self.limits = fileobj, Limits.current()

    def read1(self, size: int = -1) -> bytes:
        part = super().read1(size)
        self.limits.check("decompressed", self.tell(), "bytes or more of decompressed data")
        return part

    def close(self) -> None:
        super().close()
        self.packed.close()
