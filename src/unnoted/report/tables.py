"""A small typed table: columns that know how to write their values and which value is best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TypeAlias

from markupsafe import Markup

from unnoted.common.wording import duration
from unnoted.experiments.results import Figure
from unnoted.report.formats import count, percent, signed
from unnoted.report.templating import fill

Value: TypeAlias = str | int | float | Figure | None
"""What a cell holds; None where there is no value. Words in a column of figures are never the best."""

NO_VALUE = "–"


class Alignment(StrEnum):
    """To which side a column is set."""

    LEFT = "left"
    RIGHT = "right"


class Best(StrEnum):
    """Which value of a column is the best."""

    HIGHEST = "highest"
    LOWEST = "lowest"


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        title: its heading.
        written: how a value is written.
        alignment: to which side.
        best: which value to mark; None marks none.
        group: a heading over this and the neighbouring columns of the same group.
        quiet: whether its values stand back behind those of other columns.
    """

    title: str
    written: Callable[..., str] = str
    alignment: Alignment = Alignment.RIGHT
    best: Best | None = None
    group: str = ""
    quiet: bool = False


def words(title: str) -> Column:
    """A column of words."""
    return Column(title, str, Alignment.LEFT)


def counts(title: str, group: str = "") -> Column:
    """A column of counts."""
    return Column(title, count, group=group)


def shares(title: str, best: Best | None = Best.HIGHEST, group: str = "") -> Column:
    """A column of shares, in per cent."""
    return Column(title, percent, best=best, group=group)


def differences(title: str) -> Column:
    """A column of differences in points."""
    return Column(title, signed)


def figures(title: str, group: str = "", quiet: bool = False) -> Column:
    """A column of figures in per cent, each perhaps with its deviation."""
    return Column(title, str, best=Best.HIGHEST, group=group, quiet=quiet)


def durations(title: str) -> Column:
    """A column of times taken."""
    return Column(title, duration)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is written, and whether it is the best of its column within its group of rows."""

    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first column names the rows.

    Args:
        caption: what the table shows, in a sentence.
        columns: the columns.
        rows: for each row, a value for each column.
        row_groups: a heading for each row; neighbours of the same stand together and are compared with each
            other only. Empty where all rows are of one kind.

    Raises:
        ValueError: a row has more or fewer values than there are columns, or not every row has a heading.

    Example:
        >>> table = Table("Scores.", (words("Method"), shares("F1")), (("A", 0.5), ("B", 0.25)))
        >>> [[cell.text for cell in row] for row in table.cells()]
        [['A', '50.0'], ['B', '25.0']]
        >>> [row[1].best for row in table.cells()]
        [True, False]
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    row_groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row}: found {len(row)} values, expected {len(self.columns)}")
        if self.row_groups and len(self.row_groups) != len(self.rows):
            raise ValueError(f"row groups: found {len(self.row_groups)}, expected {len(self.rows)}")

    def cells(self) -> list[list[Cell]]:
        """The rows as they are shown."""
        return [row for _, rows in self.bodies() for row in rows]

    def bodies(self) -> list[tuple[str, list[list[Cell]]]]:
        """The rows as they are shown, by their groups, each with its heading."""
        headings = self.row_groups or ("",) * len(self.rows)
        together = groupby(zip(headings, self.rows, strict=True), lambda pair: pair[0])
        return [(heading, self._written([row for _, row in pairs])) for heading, pairs in together]

    def _written(self, rows: Sequence[tuple[Value, ...]]) -> list[list[Cell]]:
        columns = [_cells(column, [row[index] for row in rows]) for index, column in enumerate(self.columns)]
        return [list(row) for row in zip(*columns, strict=True)]

    def groups(self) -> list[tuple[str, int]]:
        """The headings over neighbouring columns, each with its number of columns; none without groups."""
        if not any(column.group for column in self.columns):
            return []
        return [
            (group, len(list(columns)))
            for group, columns in groupby(self.columns, lambda column: column.group)
        ]

    def to_html(self) -> Markup:
        """The table as HTML; the best values are strong."""
        return fill("table", table=self)


def _cells(column: Column, values: Sequence[Value]) -> list[Cell]:
    texts = [_text(column, value) for value in values]
    best = _best_text(column, values, texts)
    return [
        Cell(text, best is not None and _compared(value, text) == best)
        for value, text in zip(values, texts, strict=True)
    ]


def _text(column: Column, value: Value) -> str:
    if value is None:
        return NO_VALUE
    return value if isinstance(value, str) else column.written(value)


def _best_text(column: Column, values: Sequence[Value], texts: Sequence[str]) -> str | None:
    """The text of the best value; None where nothing is to be marked.

    Values that are written alike are equally good, and where all are, none is best.
    """
    numbers = [
        (value.mean if isinstance(value, Figure) else value, _compared(value, text))
        for value, text in zip(values, texts, strict=True)
        if isinstance(value, int | float | Figure)
    ]
    if column.best is None or len({text for _, text in numbers}) < 2:
        return None
    pick = max if column.best is Best.HIGHEST else min
    return pick(numbers)[1]


def _compared(value: Value, text: str) -> str:
    """By what values are told apart: as they are written, but for a deviation."""
    return str(Figure(value.mean)) if isinstance(value, Figure) else text
