"""Results as tables: aligned text, Markdown, CSV, LaTeX, and an HTML page with plots."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from unnoted.experiments.results import MeanStd, Row, Significance, TableResult, measure
from unnoted.io import open_output
from unnoted.utils import MissingExtra, duration, percent, plural, strip_control, templates_of

NO_VALUE = "–"
SUFFIXES = {"text": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex", "html": ".html"}
"""The formats of a table, and how their files end."""

MARKS = {
    "own": ("∗", "the published figures are from the authors' own implementation"),
    "reported": ("†", "the published figures are reported from earlier work"),
}
"""The sign at the title of a row for where its published figures are from, and what the sign means."""

CURVE = {
    "Best F1": "the highest F1 on the precision-recall curve, its threshold chosen on the test labels: "
    "a bound, not a result",
    "AP": "average precision, the area under that curve; both are over all true facts",
}
"""Columns of the whole curve, shown beside the F1 as decided, and what they mean."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; the first column names the rows, the others are figures.

    Attributes:
        title: above the table.
        columns: their titles.
        rows: a text for each column.
        notes: below the table.
        groups: a heading for each row, or nothing; neighbours with the same heading are listed below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def sections(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        """The rows below their headings."""
        groups = self.groups or ("",) * len(self.rows)
        for group in dict.fromkeys(groups):
            yield group, [row for row, name in zip(self.rows, groups, strict=True) if name == group]

    def to_text(self) -> str:
        """Aligned columns."""
        table = RichTable(box=None, pad_edge=False, show_edge=False)
        for number, column in enumerate(self.columns):
            table.add_column(Text(strip_control(column)), justify="right" if number else "left", no_wrap=True)
        for group, rows in self.sections():
            if group:
                table.add_row(Text(strip_control(group), style="italic"))
            for first, *others in rows:
                table.add_row(*(Text(strip_control(cell)) for cell in ("  " * bool(group) + first, *others)))
        out = StringIO()
        Console(file=out, width=1000, color_system=None).print(table)
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        return "\n".join([self.title, "", *lines, "", *self.notes]).rstrip() + "\n"

    def to_markdown(self) -> str:
        """A table as GitHub writes it."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"

        lines = [line(self.columns), "|:---|" + "---:|" * (len(self.columns) - 1)]
        for group, rows in self.sections():
            lines += [line([f"*{group}*", *[""] * (len(self.columns) - 1)])] if group else []
            lines += map(line, rows)
        return "\n".join([f"**{self.title}**", "", *lines, "", *(f"- {note}" for note in self.notes)]) + "\n"

    def to_latex(self) -> str:
        """A booktabs table."""
        lines = [r"\begin{table}", rf"\caption{{{_latex(self.title)}}}"]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.columns)) + r" \\", r"\midrule"]
        for group, rows in self.sections():
            lines += [rf"\emph{{{_latex(group)}}} \\"] if group else []
            lines += [" & ".join(map(_latex, row)) + r" \\" for row in rows]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join([*lines, *(f"% {note}" for note in self.notes)]) + "\n"


_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "{}&%$#_"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$", "×": r"$\times$", "−": "$-$"}
    | {"∗": r"$^{\ast}$", "†": r"$^{\dagger}$"}
)


def _latex(text: str) -> str:
    return text.translate(_LATEX)


def results_table(result: TableResult) -> Table:
    """Runs as a table: published figures beside measured ones in the columns where anything was published.

    Example:
        >>> row = Row("a", "A", "", published={"F1": MeanStd(42.1)}, measured={"F1": MeanStd.of([40.0, 41.0])})
        >>> results_table(TableResult("t", "Scores.", ("F1",), (row,))).rows
        (('A', '42.10', '40.50 ± 0.71'),)
    """
    result = with_curve(result)
    published = {title for row in result.rows for title in row.published or ()}
    columns = ["Model"]
    for title in result.columns:
        columns += [f"{title} published", f"{title} measured"] if title in published else [title]

    def cells(row: Row) -> Iterator[str]:
        yield row.title + (MARKS[row.mark][0] if row.mark in MARKS else "")
        missing = "failed" if row.failures and not row.records else NO_VALUE
        for title in result.columns:
            if title in published:
                yield str((row.published or {}).get(title, NO_VALUE))
            yield str((row.measured or {}).get(title, missing))

    groups = tuple(row.group for row in result.rows)
    return Table(
        f"{result.name}: {result.title}",
        tuple(columns),
        tuple(tuple(cells(row)) for row in result.rows),
        tuple(_notes(result)),
        groups if len(set(groups)) > 1 else (),
    )


def with_curve(result: TableResult) -> TableResult:
    """The result with the figures of the whole curve as two more columns, if any run finished."""
    if not any(row.records for row in result.rows):
        return result
    rows = tuple(
        replace(row, measured={**(row.measured or {}), **measure(row.records, CURVE)}) for row in result.rows
    )
    return replace(result, columns=tuple(dict.fromkeys((*result.columns, *CURVE))), rows=rows)


def _notes(result: TableResult) -> Iterator[str]:
    yield "In per cent; ± is the standard deviation over seeds."
    marks = {row.mark for row in result.rows}
    yield from (f"{sign} {meaning}" for mark, (sign, meaning) in MARKS.items() if mark in marks)
    yield from (f"{title}: {meaning}" for title, meaning in CURVE.items() if title in result.columns)
    for row in result.rows:
        runs = plural(len(row.records) + len(row.failures), "run")
        for reason, number in Counter(failure.reason for failure in row.failures).items():
            addresses = ", ".join(each.run_id for each in row.failures if each.reason == reason)
            yield f"{row.title}: {number} of {runs} failed ({addresses}): {reason}"
    repeated = Counter(row.title for row in result.rows)
    titles = {
        row.name: row.title + (f" ({row.group})" if repeated[row.title] > 1 else "") for row in result.rows
    }
    yield from (_significance(test, titles) for test in result.significance)
    yield from result.notes


def _significance(test: Significance, titles: Mapping[str, str]) -> str:
    return (
        f"{titles.get(test.better, test.better)} against {titles.get(test.than, test.than)}: "
        f"{test.difference:+.2f} points of F1 (95 %: {test.low:+.2f} to {test.high:+.2f}; ahead in "
        f"{percent(test.share)} % of resamples): {test.verdict}"
    )


def runs_table(result: TableResult) -> Table:
    """Every finished run."""
    rows = [
        (
            row.title,
            str(record.config.get("seed", "")),
            percent(record.scored["test"].overall.f1),
            f"{record.train_documents:,}",
            f"{sum(record.train_facts.values()):,}",
            duration(record.seconds),
            record.run_id,
        )
        for row in result.rows
        for record in row.records
    ]
    return Table("Runs", ("Model", "Seed", "F1", "Documents", "Labels", "Time", "Folder"), tuple(rows))


def to_csv(result: TableResult) -> str:
    """A line for each row and column of a result, for spreadsheets: figures with all their digits."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("table", "group", "row", "title", "column", "published_mean", "published_std", "measured_mean",
         "measured_std", "seeds", "failures")
    )  # fmt: skip
    nothing = MeanStd(0.0)
    for row in (result := with_curve(result)).rows:
        for column in result.columns:
            published, measured = (row.published or {}).get(column), (row.measured or {}).get(column)
            writer.writerow(
                (
                    *(result.name, row.group, row.name, row.title, column),
                    *((published or nothing).mean if published else None, published and published.std),
                    *(measured and measured.mean, measured and measured.std, measured and measured.seeds),
                    "; ".join(failure.reason for failure in row.failures),
                )
            )
    return out.getvalue()


def write_tables(result: TableResult, folder: Path) -> dict[str, Path]:
    """Write a table of runs in every format; returns the files by the names of formats."""
    table = results_table(result)
    page = render_page(f"{result.name}: {result.title}", [table, runs_table(result)], _plots(result))
    content = {
        "text": table.to_text(), "markdown": table.to_markdown(), "csv": to_csv(result),
        "latex": table.to_latex(), "html": page,
    }  # fmt: skip
    files = {format: folder / f"{result.name}{SUFFIXES[format]}" for format in content}
    for format, file in files.items():
        with open_output(file) as stream:
            stream.write(content[format])
    return files


def render_page(
    title: str, tables: Sequence[Table], plots: Mapping[str, str], intro: Sequence[str] = ()
) -> str:
    """An HTML page without scripts or links.

    Args:
        title: its heading.
        tables: below the introduction.
        plots: SVG by caption.
        intro: paragraphs.
    """
    template = templates_of("unnoted.experiments", ".").get_template("report.html.j2")
    return template.render(title=title, intro=intro, tables=tables, plots=plots)


def _plots(result: TableResult) -> dict[str, str]:
    curves = {row.title: row.records[0].scored["test"].curve for row in result.rows if row.records}
    if not curves:
        return {}
    try:
        from unnoted.experiments.plots import plot_precision_recall

        return {"Precision and recall at every threshold": plot_precision_recall(curves)}
    except MissingExtra:
        return {}
