"""Changing a few lists within a JSON text and nothing else: every other character stays as it was."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from unnoted.data.decided import Changes, FactDecision, Mending
from unnoted.data.document import Triple

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Part(NamedTuple):
    """A value within a JSON text, and where it stands."""

    value: Any
    start: int
    end: int


def elements(text: str, start: int) -> tuple[list[Part], int]:
    """The elements of the list that begins at `start`, and where the list ends.

    Example:
        >>> elements('[1, {"a": 2}] ', 0)
        ([Part(value=1, start=1, end=2), Part(value={'a': 2}, start=4, end=12)], 13)
    """
    found: list[Part] = []
    position = _next(text, start + 1)
    while text[position] != "]":
        position = _next(text, position + 1) if found else position  # after the comma
        value, end = _DECODER.raw_decode(text, position)
        found.append(Part(value, position, end))
        position = _next(text, end)
    return found, position + 1


def fields(text: str, start: int) -> tuple[dict[str, Part], int]:
    """The fields of the object that begins at `start`, and where the object ends.

    Example:
        >>> fields('{"a": [1]}', 0)
        ({'a': Part(value=[1], start=6, end=9)}, 10)
    """
    found: dict[str, Part] = {}
    position = _next(text, start + 1)
    while text[position] != "}":
        position = _next(text, position + 1) if found else position
        key, end = _DECODER.raw_decode(text, position)
        begin = _next(text, _next(text, end) + 1)  # after the colon
        value, end = _DECODER.raw_decode(text, begin)
        found[key] = Part(value, begin, end)
        position = _next(text, end)
    return found, position + 1


def _next(text: str, position: int) -> int:
    blank = _BLANKS.match(text, position)
    assert blank is not None  # it matches nothing at all, too
    return blank.end()


@dataclass(slots=True)
class Splices:
    """A text, and what parts of it are to be replaced by.

    Example:
        >>> splices = Splices("a b c")
        >>> splices.replace(2, 3, "B")
        >>> splices.applied()
        'a B c'
    """

    text: str
    _new: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, new: str) -> None:
        """Put something in the place of a part; parts must not overlap."""
        self._new.append((start, end, new))

    def applied(self) -> str:
        """The text with all parts replaced."""
        pieces, done = [], 0
        for start, end, new in sorted(self._new, key=lambda each: each[:2]):
            pieces += [self.text[done:start], new]
            done = end
        return "".join([*pieces, self.text[done:]])

    def change_list(self, start: int, dropped: Collection[int], added: Iterable[str]) -> None:
        """Drop elements of the list that begins at `start` by number, and add others at its end."""
        parts, end = elements(self.text, start)
        new = list(added)
        kept = [number for number in range(len(parts)) if number not in dropped]
        if not parts or not kept:
            self.replace(start, end, f"[{', '.join(new)}]")
            return
        opening = self.text[start : parts[0].start]
        between = [self.text[one.end : other.start] for one, other in pairwise(parts)]
        usual = between[-1] if between else "," + (opening[1:] if "\n" in opening else " ")
        pieces = [opening]
        for place, number in enumerate(kept):
            pieces += [
                between[number - 1] if place else "",
                self.text[parts[number].start : parts[number].end],
            ]
        pieces += [usual + each for each in new]
        self.replace(start, end, "".join(pieces) + self.text[parts[-1].end : end])

    def add_field(self, start: int, key: str, value: str) -> None:
        """Add a field at the end of the object that begins at `start`, which has a field already."""
        found, _ = fields(self.text, start)
        opening = self.text[start + 1 : _next(self.text, start + 1)]
        last = max(part.end for part in found.values())
        separator = "," + (opening if "\n" in opening else " ")
        self.replace(last, last, f"{separator}{json.dumps(key)}: {value}")


@dataclass(frozen=True, slots=True)
class RecordShape:
    """How a JSON format writes the facts of a document.

    Attributes:
        facts: the key of the list of facts.
        negatives: the key of the list of known negatives.
        triple: a listed fact or negative as (head, tail, relation).
        entry: a decision as it is listed, without its provenance.
    """

    facts: str
    negatives: str
    triple: Callable[[Mapping[str, Any]], Triple]
    entry: Callable[[FactDecision], dict[str, Any]]

    def mend(self, splices: Splices, start: int, document: str, mending: Mending) -> None:
        """Make what was decided about the document whose object begins at `start`."""
        found, _ = fields(splices.text, start)
        changes = mending.changes(
            document, self.listed(found, self.facts), self.listed(found, self.negatives)
        )
        self.change(splices, start, found, changes)

    def listed(self, found: Mapping[str, Part], key: str) -> list[Triple]:
        """The facts, or the known negatives, of a document."""
        return [self.triple(each) for each in found[key].value] if key in found else []

    def change(self, splices: Splices, start: int, found: Mapping[str, Part], changes: Changes) -> None:
        """Make the changes in the document that begins at `start`."""
        for key, added, gone in (
            (self.facts, changes.facts, changes.no_facts),
            (self.negatives, changes.negatives, changes.no_negatives),
        ):
            new = [self._written(each, splices.text) for each in added]
            if key in found and (new or gone):
                listed = enumerate(self.listed(found, key))
                dropped = {number for number, triple in listed if triple in gone}
                splices.change_list(found[key].start, dropped, new)
            elif new:
                splices.add_field(start, key, f"[{', '.join(new)}]")

    def _written(self, decision: FactDecision, text: str) -> str:
        entry = self.entry(decision)
        if decision.provenance:
            entry["provenance"] = dict(decision.provenance)
        return json.dumps(entry, ensure_ascii=text.isascii())
