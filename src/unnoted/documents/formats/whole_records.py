"""The records of a file as they stand in it, so that those which nobody changes keep every character."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unnoted.common.text_inputs import TextInput

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """A record: its number (as its reader counts), what it says, and where it stands in the file's text."""

    number: int
    value: Any
    start: int
    end: int


def file_text(path: Path) -> str:
    """The text of a file, plain or gzip."""
    with TextInput(path).open() as stream:
        return stream.read()


def records_of(text: str) -> Iterator[WholeRecord]:
    """The records of a JSON list, counted from 0, or of JSON lines that are not blank, counted from 1."""
    begin = _after_blanks(text, 0)
    return _elements(text, begin) if text[begin : begin + 1] == "[" else _lines(text)


def _elements(text: str, begin: int) -> Iterator[WholeRecord]:
    position = _after_blanks(text, begin + 1)
    number = 0
    while text[position] != "]":
        position = _after_blanks(text, position + 1) if number else position  # after the comma
        value, end = _DECODER.raw_decode(text, position)
        yield WholeRecord(number, value, position, end)
        number, position = number + 1, _after_blanks(text, end)


def _lines(text: str) -> Iterator[WholeRecord]:
    start, number = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        number += 1
        if line.strip():
            yield WholeRecord(number, json.loads(line), start, start + len(line.rstrip()))
        start += len(line) + 1


def _after_blanks(text: str, position: int) -> int:
    blank = _BLANKS.match(text, position)
    assert blank is not None  # it matches nothing at all, too
    return blank.end()


def changed(text: str, change: Callable[[WholeRecord], object]) -> str:
    """The text with the records for which `change` gives another value written anew, and no other."""
    pieces, done = [], 0
    for record in records_of(text):
        value = change(record)
        if value is not None:
            pieces += [text[done : record.start], json.dumps(value, ensure_ascii=text.isascii())]
            done = record.end
    return "".join([*pieces, text[done:]])


def selected(text: str, wanted: Callable[[WholeRecord], bool]) -> str:
    """The wanted records as they are: a list of them, or lines."""
    kept = [text[record.start : record.end] for record in records_of(text) if wanted(record)]
    if text.lstrip()[:1] == "[":
        return "[" + ",\n".join(kept) + "]\n"
    return "".join(f"{line.rstrip()}\n" for line in kept)


def select_by(path: Path, ids: Collection[str], title: Callable[[Any, int], str]) -> str:
    """The records of a file whose documents have certain ids."""
    return selected(file_text(path), lambda record: title(record.value, record.number) in ids)
