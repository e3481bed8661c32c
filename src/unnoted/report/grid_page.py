"""A table of results in every format: files for a terminal, a text, a spreadsheet, a paper and a browser."""

from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from unnoted.experiments.results import TableResult
from unnoted.experiments.tables import Table
from unnoted.io import open_output
from unnoted.report.gains import BASELINE, METHOD, gains, gains_plot, gains_table
from unnoted.report.grid_tables import csv_table, grid_table, runs_table, statistics_table
from unnoted.report.page import fill
from unnoted.report.plots import MethodCurve, precision_recall_plot
from unnoted.report.trends import levels, sweeps, trend_plots

SUFFIXES = {"text": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex", "html": ".html"}
"""The formats of a table, and how the names of their files end."""


def write_table(
    result: TableResult, folder: Path, relation_names: Mapping[str, str] | None = None
) -> dict[str, Path]:
    """Write a table of runs in every format: text, markdown, csv, latex and html, each into its own file."""
    return _write(result, grid_table(result), grid_page(result, relation_names), folder)


def write_statistics(result: TableResult, folder: Path) -> dict[str, Path]:
    """Write a table of data sets in every format, as `write_table` does."""
    table = statistics_table(result)
    return _write(result, table, fill("page", title=result.title, table=table), folder)


def _write(result: TableResult, table: Table, page: str, folder: Path) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = {"text": table.text(), "markdown": table.markdown(), "csv": csv_table(result).csv()}
    written |= {"latex": table.latex(), "html": page}
    paths = {name: folder / f"{result.name}{SUFFIXES[name]}" for name in written}
    for name, text in written.items():
        with open_output(paths[name]) as stream:
            stream.write(text.rstrip("\n") + "\n")
    return paths


def grid_page(result: TableResult, relation_names: Mapping[str, str] | None = None) -> str:
    """A table of runs as an HTML page that needs nothing else: the table, notes, plots, every run."""
    groups = gains(result)
    return fill(
        "grid",
        title=result.title,
        seconds={record.address: record.seconds for row in result.rows for record in row.records},
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
    """A plot for each group with a finished run. ATLOP and SSR-PU come first, so they look alike in all."""
    made = []
    for number, group in enumerate(dict.fromkeys(row.group for row in result.rows), start=1):
        rows = [row for row in result.rows if row.group == group and row.records]
        rows.sort(key=lambda row: {BASELINE: 0, METHOD: 1}.get(str(row.records[0].settings.get("loss")), 2))
        scored = [row.records[0].scored["test"] for row in rows]
        methods = [
            MethodCurve(row.title, each.curve, each.overall) for row, each in zip(rows, scored, strict=True)
        ]
        made += [(group, precision_recall_plot(methods, f"curves-{number}"))] if methods else []
    return made
