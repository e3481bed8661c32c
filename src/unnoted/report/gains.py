"""What one method gains over another for each relation, by how under-labelled the relation is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from unnoted.evaluation import Score
from unnoted.experiments.results import RowResult, TableResult
from unnoted.report.looks import FAINT, WIDTH, Series, frame, legend, side_by_side
from unnoted.report.svg import INK, inline_svg, plain, settings
from unnoted.report.tables import Column, Table, Value, counts, differences, shares, words
from unnoted.training.record import Record

METHOD, BASELINE = "ssr-pu", "atlop"
"""What is compared, by the names of the methods."""

PARTS = 4
"""Into how many parts relations are divided, each of which gets its median drawn."""

FEWEST = 3
"""How many relations a part needs for that."""

NOTHING = Score(0, 0, 0)


@dataclass(frozen=True, slots=True)
class RelationGain:
    """What a method gains for a relation.

    Attributes:
        relation: its name.
        true: its true facts in the test documents.
        labelled: its labels in the training documents.
        under_labelled: true facts in a test document for each label in a training document; None where
            the relation was never labelled.
        baseline: F1 of the baseline, the mean over its runs.
        method: F1 of the method.
    """

    relation: str
    true: int
    labelled: int
    under_labelled: float | None
    baseline: float
    method: float

    @property
    def points(self) -> float:
        """The gain in points of F1."""
        return 100 * (self.method - self.baseline)


@dataclass(frozen=True, slots=True)
class Gains:
    """The gains of all relations with a true fact, for two rows of a table.

    Attributes:
        title: what sets the two rows apart from other pairs: their group.
        method: the title of the row that is looked at.
        baseline: the title of the row that it is compared with.
        relations: those of most true facts first.
    """

    title: str
    method: str
    baseline: str
    relations: tuple[RelationGain, ...]


def gains(result: TableResult) -> list[Gains]:
    """SSR-PU over ATLOP in each group of a table that has finished runs of both, with the same model."""
    found: list[Gains] = []
    for group in dict.fromkeys(row.group for row in result.rows):
        rows = [row for row in result.rows if row.group == group and row.records]
        for baseline in _of_method(rows, BASELINE):
            model = baseline.records[0].settings.get("architecture")
            alike = [
                row
                for row in _of_method(rows, METHOD)
                if row.records[0].settings.get("architecture") == model
            ]
            found += [_gains(group, row, baseline) for row in alike[:1]]
    return found


def _of_method(rows: Sequence[RowResult], method: str) -> Iterator[RowResult]:
    return (row for row in rows if row.records[0].settings.get("loss") == method)


def _gains(group: str, row: RowResult, baseline: RowResult) -> Gains:
    record = row.records[0]
    test = record.scored["test"]
    true = {relation: score.gold for relation, score in test.relations.items() if score.gold}
    relations = []
    for relation, number in sorted(true.items(), key=lambda item: -item[1]):
        labelled = record.train_facts.get(relation, 0)
        in_train, in_test = labelled / record.train_documents, number / len(test.documents)
        relations.append(
            RelationGain(
                relation,
                number,
                labelled,
                in_test / in_train if labelled else None,
                _f1(baseline.records, relation),
                _f1(row.records, relation),
            )
        )
    return Gains(group, row.title, baseline.title, tuple(relations))


def _f1(records: Sequence[Record], relation: str) -> float:
    return fmean(record.scored["test"].relations.get(relation, NOTHING).f1 for record in records)


def gains_plot(pairs: Sequence[Gains], name: str) -> Markup:
    """A point for each relation, larger the more true facts it has; a bar at the median of each quarter.

    Args:
        pairs: each in a look of its own.
        name: of the plot, unique in its page.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 0.85 * WIDTH), layout="constrained")
        axes = figure.subplots()
        frame(axes)
        axes.set(
            xscale="log",
            xlabel="true facts per test document ÷ labels per training document",
            ylabel="gain in F1 (points)",
        )
        axes.axhline(0, color=INK, alpha=0.5, linewidth=1.0, zorder=1)
        axes.grid(axis="y", color=INK, alpha=FAINT / 2, linewidth=0.8)
        for index, pair in enumerate(pairs):
            _add_pair(axes, Series.of(index + 1), pair)
        _add_medians(axes, sorted((point for pair in pairs for point in placed(pair)), key=_place))
        _set_ticks(axes)
        keys = [
            Series.of(index + 1).drawn([], [], joined=False, size=7, label=plain(pair.title))
            for index, pair in enumerate(pairs)
        ]
        columns = side_by_side([pair.title for pair in pairs])
        legend(figure, keys if len(keys) > 1 else [], columns, handle=1.6)
        number = sum(len(pair.relations) for pair in pairs)
        return inline_svg(
            figure, name, f"Gain in F1 by how under-labelled a relation is, for {number} relations."
        )


def placed(pair: Gains) -> list[tuple[float, RelationGain]]:
    """The relations that have a place on the axis, from the best labelled on."""
    known = [(gain.under_labelled, gain) for gain in pair.relations if gain.under_labelled is not None]
    return sorted(known, key=_place)


def _place(point: tuple[float, RelationGain]) -> float:
    return point[0]


def _add_pair(axes: Axes, look: Series, pair: Gains) -> None:
    points = placed(pair)
    if not points:
        return
    most = max(gain.true for _, gain in points)
    axes.scatter(
        [place for place, _ in points],
        [gain.points for _, gain in points],
        s=[14 + 150 * gain.true / most for _, gain in points],
        marker=look.marker,
        facecolors=[(look.colour, 0.35)],
        edgecolors=look.colour,
        linewidths=1.0,
        zorder=3,
    )


def _add_medians(axes: Axes, points: Sequence[tuple[float, RelationGain]]) -> None:
    for part in parts(points):
        middle = median(gain.points for _, gain in part)
        axes.hlines(middle, part[0][0], part[-1][0], color=INK, linewidth=3.0, zorder=4)


def parts(points: Sequence[tuple[float, RelationGain]]) -> list[Sequence[tuple[float, RelationGain]]]:
    """Points in quarters of equal number; none where they are too few for that."""
    if len(points) < PARTS * FEWEST:
        return []
    edges = [round(part * len(points) / PARTS) for part in range(PARTS + 1)]
    return [points[start:end] for start, end in pairwise(edges)]


def _set_ticks(axes: Axes) -> None:
    """Ticks at 1, 2 and 5, as plain numbers: powers would be set as mathematics."""
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def gains_table(pair: Gains, names: Mapping[str, str]) -> Table:
    """Every relation of two rows.

    Args:
        pair: the rows.
        names: readable names of relations.
    """
    columns: tuple[Column, ...] = (
        words("Relation"),
        counts("True facts in test"),
        counts("Labels in train"),
        Column("Under-labelled", "×{:.1f}".format),
        shares("Baseline F1", best=None),
        shares("F1", best=None),
        differences("Gain"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            _named(gain.relation, names),
            gain.true,
            gain.labelled,
            gain.under_labelled,
            gain.baseline,
            gain.method,
            gain.points,
        )
        for gain in pair.relations
    ]
    return Table(f"{pair.method} against {pair.baseline}; F1 in per cent.", columns, tuple(rows))


def _named(relation: str, names: Mapping[str, str]) -> str:
    return f"{names[relation]} ({relation})" if names.get(relation, relation) != relation else relation
