"""The records of a file as they stand in it, so that those which nobody changes keep every character."""

import json
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unnoted.data.contents import file_text

_BLANKS = re.compile(r"\ufeff?[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """A record: its number (as its reader counts), what it says, and where it stands in the file's text."""

    number: int
    value: Any
    start: int
    end: int


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
        begin = _after_blanks(line, 0)
        if begin < len(line):
            yield WholeRecord(number, json.loads(line[begin:]), start + begin, start + len(line.rstrip()))
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


def select_by(paths: Sequence[Path], ids: Container[str], title: Callable[[Any, int], str]) -> str:
    """The records of files whose documents have certain ids, as they are: a list of them, or lines.

    One file of which every record is wanted stays as it is, to the last blank.
    """
    kept: list[str] = []
    listed = False
    for path in paths:
        text = file_text(path)
        found = [(title(each.value, each.number) in ids, each.start, each.end) for each in records_of(text)]
        if len(paths) == 1 and all(wanted for wanted, _, _ in found):
            return text
        kept += [text[start:end] for wanted, start, end in found if wanted]
        listed = listed or text.lstrip("\ufeff \t\r\n").startswith("[")
    if listed:
        return "[" + ",\n".join(kept) + "]\n"
    return "".join(f"{line}\n" for line in kept)
