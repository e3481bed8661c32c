"""A table of results in every format: files for a terminal, a text, a spreadsheet, a paper and a browser."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from markupsafe import Markup

from unnoted.common.files import write_text
from unnoted.common.tables import Table
from unnoted.experiments.results import RowResult, TableResult
from unnoted.report.gains import BASELINE, METHOD, gains, gains_plot, gains_table
from unnoted.report.grid_tables import csv_table, grid_table, runs_table, statistics_table
from unnoted.report.page import fill
from unnoted.report.plots import MethodCurve, precision_recall_plot
from unnoted.report.trends import levels, sweeps, trend_plots


def write_table(
    result: TableResult, folder: Path, relation_names: Mapping[str, str] | None = None
) -> dict[str, Path]:
    """Write a table of runs in every format.

    Args:
        result: the table.
        folder: where the files go; they are named after the table.
        relation_names: readable names of the relations.

    Returns:
        The file of each format: text, markdown, csv, latex, html.
    """
    return _write(result, grid_table(result), grid_page(result, relation_names), folder)


def write_statistics(result: TableResult, folder: Path) -> dict[str, Path]:
    """Write a table of data sets in every format, as `write_table` does."""
    table = statistics_table(result)
    return _write(result, table, fill("page", title=result.title, table=table), folder)


def _write(result: TableResult, table: Table, page: str, folder: Path) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    formats = {
        "text": (".txt", table.text()),
        "markdown": (".md", table.markdown()),
        "csv": (".csv", csv_table(result).csv()),
        "latex": (".tex", table.latex()),
        "html": (".html", page),
    }
    paths = {name: folder / f"{result.name}{suffix}" for name, (suffix, _) in formats.items()}
    for name, (_, text) in formats.items():
        with write_text(paths[name]) as stream:
            stream.write(text.rstrip("\n") + "\n")
    return paths


def grid_page(result: TableResult, relation_names: Mapping[str, str] | None = None) -> str:
    """A table of runs as an HTML page that needs nothing else: the table, notes, plots, every run.

    Args:
        result: the table.
        relation_names: readable names of the relations.
    """
    groups = gains(result)
    finished = {record.address: record for row in result.rows for record in row.records}
    return fill(
        "grid",
        title=result.title,
        seconds=[record.seconds for record in finished.values()],
        failed={failure.address for row in result.rows for failure in row.failures},
        table=grid_table(result),
        curves=_curves(result),
        trends=[
            (trend.title, trend_plots(trend, result, f"trend-{number}"))
            for number, trend in enumerate([*sweeps(result), *levels(result)], start=1)
        ],
        gains=gains_plot(groups, "gains") if groups else None,
        never=sum(not gain.labelled for _, relations in groups for gain in relations),
        tables=[(group, gains_table(relations, relation_names or {})) for group, relations in groups],
        runs=runs_table(result),
    )


def _curves(result: TableResult) -> list[tuple[str, Markup]]:
    """A plot for each group of rows that has a finished run."""
    made = []
    for number, group in enumerate(dict.fromkeys(row.group for row in result.rows), start=1):
        rows = [row for row in result.rows if row.group == group and row.records]
        scored = [row.records[0].scored["test"] for row in rows]
        methods = [
            MethodCurve(row.title, each.curve, each.overall, look)
            for row, each, look in zip(rows, scored, looks_of(rows), strict=True)
        ]
        made += [(group, precision_recall_plot(methods, f"curves-{number}"))] if methods else []
    return made


def looks_of(rows: Sequence[RowResult]) -> list[int]:
    """The two losses that are looked at most are drawn alike in every plot; the others by their place."""
    losses = [row.records[0].settings.get("loss") for row in rows]
    if len(set(losses)) < len(losses):
        return list(range(len(rows)))
    others, known = count(2), {BASELINE: 0, METHOD: 1}
    return [known[loss] if loss in known else next(others) for loss in losses]
