"""A table whose columns know how to write their values: as aligned text, Markdown, LaTeX and CSV.

Pages write it as HTML (`unnoted.report.page.table_html`). Evaluations, grids of runs and the demo all use it.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol, TypeAlias, TypeVar

from unnoted.utils import format_count, percent

T = TypeVar("T")


class Averaged(Protocol):
    """A mean that may be written with its deviation; values are compared by the mean alone."""

    @property
    def mean(self) -> float:
        """The mean."""


Value: TypeAlias = str | int | float | Averaged | None
"""What a cell holds; None where there is no value. Words in a column of figures are never the best."""

Notes: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Lines to print below a table, each group under a heading or under an empty one."""

NO_VALUE = "–"
DEVIATION = " ± "

_MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "_": r"\_", "<": "&lt;", "\n": " "})
_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "{}&%$#_"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "…": r"\ldots{}", "–": "--"}
    | {"±": r"$\pm$", "×": r"$\times$", "−": "$-$", "π": r"$\pi$", "→": r"$\rightarrow$"}
    | {"∗": r"$^{\ast}$", "†": r"$^{\dagger}$"}
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures; `words` and `shares` make other common kinds.

    Attributes:
        title: its heading.
        write: how a value is written.
        best: which value to mark, `max` or `min`; None marks none.
        group: a heading over this and the neighbouring columns of the same group.
        quiet: whether its values stand back behind those of other columns.
        left: whether it is set to the left.
    """

    title: str
    write: Callable[[Any], str] = str
    best: Callable[[Sequence[tuple[float, str]]], tuple[float, str]] | None = None
    group: str = ""
    quiet: bool = False
    left: bool = False


def words(title: str) -> Column:
    """A column of words."""
    return Column(title, left=True)


def counts(title: str) -> Column:
    """A column of counts."""
    return Column(title, format_count)


def shares(title: str, group: str = "") -> Column:
    """A column of shares written as percentages, the highest marked."""
    return Column(title, percent, max, group)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is written, and whether it is the best of its column within its group of rows."""

    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first column names the rows.

    Args:
        caption: what the table shows, in a sentence; for pages.
        columns: the columns.
        rows: for each row, a value for each column.
        row_groups: a heading for each row; neighbours with the same heading stand together and are compared
            with each other only. Empty where all rows are of one kind.
        name: a short name, printed before the title; LaTeX uses it as the label.
        title: printed above the table; LaTeX uses it as the caption.
        notes: printed below the table.

    Raises:
        ValueError: a row has more or fewer values than there are columns, or not every row has a heading.

    Example:
        >>> table = Table("Scores.", (words("Method"), shares("F1")), (("A", 0.5), ("BB", 0.25)))
        >>> print(table.text())
        Method    F1
        A       50.0
        BB      25.0
        >>> print(table.markdown())
        | Method | F1 |
        | :--- | ---: |
        | A | **50.0** |
        | BB | 25.0 |
        >>> print(table.csv(), end="")
        Method,F1
        A,0.5
        BB,0.25
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    row_groups: tuple[str, ...] = ()
    name: str = ""
    title: str = ""
    notes: Notes = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row}: found {len(row)} values, expected {len(self.columns)}")
        if self.row_groups and len(self.row_groups) != len(self.rows):
            raise ValueError(f"row groups: found {len(self.row_groups)}, expected {len(self.rows)}")

    @classmethod
    def of(cls, caption: str, items: Iterable[T], columns: Mapping[Column, Callable[[T], Value]]) -> "Table":
        """A table with a row for each item.

        Args:
            caption: what the table shows.
            items: what the rows are made from.
            columns: each with how its value comes from an item.

        Example:
            >>> print(Table.of("", ["a", "bb"], {words("Word"): str, counts("Letters"): len}).text())
            Word  Letters
            a           1
            bb          2
        """
        rows = tuple(tuple(value(item) for value in columns.values()) for item in items)
        return cls(caption, tuple(columns), rows)

    def bodies(self) -> list[tuple[str, list[list[Cell]]]]:
        """The rows as they are shown, by their groups, each group with its heading."""
        headings = self.row_groups or ("",) * len(self.rows)
        together = groupby(zip(headings, self.rows, strict=True), lambda pair: pair[0])
        return [(heading, self._written([row for _, row in pairs])) for heading, pairs in together]

    def _written(self, rows: Sequence[tuple[Value, ...]]) -> list[list[Cell]]:
        columns = [_cells(column, [row[index] for row in rows]) for index, column in enumerate(self.columns)]
        return [list(row) for row in zip(*columns, strict=True)]

    def groups(self) -> list[tuple[str, int]]:
        """The headings over neighbouring columns, each with its number of columns; none without groups."""
        found = groupby(column.group for column in self.columns)
        spans = [(group, len(list(columns))) for group, columns in found]
        return spans if any(group for group, _ in spans) else []

    def text(self) -> str:
        """The table for a terminal, in columns of one width each; nothing is marked as the best."""
        bodies = [(heading, [_indented(row, heading) for row in rows]) for heading, rows in self.bodies()]
        titles = [column.title for column in self.columns]
        every = [titles, *(row for _, rows in bodies for row in rows)]
        widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
        lines = [f"{self.name}: {self.title}", ""] if self.name else []
        if groups := self.groups():
            lines.append(_group_line(groups, widths))
        lines.append(self._aligned(titles, widths))
        for heading, rows in bodies:
            lines += [heading] if heading else []
            lines += [self._aligned(row, widths) for row in rows]
        for heading, notes in self.notes:
            lines += ["", f"{heading}:", *(f"- {note}" for note in notes)] if heading else ["", *notes]
        return "\n".join(lines)

    def _aligned(self, texts: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            text.ljust(width) if column.left else text.rjust(width)
            for text, width, column in zip(texts, widths, self.columns, strict=True)
        ]
        return "  ".join(cells).rstrip()

    def markdown(self) -> str:
        """The table in Markdown; the best values are bold.

        Markdown has one line of titles, so the heading over several columns goes before each title.
        """
        lines = [f"**{markdown_text(self.name)}**: {markdown_text(self.title)}", ""] if self.name else []
        lines.append(
            _piped(markdown_text(f"{column.group} {column.title}".strip()) for column in self.columns)
        )
        lines.append(_piped(":---" if column.left else "---:" for column in self.columns))
        for heading, rows in self.bodies():
            if heading:
                lines.append(_piped([f"*{markdown_text(heading)}*", *[""] * (len(self.columns) - 1)]))
            lines += [
                _piped(_marked(cell, markdown_text(cell.text), "**{}**") for cell in row) for row in rows
            ]
        for heading, notes in self.notes:
            lines += ["", f"{heading}:"] if heading else []
            lines += ["", *(f"- {markdown_text(note)}" for note in notes)]
        return "\n".join(lines)

    def latex(self) -> str:
        """The table as a LaTeX float that needs no package; the best values are bold."""
        # Published beside measured figures make wide tables, so letters and gaps are small, and the box keeps
        # what is still too wide in the middle.
        lines = [r"\begin{table*}", r"\centering", r"\scriptsize\setlength{\tabcolsep}{2pt}"]
        lines += [r"\makebox[\linewidth][c]{%", *self._tabular(), "}"]
        lines += [rf"\caption{{{latex_text(self.title)}}}", rf"\label{{{self.name}}}"]
        for heading, notes in self.notes:
            written = [f"{heading}:", *notes] if heading else notes
            lines += [r"\par\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
            lines += ["\n\n".join(map(latex_text, written)), r"\end{minipage}"]
        return "\n".join([*lines, r"\end{table*}"])

    def _tabular(self) -> Iterator[str]:
        yield rf"\begin{{tabular}}{{{''.join('l' if column.left else 'r' for column in self.columns)}}}"
        yield r"\hline"
        if groups := self.groups():
            yield _ended(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(heading)}}}" for heading, span in groups)
        yield _ended(latex_text(column.title) for column in self.columns)
        for heading, rows in self.bodies():
            yield r"\hline"
            if heading:
                wide = rf"\multicolumn{{{len(self.columns)}}}{{l}}{{\textit{{{latex_text(heading)}}}}}"
                yield _ended([wide])
            yield from (
                _ended(_marked(cell, _latex_cell(cell), r"\textbf{{{}}}") for cell in row) for row in rows
            )
        yield from (r"\hline", r"\end{tabular}")

    def csv(self) -> str:
        """The values as they are, with all their digits, under the columns' titles."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(column.title for column in self.columns)
        writer.writerows(self.rows)
        return stream.getvalue()


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it.

    Example:
        >>> print(markdown_text("a|b_c"))
        a\|b\_c
    """
    return text.translate(_MARKDOWN)


def latex_text(text: str) -> str:
    r"""A text as LaTeX sets it.

    Example:
        >>> print(latex_text("50 % ± 1 of P_17"))
        50 \% $\pm$ 1 of P\_17
    """
    return text.translate(_LATEX)


def _cells(column: Column, values: Sequence[Value]) -> list[Cell]:
    """Values that are written alike, deviations aside, are equally good; where all are, none is best."""
    texts = [_text(column, value) for value in values]
    means = [text.partition(DEVIATION)[0] for text in texts]
    numbers = [
        (value if isinstance(value, int | float) else value.mean, mean)
        for value, mean in zip(values, means, strict=True)
        if value is not None and not isinstance(value, str)
    ]
    several = len({mean for _, mean in numbers}) > 1
    best = column.best(numbers)[1] if column.best is not None and several else None
    return [
        Cell(text, mean == best and not isinstance(value, str))
        for text, mean, value in zip(texts, means, values, strict=True)
    ]


def _text(column: Column, value: Value) -> str:
    if value is None:
        return NO_VALUE
    return value if isinstance(value, str) else column.write(value)


def _indented(row: Sequence[Cell], heading: str) -> list[str]:
    return [f"{'  ' if heading else ''}{row[0].text}", *(cell.text for cell in row[1:])]


def _group_line(groups: Sequence[tuple[str, int]], widths: list[int]) -> str:
    """The headings over columns; the last column of a group takes what its heading needs beyond them."""
    start, parts = 0, []
    for heading, span in groups:
        width = sum(widths[start : start + span]) + 2 * (span - 1)
        widths[start + span - 1] += max(len(heading) - width, 0)
        parts.append(heading.rjust(width))
        start += span
    return "  ".join(parts).rstrip()


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ended(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _marked(cell: Cell, text: str, strong: str) -> str:
    return strong.format(text) if cell.best else text


def _latex_cell(cell: Cell) -> str:
    """A cell's text; a deviation is set small, so that published beside measured ones fit a page."""
    mean, deviates, deviation = cell.text.partition(DEVIATION)
    return latex_text(mean) + (rf"$_{{\pm {latex_text(deviation)}}}$" if deviates else "")
