"""PubTator files and their relation rows with what people decided: rows come and go, the text stays.

A new fact becomes a row of the last relation file, or, where there is none, a line at the end of its
document. Known negatives are rows with a fifth column, `false`, of a file that has such rows already, else of
a new one.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from unnoted.data.contents import file_text
from unnoted.data.decided import FactDecision, Mending
from unnoted.data.document import Document, Triple
from unnoted.data.formats import pubtator, relation_rows
from unnoted.data.formats.relation_rows import FALSE, Row, split_row
from unnoted.errors import DataError, Defect, DefectLog, Kind
from unnoted.utils import short_repr


class PlacedRow(NamedTuple):
    """A row within the files: which file, which line of it, and what it says."""

    file: int
    line: int
    triple: Triple
    holds: bool


@dataclass(slots=True)
class RowFile:
    """A file as lines that keep their ends, and what is to be put behind some of them."""

    lines: list[str]
    is_rows: bool
    dropped: set[int] = field(default_factory=set)
    added: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, text: str) -> "RowFile":
        """The lines of a text; only a newline ends one."""
        parts = text.split("\n")
        ended = [f"{line}\n" for line in parts[:-1]]
        return cls(
            ended + ([parts[-1]] if parts[-1] else []), relation_rows.looks_like(text.lstrip("\ufeff"))
        )

    @property
    def end(self) -> str:
        """How its lines end."""
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    def text(self) -> str:
        """The text as it is to be written."""
        pieces: list[str] = []
        for number, line in enumerate(self.lines):
            pieces += [] if number in self.dropped else [line]
            for row in self.added[number]:
                if pieces and not pieces[-1].endswith("\n"):
                    pieces[-1] += self.end
                pieces.append(row + self.end)
        return "".join(pieces)


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The lines of certain documents, as they are; one file of which all are wanted stays as it is."""
    kept: list[str] = []
    for path in paths:
        lines = RowFile.of(file_text(path)).lines
        blocks = [
            "".join(block) for filled, block in groupby(lines, lambda line: bool(line.strip())) if filled
        ]
        wanted = [block for block in blocks if block.lstrip("\ufeff").partition("|")[0] in ids]
        if len(paths) == 1 and len(wanted) == len(blocks):
            return "".join(lines)
        kept += (block.lstrip("\ufeff").rstrip("\r\n") + "\n" for block in wanted)
    return "\n".join(kept)


def mend(mending: Mending) -> list[str]:
    """The texts of all files, with what was decided."""
    files = [RowFile.of(mending.text(index)) for index in range(len(mending.sources))]
    rows: dict[str, list[PlacedRow]] = defaultdict(list)
    last_lines: dict[str, tuple[int, int]] = {}
    for number, file in enumerate(files):
        for line, document, row in _rows(file):
            if not file.is_rows:
                last_lines[document] = number, line
            if row is not None and document in mending.decisions:
                rows[document] += _placed(row, number, line, mending.documents[document])
    place = _Place(files, [file for file in files if file.is_rows], last_lines, mending)
    for document in mending.decisions:
        found = rows[document]
        facts, negatives = ([row.triple for row in found if row.holds is holds] for holds in (True, False))
        changes = mending.changes(document, facts, negatives)
        for placed in found:
            if placed.triple in (changes.no_facts if placed.holds else changes.no_negatives):
                files[placed.file].dropped.add(placed.line)
        for decision in (*changes.facts, *changes.negatives):
            place.add(decision)
    return [file.text() for file in files]


def _rows(file: RowFile) -> Iterator[tuple[int, str, Row | None]]:
    """Each line that belongs to a document: its number, the document, and the row if it is one."""
    for number, line in enumerate(file.lines):
        text = line.rstrip("\r\n").lstrip("\ufeff")
        columns = split_row(text)
        if columns and (file.is_rows or not pubtator.is_offset(columns[1])):
            yield number, columns[0], Row(columns[1], columns[2], columns[3], "", number, len(columns) == 4)
        elif text and not file.is_rows:
            yield number, text.replace("|", "\t", 1).split("\t", 1)[0], None


def _placed(row: Row, file: int, line: int, document: Document) -> Iterator[PlacedRow]:
    for fact in pubtator.facts_of([row], _positions(document), document.id, DefectLog()):
        yield PlacedRow(file, line, fact.triple, row.holds)


def _positions(document: Document) -> Mapping[tuple[str, str], int]:
    return {(entity.type, entity.id or ""): index for index, entity in enumerate(document.entities)}


@dataclass(slots=True)
class _Place:
    """Where new rows go."""

    files: list[RowFile]
    row_files: list[RowFile]
    last_lines: Mapping[str, tuple[int, int]]
    mending: Mending

    def add(self, decision: FactDecision) -> None:
        """Add the row of a decision; its provenance has no room in it."""
        row = self._row(decision)
        if decision.provenance:
            self.mending.unplaced.append(decision)
        fitting = [file for file in self.row_files if _has(file, decision.holds)]
        if fitting:
            fitting[-1].added[len(fitting[-1].lines) - 1].append(row)
        elif decision.holds:
            number, line = self.last_lines[decision.document]
            self.files[number].added[line].append(row)
        else:
            self.mending.negatives += f"{row}\n"

    def _row(self, decision: FactDecision) -> str:
        document = self.mending.documents[decision.document]
        subject, object_ = (document.entities[index].id or "" for index in (decision.head, decision.tail))
        row = Row(decision.relation, subject, object_, "", 0)
        found = [fact.triple for fact in pubtator.facts_of([row], _positions(document), "", DefectLog())]
        columns = [document.id, decision.relation, subject, object_]
        if found != [decision.triple] or any(letter in "".join(columns) for letter in "\t\r\n"):
            place, expected = (
                f"relation {short_repr(decision.relation)}",
                "a relation and ids that name this pair alone",
            )
            raise DataError(
                Defect(Kind.MALFORMED, "decisions", document.id, place, f"{subject}, {object_}", expected)
            )
        return "\t".join(columns + ([] if decision.holds else [FALSE]))


def _has(file: RowFile, holds: bool) -> bool:
    """Whether a file holds rows of facts, or of known negatives."""
    return any((len(line.rstrip("\r\n").split("\t")) == 4) is holds for line in file.lines if line.strip())
