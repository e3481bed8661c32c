"""Results as tables: aligned text, Markdown, CSV, LaTeX, and an HTML page with plots."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from unnoted.data.visualization import STYLE
from unnoted.experiments.results import CURVE, TableResult
from unnoted.io import open_output
from unnoted.utils import MissingExtra, percent, plural, strip_control, templates_of

NO_VALUE = "–"
SUFFIXES = {"text": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex", "html": ".html"}
"""The formats of a table, and how their files end."""

MARKS = {
    "own": ("∗", "the published figures are from the authors' own implementation"),
    "reported": ("†", "the published figures are reported from earlier work"),
}
"""The sign at the title of a row for where its published figures are from, and what the sign means."""


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
        >>> from unnoted.experiments.results import MeanStd, Row
        >>> row = Row("a", "A", "", published={"F1": MeanStd(42.1)}, measured={"F1": MeanStd.from_values([40.0, 41.0])})
        >>> results_table(TableResult("t", "Scores.", ("F1",), (row,))).rows
        (('A', '42.10', '40.50 ± 0.71'),)
    """
    published = {title for row in result.rows for title in row.published}
    columns = ["Model"]
    for title in result.columns:
        columns += [f"{title} published", f"{title} measured"] if title in published else [title]
    rows = []
    for row in result.rows:
        cells = [row.title + (MARKS[row.mark][0] if row.mark in MARKS else "")]
        missing = "failed" if row.failures and not row.records else NO_VALUE
        for title in result.columns:
            if title in published:
                cells.append(str(row.published.get(title, NO_VALUE)))
            cells.append(str(row.measured.get(title, missing)))
        rows.append(tuple(cells))
    groups = tuple(row.group for row in result.rows)
    title = f"{result.name}: {result.title}"
    notes = tuple(_notes(result))
    return Table(title, tuple(columns), tuple(rows), notes, groups if len(set(groups)) > 1 else ())


def _notes(result: TableResult) -> Iterator[str]:
    yield "In per cent; ± is the standard deviation over seeds."
    marks = {row.mark for row in result.rows}
    yield from (f"{sign} {meaning}" for mark, (sign, meaning) in MARKS.items() if mark in marks)
    yield from (f"{title}: {meaning}" for title, meaning in CURVE.items() if title in result.columns)
    for row in result.rows:
        runs = plural(len(row.records) + len(row.failures), "run")
        for reason, number in Counter(failure.reason for failure in row.failures).items():
            failed = ", ".join(each.run_id for each in row.failures if each.reason == reason)
            yield f"{row.title}: {number} of {runs} failed ({failed}): {reason}"
    repeated = Counter(row.title for row in result.rows)
    titles = {
        row.name: row.title + (f" ({row.group})" if repeated[row.title] > 1 else "") for row in result.rows
    }
    for test in result.significance:
        yield (
            f"{titles[test.better]} against {titles[test.than]}: "
            f"{test.difference:+.2f} points of F1 (95 %: {test.low:+.2f} to {test.high:+.2f}; ahead in "
            f"{percent(test.share)} % of resamples): {test.verdict}"
        )
    yield from result.notes


def to_csv(result: TableResult) -> str:
    """A line for each row and column of a result, for spreadsheets: figures with all their digits."""
    out = StringIO()
    titles = (
        "table", "group", "row", "title", "column", "published_mean", "published_std", "measured_mean",
        "measured_std", "seeds", "failures",
    )  # fmt: skip
    writer = csv.DictWriter(out, titles, lineterminator="\n")
    writer.writeheader()
    for row in result.rows:
        failures = "; ".join(failure.reason for failure in row.failures)
        about = {"table": result.name, "group": row.group, "row": row.name, "title": row.title}
        for column in result.columns:
            line: dict[str, object] = {**about, "column": column, "failures": failures}
            if published := row.published.get(column):
                line |= {"published_mean": published.mean, "published_std": published.std}
            if measured := row.measured.get(column):
                line |= {
                    "measured_mean": measured.mean,
                    "measured_std": measured.std,
                    "seeds": measured.seeds,
                }
            writer.writerow(line)
    return out.getvalue()


def write_tables(result: TableResult, folder: Path) -> dict[str, Path]:
    """Write a table of runs in every format; returns the files by the names of formats."""
    table = results_table(result)
    plots = {}
    if curves := {row.title: row.records[0].scored["test"].curve for row in result.rows if row.records}:
        try:
            from unnoted.experiments.plots import plot_precision_recall

            plots["Precision and recall at every threshold"] = plot_precision_recall(curves)
        except MissingExtra:
            pass
    content = {
        "text": table.to_text(), "markdown": table.to_markdown(), "csv": to_csv(result),
        "latex": table.to_latex(), "html": render_page(table.title, [table], plots),
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
    return template.render(title=title, intro=intro, tables=tables, plots=plots, style=STYLE)
