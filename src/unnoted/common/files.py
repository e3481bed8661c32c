"""Files in and out: plain or gzip, strict UTF-8, streamed, written whole or not at all."""

import gzip
import io
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

from unnoted.common.errors import Kind, fail, shown

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20
LARGEST_ELEMENT = 1 << 28
"""Characters one JSON array element may have before the file is taken for damaged."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a plain or gzip file, told apart by content, and turn every way to fail into a `DataError`.

    Lines end at a newline only: other characters that Python counts as line breaks occur inside abstracts.
    """
    try:
        with _open_bytes(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="\n") as text:
            yield text
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


def _open_bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    with path.open("rb") as probe:
        compressed = probe.read(2) == GZIP_MAGIC
    return gzip.open(path, "rb") if compressed else path.open("rb")


@contextmanager
def write_text(path: Path) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; `.gz` names are compressed.

    Whatever stops the writing (an exception, a full disk, a kill) leaves the old file as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with _encoded(path, raw) as text:
                yield text
            raw.flush()
            os.fsync(raw.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"not written: {error.strerror}", str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with write_text(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


@contextmanager
def _encoded(path: Path, raw: io.BufferedWriter) -> Iterator[TextIO]:
    """A text layer over `raw`, through gzip without name and time (equal content, equal bytes) for `.gz`."""
    if path.suffix != ".gz":
        plain = io.TextIOWrapper(raw, "utf-8", newline="\n")
        yield plain
        plain.detach()  # flushes, and leaves `raw` open for fsync
        return
    with (
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="\n") as text,
    ):
        yield text


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_no_constant)
_BLANK = " \t\r\n"


def parse_json(text: str, document: str | None, place: str | None) -> object:
    """Parse one JSON value; a `DataError` names what is wrong with it."""
    try:
        return DECODER.decode(text)
    except RecursionError:
        fail(Kind.MALFORMED, document, place, "JSON nested too deeply", "a JSON object")
    except ValueError as error:
        fail(Kind.MALFORMED, document, place, f"{shown(text)} ({error})", "a JSON object")


class ArrayReader:
    """Reads the elements of one JSON array from a stream, holding one chunk and one element at a time.

    Example:
        >>> list(ArrayReader(io.StringIO('[{"a": 1}, {"a": 2}]')))
        [{'a': 1}, {'a': 2}]
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer = ""
        self.position = 0
        self.ended = False
        self.index = 0

    def __iter__(self) -> Iterator[object]:
        if self._next_character() != "[":
            self._fail(f"{shown(self._next_character())} at the start", "a JSON list of documents, '['")
        self.position += 1
        if self._next_character() == "]":
            self.position += 1
        else:
            yield from self._elements()
        if trailing := self._next_character():
            self._fail(f"{shown(trailing)} after the list", "the end of the file")

    def _elements(self) -> Iterator[object]:
        while True:
            yield self._element()
            self.index += 1
            separator = self._next_character()
            self.position += 1
            if separator == "]":
                return
            if separator != ",":
                found = f"{shown(separator)}" if separator else "the end of the file"
                self._fail(f"{found} after document {self.index}", "',' or ']'")

    def _next_character(self) -> str:
        """The next character that is not blank, without taking it; empty at the end of the file."""
        while True:
            while self.position < len(self.buffer) and self.buffer[self.position] in _BLANK:
                self.position += 1
            if self.position < len(self.buffer):
                return self.buffer[self.position]
            if not self._read_more():
                return ""

    def _read_more(self) -> bool:
        chunk = "" if self.ended else self.stream.read(max(CHUNK, len(self.buffer) - self.position))
        self.ended = not chunk
        self.buffer = self.buffer[self.position :] + chunk
        self.position = 0
        return bool(chunk)

    def _element(self) -> object:
        self._next_character()
        while True:
            try:
                value, self.position = DECODER.raw_decode(self.buffer, self.position)
                return value
            except json.JSONDecodeError as error:
                if _is_definite(error, len(self.buffer)) or not self._can_grow():
                    self._fail_element(error)
            except RecursionError:
                self._fail(f"JSON nested too deeply in document {self.index + 1}", "a document")
            except ValueError as error:
                self._fail(f"{error} in document {self.index + 1}", "a document")

    def _can_grow(self) -> bool:
        return len(self.buffer) - self.position < LARGEST_ELEMENT and self._read_more()

    def _fail_element(self, error: json.JSONDecodeError) -> NoReturn:
        cut = error.pos >= len(self.buffer.rstrip()) or error.msg.startswith("Unterminated")
        where = f"in document {self.index + 1}"
        if self.ended and cut:
            self._fail(f"the end of the file {where}", "the rest of the document and ']'")
        near = self.buffer[max(0, error.pos - 20) : error.pos + 20]
        self._fail(f"broken JSON {where} near {shown(near)} ({error.msg})", "valid JSON")

    def _fail(self, found: str, expected: str) -> NoReturn:
        fail(Kind.UNREADABLE, None, None, found, expected)


def _is_definite(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more input could not mend the error: it lies before the end by more than a cut token."""
    return not error.msg.startswith("Unterminated") and error.pos < length - 16
