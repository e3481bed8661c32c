"""What SSR-PU gains over ATLOP for each relation, by how under-labelled the relation is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from markupsafe import Markup
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from unnoted.evaluation import Score
from unnoted.experiments.results import RowResult, TableResult
from unnoted.experiments.tables import Column, Table, counts, words
from unnoted.report.svg import INK, WIDTH, inline_svg, look, new_axes, plain, style
from unnoted.utils import percent, signed

METHOD, BASELINE = "ssr-pu", "atlop"
"""The losses that are compared."""

NOTHING = Score(0, 0, 0)


@dataclass(frozen=True, slots=True)
class RelationGain:
    """A relation's true facts in the test documents, its labels in the training documents, and its F1s.

    `under_labelled` is true facts per test document ÷ labels per training document, 0 if never labelled.
    `baseline` and `method` are the F1 of either loss, each the mean over its runs.
    """

    relation: str
    true: int
    labelled: int
    under_labelled: float
    baseline: float
    method: float

    @property
    def points(self) -> float:
        """The gain in points of F1."""
        return 100 * (self.method - self.baseline)


def gains(result: TableResult) -> list[tuple[str, list[RelationGain]]]:
    """Every relation, for each group of a table with finished runs of both losses on one architecture."""
    rows = [(row, row.records[0].settings) for row in result.rows if row.records]
    methods = {
        (row.group, settings.get("architecture")): row
        for row, settings in reversed(rows)
        if settings.get("loss") == METHOD
    }
    return [
        (row.group, list(_relations(methods[key], row)))
        for row, settings in rows
        if settings.get("loss") == BASELINE and (key := (row.group, settings.get("architecture"))) in methods
    ]


def _relations(row: RowResult, baseline: RowResult) -> Iterator[RelationGain]:
    """Every relation with a true fact, most true facts first."""
    record = row.records[0]
    test = record.scored["test"]
    for relation, score in sorted(test.relations.items(), key=lambda item: -item[1].gold):
        if score.gold:
            labelled = record.train_facts.get(relation, 0)
            in_train, in_test = labelled / record.train_documents, score.gold / len(test.documents)
            both = _f1(baseline, relation), _f1(row, relation)
            yield RelationGain(relation, score.gold, labelled, in_test / in_train if labelled else 0.0, *both)


def _f1(row: RowResult, relation: str) -> float:
    return fmean(record.scored["test"].relations.get(relation, NOTHING).f1 for record in row.records)


@style()
def gains_plot(groups: Sequence[tuple[str, Sequence[RelationGain]]], name: str) -> Markup:
    """A point for each labelled relation, larger the more true facts it has; bars at medians of quarters."""
    axes = new_axes(0.85 * WIDTH, xscale="log", ylabel="gain in F1 (points)")
    axes.set_xlabel("true facts per test document ÷ labels per training document")
    axes.axhline(0, color=INK, alpha=0.5, linewidth=1.0, zorder=1)
    axes.grid(axis="y")
    for index, (group, relations) in enumerate(groups, start=1):
        placed = [gain for gain in relations if gain.labelled]
        drawn, most = look(index, 1), max((gain.true for gain in placed), default=1)
        axes.scatter(
            [gain.under_labelled for gain in placed],
            [gain.points for gain in placed],
            s=[14 + 150 * gain.true / most for gain in placed],
            marker=drawn["marker"],
            facecolors=[(drawn["color"], 0.35)],
            edgecolors=drawn["color"],
            label=plain(group) if len(groups) > 1 else None,
            zorder=3,
        )
    every = [gain for _, relations in groups for gain in relations]
    for part in quarters([gain for gain in every if gain.labelled]):
        ends = part[0].under_labelled, part[-1].under_labelled
        axes.hlines(median(gain.points for gain in part), *ends, color=INK, linewidth=3.0, zorder=4)
    # Ticks at 1, 2 and 5, as plain numbers: powers would be set as mathematics.
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return inline_svg(axes, name, f"Gain in F1 by how under-labelled each of {len(every)} relations is.")


def quarters(gains: Sequence[RelationGain]) -> list[list[RelationGain]]:
    """Gains from the best labelled on, in quarters of equal number; none where there are fewer than 12."""
    ordered = sorted(gains, key=lambda gain: gain.under_labelled)
    edges = [round(part * len(gains) / 4) for part in range(5)]
    return [ordered[start:end] for start, end in pairwise(edges)] if len(gains) >= 12 else []


def gains_table(relations: Sequence[RelationGain], names: Mapping[str, str]) -> Table:
    """Every relation, by its readable name where there is one."""
    return Table.of(
        "F1 in %, gain in points.",
        relations,
        {
            words("Relation"): lambda gain: (
                f"{names[gain.relation]} ({gain.relation})" if gain.relation in names else gain.relation
            ),
            counts("True facts in test"): lambda gain: gain.true,
            counts("Labels in train"): lambda gain: gain.labelled,
            Column("Under-labelled", "×{:.1f}".format): lambda gain: gain.under_labelled or None,
            Column("ATLOP F1", percent): lambda gain: gain.baseline,
            Column("SSR-PU F1", percent): lambda gain: gain.method,
            Column("Gain", signed): lambda gain: gain.points,
        },
    )
