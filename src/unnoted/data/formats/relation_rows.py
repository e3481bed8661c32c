"""Relation files of PubTator corpora: document, relation, subject id, object id, separated by tabs.

A fifth column that says `false` is our own: the row is a known negative.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, TextIO

from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import Limits, numbered_lines
from unnoted.utils import short_repr

FALSE = "false"
"""What the fifth column of a known negative says."""


class Row(NamedTuple):
    """One row: what it says and where it stands."""

    relation: str
    subject: str
    object: str
    file: str
    line: int
    holds: bool = True


def looks_like(start: str) -> bool:
    """Whether a file that starts like this holds relation rows."""
    columns = start.split("\n", 1)[0].rstrip("\r").split("\t")
    return len(columns) == 4 or columns[4:] == [FALSE]


def split_row(line: str) -> list[str] | None:
    r"""The columns of a row without its end of line; None if it is no row.

    Example:
        >>> split_row("1\tspouse\tA\tB\tfalse"), split_row("1\tspouse\tA")
        (['1', 'spouse', 'A', 'B', 'false'], None)
    """
    columns = line.split("\t")
    is_row = all(columns) and (len(columns) == 4 or columns[4:] == [FALSE])
    return columns if is_row else None


@dataclass(slots=True)
class RelationRows:
    """The rows of any number of files by document, each taken once by the document it belongs to."""

    by_document: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def read(self, stream: TextIO, log: DefectLog, limits: Limits) -> None:
        """Add the rows of one file."""
        for number, line in numbered_lines(stream, limits):
            text = line.rstrip("\r\n")
            if not text:
                continue
            try:
                if (columns := split_row(text)) is None:
                    expected = "document, relation, subject and object, separated by tabs"
                    fail(Kind.MALFORMED, None, f"line {number}", short_repr(text), expected)
            except DataError as error:
                log.error(error)
                continue
            document, relation, subject, object_, *false = columns
            row = Row(relation, subject, object_, log.file, number, not false)
            self.by_document[document].append(row)
            log.relation_rows += 1

    def take(self, document: str) -> list[Row]:
        """The rows of a document, which are then no longer here."""
        return self.by_document.pop(document, [])

    def report_rest(self, log: DefectLog) -> None:
        """Log every row whose document never came."""
        for document, rows in self.by_document.items():
            for row in rows:
                place = f"line {row.line}"
                log.add(Kind.UNKNOWN_DOCUMENT, document, place, row.relation, "a known document", row.file)
        self.by_document.clear()
