"""The page of a grid of runs: each table, what is to be known about it, and its plots."""

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from unnoted.common.wording import duration
from unnoted.experiments.results import TableResult
from unnoted.report.formats import counted, signed
from unnoted.report.gains import Gains, gains, gains_plot, gains_table, placed
from unnoted.report.grid_curves import group_curves
from unnoted.report.grid_tables import full_titles, grid_table, remarks_of
from unnoted.report.levels import Levels, level_plots, levels_across, levels_within, where_it_pays
from unnoted.report.page import (
    Page,
    Section,
    broad,
    figure,
    fine,
    folded,
    heading,
    joined,
    listed,
    paragraphs,
    plots,
)
from unnoted.report.sweeps import SWEPT, Sweep, sweep_plot, sweeps
from unnoted.report.tables import Column, Table, Value, counts, durations, shares, words


def grid_page(
    results: Sequence[TableResult], title: str, relation_names: Mapping[str, str] | None = None
) -> Page:
    """Tables of runs as one page; `Page.write` puts it into a file that needs nothing else.

    Args:
        results: the tables, in the order of the page.
        title: of the page.
        relation_names: readable names of the relations.

    Example:
        >>> from unnoted.experiments.results import RowResult
        >>> row = RowResult("a", "A", "", {}, {}, ())
        >>> page = grid_page([TableResult("mine", "What I tried", ("F1",), (row,))], "Results")
        >>> [section.title for section in page.sections]
        ['mine: What I tried']
    """
    anchors = _anchors(results)
    names = relation_names or {}
    sections = [_section(result, anchor, names) for result, anchor in zip(results, anchors, strict=True)]
    if len(results) > 1 and (levels := levels_across(results)):
        body = joined([paragraphs(*where_it_pays(levels)), _levels(levels, "levels-of-tables")])
        sections.append(Section("levels-of-tables", "The tables as levels of labelling", body))
    return Page(title, _lead(results), (), tuple(sections))


def _anchors(results: Sequence[TableResult]) -> list[str]:
    """An id for each table, none of them twice."""
    taken: list[str] = []
    for result in results:
        anchor = f"grid-{re.sub('[^a-z0-9]+', '-', result.name.lower()).strip('-')}"
        while anchor in taken:
            anchor += "-again"
        taken.append(anchor)
    return taken


def _lead(results: Sequence[TableResult]) -> tuple[str, ...]:
    """How many runs there were; one that stands in several tables counts once."""
    rows = [row for result in results for row in result.rows]
    seconds = {record.address: record.seconds for row in rows for record in row.records}
    failed = {failure.address for row in rows for failure in row.failures}
    told = f"{counted(len(seconds), 'finished run')}, {duration(sum(seconds.values()))} in all."
    if failed:
        told += f" {counted(len(failed), 'run')} failed: the reason stands below the table."
    return (told,)


def _section(result: TableResult, anchor: str, names: Mapping[str, str]) -> Section:
    parts = [broad(grid_table(result).to_html()), *_remarks(result)]
    if curves := group_curves(result, anchor):
        parts += [heading("Precision and recall"), plots(curves)]
    for number, sweep in enumerate(sweeps(result), start=1):
        parts += _sweep(sweep, result, f"{anchor}-sweep-{number}")
    if levels := levels_within(result):
        parts += [heading("Levels of labelling"), _levels(levels, f"{anchor}-levels")]
    if pairs := gains(result):
        parts += [heading("Relation by relation"), _gains(pairs, anchor, names)]
    if any(row.records for row in result.rows):
        parts.append(folded("Every run", _runs(result).to_html()))
    return Section(anchor, f"{result.name}: {result.title}", joined(parts))


def _remarks(result: TableResult) -> list[Markup]:
    remarks = remarks_of(result)
    parts = [fine(*remarks.signs)] if remarks.signs else []
    if remarks.failures:
        parts += [heading("Failed runs"), listed(remarks.failures)]
    if result.claims:
        parts += [heading("Which is better?"), broad(_claims(result).to_html())]
    if remarks.notes:
        parts += [heading(remarks.title_of_notes), listed(remarks.notes)]
    return parts


def _claims(result: TableResult) -> Table:
    titles = full_titles(result)
    rows: list[tuple[Value, ...]] = [
        (
            titles.get(claim.better, claim.better),
            titles.get(claim.than, claim.than),
            claim.difference,
            f"{signed(claim.low)} to {signed(claim.high)}",
            claim.share,
            claim.verdict,
        )
        for claim in result.claims
    ]
    return Table(
        "Points of F1 between two rows. Test documents were drawn anew many times, the same for both: where "
        "the middle 95 % of the differences lie, and in what share of the draws the first is ahead.",
        (
            words("Model"),
            words("against"),
            Column("Difference", signed),
            Column("95 % between"),
            shares("Ahead (%)", best=None),
            words("Verdict"),
        ),
        tuple(rows),
    )


def _sweep(sweep: Sweep, result: TableResult, name: str) -> list[Markup]:
    setting = SWEPT[sweep.setting]
    caption = (
        "Rows that differ in nothing else. A bar through a point is a standard deviation over seeds to "
        "either side."
    )
    return [heading(setting[0].upper() + setting[1:]), figure(sweep_plot(sweep, result, name), caption)]


def _levels(levels: Levels, name: str) -> Markup:
    captions = (
        "F1 on the test documents, by how many facts of a training document are labelled.",
        "Recall on the test documents.",
    )
    figures = [
        figure(plot, caption) for plot, caption in zip(level_plots(levels, name), captions, strict=True)
    ]
    return plots(figures)


def _gains(pairs: Sequence[Gains], anchor: str, names: Mapping[str, str]) -> Markup:
    caption = (
        f"What {pairs[0].method} gains over {pairs[0].baseline}. Each point is a relation, larger the more "
        "true facts it has. The further to the right, the more under-labelled it is: 1 means as many labels "
        "in a training document as true facts in a test document. Bars: the median gain of each quarter of "
        "the points."
    )
    if never := sum(len(pair.relations) - len(placed(pair)) for pair in pairs):
        caption += f" Left out: {counted(never, 'relation')} without a label in the training documents."
    tables = [
        folded(f"The relations as a table: {pair.title or pair.method}", gains_table(pair, names).to_html())
        for pair in pairs
    ]
    return joined([figure(gains_plot(pairs, f"{anchor}-gains"), caption), *tables])


def _runs(result: TableResult) -> Table:
    rows: list[tuple[Value, ...]] = [
        (
            row.title,
            str(record.settings.get("seed", "")),
            record.scored["test"].overall.f1,
            record.train_documents,
            sum(record.train_facts.values()),
            record.seconds,
            record.address,
        )
        for row in result.rows
        for record in row.records
    ]
    columns = (
        words("Model"),
        Column("Seed"),
        shares("F1", best=None),
        counts("Documents"),
        counts("Labels"),
        durations("Took"),
        words("Folder"),
    )
    return Table("F1 is over all true facts of the test documents, in per cent.", columns, tuple(rows))
