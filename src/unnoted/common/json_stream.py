"""JSON one record at a time: the elements of a list or the lines of a file, read as streams."""

import json
from collections.abc import Iterator
from typing import NoReturn, TextIO

from unnoted.common.errors import Kind, fail, shown

CHUNK = 1 << 20
LARGEST_ELEMENT = 1 << 28
"""Characters that one element of a list may have before the file is taken for damaged."""


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


def repeated_key(text: str) -> str | None:
    """A key that stands twice in one object of a JSON text: parsers keep the last value and say nothing.

    Example:
        >>> repeated_key('{"a": {"b": 1, "b": 2}}'), repeated_key('{"a": {"a": 1}}')
        ('b', None)
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        keys = [key for key, _ in pairs]
        repeated.extend(key for key in keys if keys.count(key) > 1)

    json.loads(text, object_pairs_hook=note)
    return repeated[0] if repeated else None


class ArrayReader:
    """Reads the elements of one JSON array from a stream, holding one chunk and one element at a time.

    Example:
        >>> import io
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
