"""A table of runs in every format: published beside measured, and below it what is to be known about it."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.report.formats import counted, percent, signed
from unnoted.report.table_formats import latex_lines, latex_text, markdown_lines, markdown_text, text_lines
from unnoted.report.tables import NO_VALUE, Column, Table, Value, figures, words

FAILED = "failed"
"""What stands in the cells of a row none of whose runs came to an end."""

MARKS = {
    "own": ("∗", "the published figures are of the authors' own implementation"),
    "reported": ("†", "the published figures are reported from earlier work"),
}
"""The sign at the title of a row for where its published figures are from, and what the sign means."""

CSV_COLUMNS = (
    "table",
    "group",
    "row",
    "title",
    "column",
    "published_mean",
    "published_deviation",
    "measured_mean",
    "measured_deviation",
    "seeds",
    "failures",
)


@dataclass(frozen=True, slots=True)
class Remarks:
    """What stands below a table.

    Attributes:
        signs: what the signs in it mean.
        failures: which runs failed, and why.
        claims: who is better than whom.
        notes: every way in which the runs depart from what was published; where nothing was, what is to be
            known about them.
        published: whether anything was.
    """

    signs: tuple[str, ...]
    failures: tuple[str, ...]
    claims: tuple[str, ...]
    notes: tuple[str, ...]
    published: bool

    @property
    def title_of_notes(self) -> str:
        """What the notes are about."""
        return "Departs from what was published" if self.published else "Notes"

    def titled(self) -> list[tuple[str, tuple[str, ...]]]:
        """Those that are there, each kind under its title; the signs have none."""
        kinds = [
            ("", self.signs),
            ("Failed runs", self.failures),
            ("Compared by a paired bootstrap over documents", self.claims),
            (self.title_of_notes, self.notes),
        ]
        return [(title, lines) for title, lines in kinds if lines]


def table_text(result: TableResult) -> str:
    """The table for a terminal.

    Example:
        >>> row = RowResult("a", "A", "", {"F1": Figure(42.1)}, {"F1": Figure.over([40.0, 41.0])}, ())
        >>> print(table_text(TableResult("t", "Scores.", ("F1",), (row,), ("2 seeds instead of 5",))))
        t: Scores.
        <BLANKLINE>
                                    F1
        Model  published      measured
        A          42.10  40.50 ± 0.71
        <BLANKLINE>
        Departs from what was published:
        - 2 seeds instead of 5
    """
    return text_of(result, grid_table(result), remarks_of(result).titled())


def table_markdown(result: TableResult) -> str:
    """The table in Markdown, the best of each group of rows bold."""
    return markdown_of(result, grid_table(result), remarks_of(result).titled())


def table_latex(result: TableResult) -> str:
    """The table in LaTeX, the best of each group of rows bold. It needs no package."""
    return latex_of(result, grid_table(result), remarks_of(result).titled())


TitledLines: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""What stands below a table: lines under a title, or under none."""


def text_of(result: TableResult, table: Table, below: TitledLines) -> str:
    """A table of a result for a terminal."""
    lines = [f"{result.name}: {result.title}", "", *text_lines(table)]
    for title, remarks in below:
        lines += ["", f"{title}:", *(f"- {line}" for line in remarks)] if title else ["", *remarks]
    return "\n".join(lines)


def markdown_of(result: TableResult, table: Table, below: TitledLines) -> str:
    """A table of a result in Markdown."""
    lines = [f"**{markdown_text(result.name)}**: {markdown_text(result.title)}", "", *markdown_lines(table)]
    for title, remarks in below:
        lines += ["", f"{title}:"] if title else []
        lines += ["", *(f"- {markdown_text(line)}" for line in remarks)]
    return "\n".join(lines)


def latex_of(result: TableResult, table: Table, below: TitledLines) -> str:
    """A table of a result in LaTeX."""
    # Published beside measured figures make wide tables. Table 1 fits a page of 16 cm so; with deviations
    # of the measured figures it needs half a centimetre of each margin, and the box keeps it in the middle.
    narrow = r"\scriptsize\setlength{\tabcolsep}{2pt}"
    middle = r"\makebox[\linewidth][c]{%"
    lines = [r"\begin{table*}", r"\centering", narrow, middle, *latex_lines(table), "}"]
    lines += [rf"\caption{{{latex_text(result.title)}}}", rf"\label{{{result.name}}}"]
    for title, remarks in below:
        written = [latex_text(f"{title}:")] if title else []
        written += [latex_text(line) for line in remarks]
        lines += [r"\par\smallskip", r"\begin{minipage}{\linewidth}\footnotesize", "\n\n".join(written)]
        lines.append(r"\end{minipage}")
    return "\n".join([*lines, r"\end{table*}"])


def table_csv(result: TableResult) -> str:
    """A line for each row and column, figures with all their digits; notes and claims have no place in it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in result.rows:
        reasons = "; ".join(failure.reason for failure in row.failures)
        for column in result.columns:
            named = (result.name, row.group, row.name, row.title, column)
            published, measured = row.published.get(column), row.measured.get(column)
            given = (*_mean_and_deviation(published), *_mean_and_deviation(measured))
            writer.writerow([*named, *given, measured.seeds if measured else None, reasons])
    return stream.getvalue()


def _mean_and_deviation(figure: Figure | None) -> tuple[float | None, float | None]:
    return (None, None) if figure is None else (figure.mean, figure.deviation)


def grid_table(result: TableResult) -> Table:
    """The table itself. Where nothing was published, only what was measured is shown."""
    both = any(row.published for row in result.rows)
    columns: list[Column] = [words("Model")]
    for title in result.columns:
        columns += (
            [figures("published", title, quiet=True), figures("measured", title)]
            if both
            else [figures(title)]
        )
    rows = tuple(
        (titled(row), *(value for column in result.columns for value in _values(row, column, both)))
        for row in result.rows
    )
    groups = tuple(row.group for row in result.rows)
    several = len(set(groups)) > 1
    return Table(_caption(result), tuple(columns), rows, groups if several else ())


def titled(row: RowResult) -> str:
    """A row's title with the sign of its mark; a mark without a sign is written out."""
    if not row.mark:
        return row.title
    return f"{row.title}{MARKS[row.mark][0]}" if row.mark in MARKS else f"{row.title} ({row.mark})"


def _values(row: RowResult, column: str, both: bool) -> list[Value]:
    measured: Value = row.measured.get(column)
    if measured is None and row.failures and not row.records:
        measured = FAILED
    return [row.published.get(column), measured] if both else [measured]


def _caption(result: TableResult) -> str:
    seeds = {figure.seeds for row in result.rows for figure in row.measured.values()} - {None}
    several = any(number > 1 for number in seeds if number)
    deviation = "; ± is the standard deviation over seeds" if several else ""
    compared = " of its group" if len({row.group for row in result.rows}) > 1 else ""
    return f"{result.name}. In per cent{deviation}. Bold: the best of a column{compared}."


def remarks_of(result: TableResult) -> Remarks:
    """What is to be known about a table."""
    marks = {row.mark for row in result.rows}
    signs = [f"{sign} {meaning}" for mark, (sign, meaning) in MARKS.items() if mark in marks]
    values = [value for row in grid_table(result).rows for value in row]
    if None in values:
        signs.append(f"{NO_VALUE} not published, or not run")
    titles = full_titles(result)
    return Remarks(
        tuple(signs),
        tuple(line for row in result.rows for line in _failures(row)),
        tuple(
            claimed(claim, titles.get(claim.better, claim.better), titles.get(claim.than, claim.than))
            for claim in result.claims
        ),
        result.notes,
        any(row.published for row in result.rows),
    )


def _failures(row: RowResult) -> list[str]:
    """A line for each reason, with the folders of the runs that it stopped."""
    runs = len(row.records) + len(row.failures)
    by_reason: dict[str, list[str]] = {}
    for failure in row.failures:
        by_reason.setdefault(failure.reason, []).append(failure.address)
    return [
        f"{row.title}: {len(addresses)} of {counted(runs, 'run')} failed{_where(addresses)}: {reason}"
        for reason, addresses in by_reason.items()
    ]


def _where(addresses: list[str]) -> str:
    """The folders of runs; a run that was never begun has none."""
    known = [address for address in addresses if address]
    return f" ({', '.join(known)})" if known else ""


def full_titles(result: TableResult) -> dict[str, str]:
    """The title of each row by its name, with its group where rows of several groups are called the same."""
    titles = Counter(row.title for row in result.rows)
    return {
        row.name: f"{row.title} ({row.group})" if titles[row.title] > 1 else row.title for row in result.rows
    }


def claimed(claim: Claim, better: str, than: str) -> str:
    """A claim in a line, with the titles of its rows.

    Example:
        >>> claimed(Claim("a", "b", 0.3, -0.2, 0.8, 0.87), "A", "B")
        'A against B: +0.30 points of F1 (95 %: −0.20 to +0.80; ahead in 87.0 % of resamples): not certain'
    """
    difference, low, high = (signed(value, digits=2) for value in (claim.difference, claim.low, claim.high))
    return (
        f"{better} against {than}: {difference} points of F1 "
        f"(95 %: {low} to {high}; ahead in {percent(claim.share)} % of resamples): {claim.verdict}"
    )
