"""JSON one record at a time: the elements of a list or the lines of a file, read as streams.

What Python's reader takes silently is an error here: a key that stands twice, constants such as NaN, half a
surrogate pair. What it raises as errors of its own is named: numbers of thousands of digits, endless nesting.
"""

import json
import re
from collections.abc import Iterator
from typing import NoReturn, TextIO

from unnoted.common.errors import DataError, Kind, fail, shown
from unnoted.common.limits import Limits

CHUNK = 1 << 20
ENCODABLE = "characters that UTF-8 can hold"


class RepeatedKey(dict[str, object]):
    """An object in which a key stands twice. It is no `dict` to whoever asks for exactly that type."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]

    def __repr__(self) -> str:
        return f"the key {shown(self.key)} twice in one object"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else RepeatedKey(pairs)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = _object(pairs)
    if type(fields) is RepeatedKey:
        fail(Kind.MALFORMED, None, f"key {shown(fields.key)}", "it twice in one object", "it once")
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
        unnoted.common.errors.DataError: : key 'b': found it twice in one object, expected it once
    """
    value = _parsed(_REFUSING, text, None)
    if (
        "\\u" in text
    ):  # the only way to half a surrogate pair, which can be read from JSON and never be written again
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            fail(Kind.MALFORMED, None, None, shown(error.object[error.start]), ENCODABLE)
    return value


def _parsed(decoder: json.JSONDecoder, text: str, place: str | None) -> object:
    try:
        return decoder.decode(text)
    except DataError:
        raise
    except RecursionError:
        fail(Kind.MALFORMED, None, place, "JSON nested too deeply", "a JSON object")
    except ValueError as error:
        fail(Kind.MALFORMED, None, place, f"{shown(text)} ({_reason(error)})", "a JSON object")


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
            self._fail(f"{shown(self._next_character())} at the start", "a JSON list of documents, '['")
        self.position += 1
        if self._next_character() == "]":
            self.position += 1
        else:
            yield from self._elements()
        if trailing := self._next_character():
            self._fail(f"{shown(trailing)} after the list", "the end of the file")

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
                found = f"{shown(separator)}" if separator else "the end of the file"
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
        self._fail(f"broken JSON {where} near {shown(near)} ({error.msg})", "valid JSON")

    def _fail(self, found: str, expected: str) -> NoReturn:
        fail(Kind.UNREADABLE, None, None, found, expected)


def _is_definite(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more input could not mend the error: it lies before the end by more than a cut token."""
    return not error.msg.startswith("Unterminated") and error.pos < length - 16
