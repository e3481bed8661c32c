"""Rows that differ in one setting only: how figures change with the prior multiplier and with the margin."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from unnoted.experiments.results import RowResult, TableResult
from unnoted.report.looks import Series
from unnoted.report.trends import Ticks, TrendLine, trend_plot

SWEPT: Mapping[str, str] = {
    "prior_multiplier": "prior as a multiple of the labelled one",
    "margin": "margin",
}
"""The settings that are looked at, and what they are called."""

MEASURES: Mapping[str, tuple[str, ...]] = {
    "F1": ("F1", "Test F1", "Freq. F1"),
    "precision": ("P", "Test P", "Freq. P"),
    "recall": ("R", "Test R", "Freq. R"),
}
"""What is drawn, and the columns that have it: the first of them that a table has."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Rows that are alike but for one setting.

    Attributes:
        setting: its name.
        rows: each with its value, from the lowest.
    """

    setting: str
    rows: tuple[tuple[float, RowResult], ...]


def sweeps(result: TableResult) -> list[Sweep]:
    """Every sweep in a table; rows without a finished run are in none."""
    return [sweep for setting in SWEPT for sweep in _sweeps(result, setting)]


def _sweeps(result: TableResult, setting: str) -> Iterator[Sweep]:
    alike: dict[str, dict[float, RowResult]] = {}
    for row in result.rows:
        if not row.records or row.records[0].settings.get(setting) is None:
            continue
        told = row.records[0].placeless
        value = float(told[setting])
        rest = {key: other for key, other in told.items() if key not in (setting, "seed", "output")}
        alike.setdefault(json.dumps(rest, sort_keys=True, default=str), {}).setdefault(value, row)
    for rows in alike.values():
        if len(rows) > 1:
            yield Sweep(setting, tuple(sorted(rows.items())))


def sweep_plot(sweep: Sweep, result: TableResult, name: str) -> Markup:
    """Each measure of a sweep, published and measured.

    Args:
        sweep: the rows.
        result: the table that they stand in.
        name: of the plot, unique in its page.
    """
    others: list[TrendLine] = []
    ours: list[TrendLine] = []
    for index, (measure, column) in enumerate(measures(result)):
        look = Series.of(index)
        published = [(value, row.published.get(column)) for value, row in sweep.rows]
        measured = [(value, row.measured.get(column)) for value, row in sweep.rows]
        others += TrendLine.through(f"{measure}, published", look.published, published)
        ours += TrendLine.through(f"{measure}, measured", look.measured, measured)
    ticks = Ticks.of_numbers(SWEPT[sweep.setting], [value for value, _ in sweep.rows])
    drawn = ", ".join(measure for measure, _ in measures(result))
    return trend_plot([*others, *ours], ticks, drawn, name)


def measures(result: TableResult) -> list[tuple[str, str]]:
    """What of a table is drawn, each with its column."""
    return [
        (measure, next(title for title in titles if title in result.columns))
        for measure, titles in MEASURES.items()
        if any(title in result.columns for title in titles)
    ]
