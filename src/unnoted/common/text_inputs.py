"""Text in: files and streams, plain or gzip, strict UTF-8, each opened once and read within limits."""

import codecs
import errno
import gzip
import hashlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO
from weakref import WeakSet

from unnoted.common.errors import DataError, Defect, DefectLog, Kind, fail
from unnoted.common.limits import MEBI, Limits
from unnoted.common.output_streams import STANDARD, is_special

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
