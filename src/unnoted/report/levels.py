"""The same methods at several levels of labelling: what each reaches the fewer facts are labelled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup

from unnoted.experiments.columns import columns_titled, measured
from unnoted.experiments.results import Figure, RowResult, TableResult
from unnoted.report.formats import signed
from unnoted.report.looks import Series
from unnoted.report.svg import plain
from unnoted.report.sweeps import measures, sweeps
from unnoted.report.trends import Ticks, TrendLine, trend_plot

ROOM = 60
"""How many letters stand side by side below a plot."""

LINES = 3
"""In how many lines a level's title is set at most."""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A row at its level.

    Attributes:
        level: what the level is called.
        labels: facts that are labelled in a training document, on average.
        row: the row.
        published: its F1 as published, if it was.
    """

    level: str
    labels: float
    row: RowResult
    published: Figure | None

    @property
    def method(self) -> tuple[str, ...]:
        """What stays the same from level to level: the model, the method, the encoder, the test."""
        record = self.row.records[0]
        named = (str(record.placeless.get(key)) for key in ("architecture", "loss", "encoder"))
        return (*named, str(record.scored["test"].overall.gold))


@dataclass(frozen=True, slots=True)
class Levels:
    """Methods at several levels.

    Attributes:
        levels: what each is called, and its labels in a training document; that of the fewest first.
        methods: for each method, its title and its row at each level, if it has one.
    """

    levels: tuple[tuple[str, float], ...]
    methods: tuple[tuple[str, tuple[LevelRow | None, ...]], ...]


def levels_within(result: TableResult) -> Levels | None:
    """The groups of a table as levels; None unless they differ in their labels."""
    return _levels(_rows(result))


def levels_across(results: Sequence[TableResult]) -> Levels | None:
    """Several tables as levels; None unless they differ in their labels.

    Tables with levels of their own are left out, and so are rows of a sweep: they were not meant as a
    method's figure at that level.
    """
    rows: list[LevelRow] = []
    for result in results:
        if levels_within(result):
            continue
        swept = {row.name for sweep in sweeps(result) for _, row in sweep.rows}
        rows += [each for each in _rows(result, result.name) if each.row.name not in swept]
    return _levels(rows)


def _rows(result: TableResult, level: str | None = None) -> list[LevelRow]:
    """The rows with a finished run, at a level or, without one, at that of their group."""
    column = dict(measures(result)).get("F1", "")
    return [
        LevelRow(
            row.group if level is None else level,
            sum(record.train_facts.values()) / record.train_documents,
            row,
            row.published.get(column),
        )
        for row in result.rows
        for record in row.records[:1]
        if record.train_documents and "test" in record.scored
    ]


def _levels(rows: Iterable[LevelRow]) -> Levels | None:
    """Levels are told apart by their labels in a document; the first row of a method at a level stands."""
    levels: dict[float, str] = {}
    methods: dict[tuple[str, ...], dict[float, LevelRow]] = {}
    for row in rows:
        labels = round(row.labels, 1)
        levels.setdefault(labels, row.level)
        methods.setdefault(row.method, {}).setdefault(labels, row)
    several = [at for at in methods.values() if len(at) > 1]
    order = sorted({labels for at in several for labels in at})
    if not several:
        return None
    return Levels(
        tuple((levels[labels], labels) for labels in order),
        tuple((_title(at), tuple(at.get(labels) for labels in order)) for at in several),
    )


def _title(at: dict[float, LevelRow]) -> str:
    return next(iter(at.values())).row.title


def level_plots(levels: Levels, name: str) -> list[Markup]:
    """F1 over the levels, published too where it was, and recall."""
    f1: list[TrendLine] = []
    published: list[TrendLine] = []
    recall: list[TrendLine] = []
    for index, (title, rows) in enumerate(levels.methods):
        look = Series.of(index)
        f1 += TrendLine.through(title, look.measured, enumerate(figures_of(row).get("F1") for row in rows))
        printed = enumerate(row.published if row else None for row in rows)
        published += TrendLine.through(f"{title}, published", look.published, printed)
        recall += TrendLine.through(title, look.measured, enumerate(figures_of(row).get("R") for row in rows))
    ticks = Ticks.of_names("labelled facts per training document", _names(levels))
    return [
        trend_plot([*f1, *published], ticks, "F1", f"{name}-f1"),
        trend_plot(recall, ticks, "recall", f"{name}-recall"),
    ]


def _names(levels: Levels) -> list[str]:
    """What stands below each level: its title in a few short lines, and its labels."""
    width = max(ROOM // len(levels.levels), 6)
    return [
        "\n".join([*(plain(line, width) for line in wrap(title, width)[:LINES]), f"{labels:.1f}"])
        for title, labels in levels.levels
    ]


def figures_of(row: LevelRow | None) -> dict[str, Figure]:
    """F1 and recall of a row's runs."""
    return {} if row is None else measured(row.row.records, columns_titled(["F1", "R"]))


def where_it_pays(levels: Levels) -> list[str]:
    """For each method after the first: at which levels its F1 lies above the first one's."""
    (baseline, first), *others = levels.methods
    told = []
    for title, rows in others:
        both = [
            (level, figures_of(row)["F1"].mean - figures_of(other)["F1"].mean)
            for (level, _), row, other in zip(levels.levels, rows, first, strict=True)
            if row is not None and other is not None
        ]
        written = "; ".join(f"{level} {signed(difference)}" for level, difference in both)
        if both:
            told.append(f"F1 of {title} against {baseline}, in points, from the fewest labels on: {written}.")
    return told
