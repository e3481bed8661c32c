"""Relation files of PubTator corpora: document, relation, subject id, object id, separated by tabs."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, TextIO

from unnoted.common.errors import DataError, DefectLog, Kind, fail, shown
from unnoted.common.limits import Limits
from unnoted.common.text_inputs import numbered_lines


class Row(NamedTuple):
    """One row: what it says and where it stands."""

    relation: str
    subject: str
    object: str
    file: str
    line: int


def looks_like(start: str) -> bool:
    """Whether a file that starts like this holds relation rows."""
    return start.split("\n", 1)[0].count("\t") == 3


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
                columns = text.split("\t")
                if len(columns) != 4 or not all(columns):
                    expected = "document, relation, subject and object, separated by tabs"
                    fail(Kind.MALFORMED, None, f"line {number}", shown(text), expected)
            except DataError as error:
                log.error(error)
                continue
            self.by_document[columns[0]].append(Row(columns[1], columns[2], columns[3], log.file, number))
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
