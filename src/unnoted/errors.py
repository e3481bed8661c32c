"""What can be wrong with data, how severe it is, and a log in which nothing is lost.

Three severities:

* an **error** makes a document (or the rest of a file) unusable: it is raised, or, where every defect is to
  be listed, the document is left out and the error recorded;
* a **defect** leaves the document usable: it is counted, with the first examples kept; an error when strict;
* a **note** is information that a user of the data will want to have: never an error.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from unnoted.utils import short_repr, shorten, strip_control


class Severity(StrEnum):
    """How severe a kind of defect is."""

    NOTE = "note"
    DEFECT = "defect"
    ERROR = "error"


class DefectKind(Enum):
    """Every kind of defect a reader can report: its severity and what it means."""

    UNREADABLE = Severity.ERROR, "no documents can be read, or not to the end of the file"
    MALFORMED = Severity.ERROR, "a field is missing, of the wrong type or out of range"
    DUPLICATE_ID = Severity.ERROR, "two documents share a title or id"
    OFFSET_MISMATCH = Severity.ERROR, "a mention's text differs from the text at its offsets"
    UNKNOWN_RELATION = Severity.ERROR, "a relation is not in the given vocabulary"
    TOO_LARGE = Severity.ERROR, "a file, a document or a part of it is beyond a limit, which can be raised"

    DUPLICATE_FACT = Severity.DEFECT, "a fact is listed twice; kept once"
    DUPLICATE_MENTION = Severity.DEFECT, "an entity lists the same mention twice; kept"
    CONFLICTING_ID = Severity.DEFECT, "one entity has different ids; the first one counts, or two are kept"
    DUPLICATE_ENTITY = Severity.DEFECT, "two entities of one type share an id; kept as two"
    CUT_START = Severity.DEFECT, "a mention begins inside a word, or at a blank; kept"
    CUT_END = Severity.DEFECT, "a mention ends inside a word, or at a blank; kept"
    NAME_MISMATCH = Severity.DEFECT, "a mention's name differs from its words; kept"
    UNKNOWN_DOCUMENT = Severity.DEFECT, "a relation row names an unknown document; dropped"
    UNLINKED_ENTITY = Severity.DEFECT, "a relation row names an entity that no mention links to; dropped"
    WRONG_TYPE = Severity.DEFECT, "a relation row names an entity of a type its relation excludes; dropped"
    SELF_RELATION = Severity.DEFECT, "a relation row relates an entity to itself; dropped"
    IGNORED_FIELD = Severity.DEFECT, "a field that the format does not have; ignored"

    SPLIT_MENTION = Severity.NOTE, "a mention of several pieces; read from its first to its last word"
    UNLINKED_MENTION = Severity.NOTE, "a mention is linked to no entity; left out"
    SHARED_MENTION = Severity.NOTE, "a mention is linked to several entities; given to each"
    MIXED_TYPES = Severity.NOTE, "an entity has mentions of several types; the first one counts"
    UNUSED_ANNOTATION = Severity.NOTE, "an annotation of a kind that is not used here; left out"
    LIKELY_DUPLICATE = Severity.NOTE, "two entities may be one, by their names: `unnoted review` merges them"
    NO_FACTS = Severity.NOTE, "a document has no labelled fact"
    NO_EVIDENCE = Severity.NOTE, "a fact has no evidence sentence"
    NO_ENTITIES = Severity.NOTE, "a document has no entity"
    NO_ABSTRACT = Severity.NOTE, "a document has a title only"

    @property
    def severity(self) -> Severity:
        """How severe it is."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """What it means, and what the reader did about it."""
        return self.value[1]

    @property
    def slug(self) -> str:
        """Its name in tables and JSON."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong, and where.

    Attributes:
        kind: what is wrong.
        file: its name.
        document: the document's id.
        field: the place within the document or file.
        found: the value, or a short description.
        expected: what is valid.
        line: at which the document begins.

    Example:
        >>> print(Defect(DefectKind.MALFORMED, "train.json", "Ada", "labels[2].h", "9", "an entity index below 4"))
        train.json: document 'Ada': labels[2].h: 9, expected an entity index below 4
    """

    kind: DefectKind
    file: str
    document: str | None
    field: str | None
    found: str
    expected: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{strip_control(self.file)}: {self.within_file}"

    @property
    def within_file(self) -> str:
        """The same without the file, on one line of limited length."""
        places = []
        if self.line is not None and not (self.field or "").startswith("line "):
            places.append(f"line {self.line}")
        if self.document is not None:
            places.append(f"document {short_repr(self.document)}")
        if self.field is not None:
            places.append(shorten(self.field))
        places.append(f"{shorten(self.found)}, expected {shorten(self.expected)}")
        return strip_control(": ".join(places))


class DataError(ValueError):
    """Data that cannot be used: names the file, the document, the field, its value and what is valid.

    The reader that knows the file fills its name in (see `DefectLog.located`).
    """

    def __init__(
        self,
        found: str,
        expected: str,
        document: str | None = None,
        place: str | None = None,
        kind: DefectKind = DefectKind.MALFORMED,
        file: str = "",
        line: int | None = None,
    ) -> None:
        super().__init__(found, expected, document, place, kind, file, line)  # so that it can be pickled
        self.defect = Defect(kind, file, document, place, found, expected, line)

    @classmethod
    def from_defect(cls, defect: Defect) -> "DataError":
        """The error of a defect."""
        d = defect
        return cls(d.found, d.expected, d.document, d.field, d.kind, d.file, d.line)

    def __str__(self) -> str:
        return str(self.defect)


EXAMPLES_KEPT = 5
"""How many examples of each kind a log keeps unless told otherwise; all are counted."""


@dataclass(slots=True)
class DefectLog:
    """Counts every defect of one reading and keeps the first examples of each kind.

    Args:
        file: the file being read; changed by the reader as it goes from file to file.
        strict: every defect (but not a note) is an error.
        collect: an error leaves its document out and is recorded here, instead of being raised.
        keep: how many examples of each kind are kept; all are counted.
        line: the line that the document begins at which is being read; None where there are no lines.
        ignored: fields of documents that the format does not have, and how often.
    """

    file: str = ""
    strict: bool = False
    collect: bool = False
    relation_rows: int = 0
    keep: float = EXAMPLES_KEPT
    line: int | None = None
    ignored: Counter[str] = field(default_factory=Counter)
    counts: Counter[DefectKind] = field(default_factory=Counter)
    examples: defaultdict[DefectKind, list[Defect]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self,
        kind: DefectKind,
        document: str | None,
        place: str | None,
        found: str,
        expected: str,
        file: str | None = None,
    ) -> None:
        """Count a defect or note; raise it if this log is strict and it is more than a note."""
        line = self.line if file is None else None  # another file has other lines
        defect = Defect(kind, file or self.file, document, place, found, expected, line)
        if self._raises(kind):
            raise DataError.from_defect(defect)
        self.record(defect)

    def _raises(self, kind: DefectKind) -> bool:
        return self.strict and not self.collect and kind.severity is Severity.DEFECT

    def record(self, defect: Defect) -> None:
        """Count a defect and keep it if it is among the first of its kind."""
        self.counts[defect.kind] += 1
        if len(self.examples[defect.kind]) < self.keep:
            self.examples[defect.kind].append(defect)

    def keeps(self, kind: DefectKind) -> bool:
        """Whether a defect of this kind would be among the examples, and is worth describing with effort."""
        return self.counts[kind] < self.keep

    def forget(self, kind: DefectKind) -> None:
        """Take back what was found of one kind, once it turns out to say nothing."""
        self.counts.pop(kind, None)
        self.examples.pop(kind, None)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Fill the name of the file in where a `DataError` within has none."""
        try:
            yield
        except DataError as error:
            raise self.located(error) from None

    def located(self, error: DataError) -> DataError:
        """The same error with the file's name filled in."""
        if error.defect.file:
            return error
        return DataError.from_defect(replace(error.defect, file=self.file, line=self.line))

    def error(self, error: DataError) -> None:
        """Raise an error with its file named, or record it where errors are collected."""
        located = self.located(error)
        if not self.collect:
            raise located from None
        self.record(located.defect)

    def total(self, severity: Severity) -> int:
        """How many defects of a severity were found."""
        return sum(count for kind, count in self.counts.items() if kind.severity is severity)

    @property
    def usable(self) -> bool:
        """Whether the data can be used."""
        defects = self.total(Severity.DEFECT) if self.strict else 0
        return self.total(Severity.ERROR) + defects == 0
