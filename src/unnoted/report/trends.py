"""How figures change with a setting that rows sweep over, and from one level of labelling to the next."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from markupsafe import Markup

from unnoted.experiments.results import Figure, RowResult, TableResult
from unnoted.report.svg import WIDTH, inline_svg, look, new_axes, plain, style
from unnoted.training.record import Record

SWEPT = {"prior_multiplier": "Prior as a multiple of the labelled prior", "margin": "Margin"}
"""The settings whose sweeps are drawn, and what they are called."""

MEASURES = {"F1": "F1", "precision": "P", "recall": "R"}
"""What is drawn, and the column that has it, be it of all facts, of the test or of frequent relations."""

ROOM, LINES = 60, 3
"""How many letters stand side by side below a plot, and in how many lines a level's title is set at most."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Methods whose rows differ in one thing only, the title: each with its rows by their places on an axis.

    A single method needs no title of its own.
    """

    title: str
    ticks: Mapping[float, str]
    methods: tuple[tuple[str, Mapping[float, RowResult]], ...]


def sweeps(result: TableResult) -> list[Trend]:
    """Rows that are alike except for the prior or the margin; rows without a finished run are in none."""
    return [
        Trend(title, {value: f"{value:g}" for value in placed}, (("", placed),))
        for setting, title in SWEPT.items()
        for placed in _swept(result, setting)
    ]


def _swept(result: TableResult, setting: str) -> list[dict[float, RowResult]]:
    def rest(record: Record) -> str:
        left_out = (setting, "seed", "output")
        return repr(sorted(item for item in record.placeless.items() if item[0] not in left_out))

    return _alike(result, rest, lambda record: record.settings.get(setting))


def levels(result: TableResult) -> list[Trend]:
    """Groups of a table as levels of labelling; none unless a method has rows that differ in their labels."""
    methods = _alike(result, _method, _labels)
    titles = {labels: row.group for placed in reversed(methods) for labels, row in placed.items()}
    order, width = sorted(titles), max(ROOM // max(len(titles), 1), 6)
    ticks: dict[float, str] = {}
    for place, labels in enumerate(order):
        lines = [plain(line, width) for line in wrap(titles[labels], width)[:LINES]]
        ticks[place] = "\n".join([*lines, f"{labels:.1f}"])
    evenly = tuple(
        (next(iter(placed.values())).title, {float(order.index(at)): row for at, row in placed.items()})
        for placed in methods
    )
    return [Trend("Labelled facts per training document", ticks, evenly)] if methods else []


def _labels(record: Record) -> float | None:
    documents = record.train_documents
    return round(sum(record.train_facts.values()) / documents, 1) if documents else None


def _method(record: Record) -> tuple[str, ...]:
    """What stays the same from level to level: architecture, loss, encoder and test documents."""
    named = (str(record.placeless.get(key)) for key in ("architecture", "loss", "encoder"))
    return (*named, str(record.scored["test"].overall.gold))


def _alike(
    result: TableResult, key: Callable[[Record], object], place: Callable[[Record], float | None]
) -> list[dict[float, RowResult]]:
    """Rows with the same key by their places, the first at each place; a row without others is left out."""
    found: dict[object, dict[float, RowResult]] = {}
    for row in result.rows:
        for record in row.records[:1]:
            if (at := place(record)) is not None:
                found.setdefault(key(record), {}).setdefault(at, row)
    return [dict(sorted(placed.items())) for placed in found.values() if len(placed) > 1]


def trend_plots(trend: Trend, result: TableResult, name: str) -> list[Markup]:
    """A plot for each measure that the table has: what was measured, and what was published."""
    return [
        trend_plot(trend, column, measure, f"{name}-{measure.lower()}")
        for measure, sign in MEASURES.items()
        for column in [each for each in (sign, f"Test {sign}", f"Freq. {sign}") if each in result.columns][:1]
    ]


@style()
def trend_plot(trend: Trend, column: str, measure: str, name: str) -> Markup:
    """Lines through the figures of a column; a bar through each is as long as two standard deviations."""
    axis, told = trend.title[0].lower() + trend.title[1:], []
    axes = new_axes(0.72 * WIDTH, xlabel=axis, ylabel=f"{measure} (%)")
    axes.set_xticks(list(trend.ticks), labels=trend.ticks.values())
    axes.grid(axis="y")
    axes.margins(x=0.06, y=0.12)
    for title, drawn, figures in _lines(trend, column):
        means = [figure.mean for figure in figures.values()]
        axes.plot(list(figures), means, label=title, **drawn)
        for at, figure in figures.items():
            if figure.deviation:
                ends = figure.mean - figure.deviation, figure.mean + figure.deviation
                axes.vlines(at, *ends, color=drawn["color"], linewidth=1.4)
        told.append(f"{title}: {', '.join(f'{mean:.1f}' for mean in means)}")
    low, high = axes.get_ylim()
    if low < high / 4:  # near enough to 0 to show it
        axes.set_ylim(bottom=-0.03 * high)
    return inline_svg(axes, name, f"{measure} by {axis}. {'; '.join(told)}.")


def _lines(trend: Trend, column: str) -> Iterator[tuple[str, dict[str, Any], dict[float, Figure]]]:
    """What each line is called, its look, and its figures by their places."""
    for index, (title, placed) in enumerate(trend.methods):
        for kind, solid in (("measured", True), ("published", False)):
            rows = {at: row.measured if solid else row.published for at, row in placed.items()}
            if figures := {at: row[column] for at, row in rows.items() if column in row}:
                name = f"{plain(title)}, {kind}" if title else kind
                yield name, look(index, 7, solid=solid), figures
