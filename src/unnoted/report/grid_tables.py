"""Tables of results: runs (published beside measured), their figures for a spreadsheet, data sets."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from unnoted.experiments.columns import measured
from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.experiments.tables import NO_VALUE, Column, Notes, Table, Value, counts, words
from unnoted.utils import duration, percent, plural, signed

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

CSV_COLUMNS = (
    *("table", "group", "row", "title", "column", "published_mean", "published_deviation"),
    *("measured_mean", "measured_deviation", "seeds", "failures"),
)


def grid_table(result: TableResult) -> Table:
    """Runs as a table: published figures beside measured ones in the columns where anything was published.

    Example:
        >>> row = RowResult("a", "A", "", {"F1": Figure(42.1)}, {"F1": Figure.over([40.0, 41.0])}, ())
        >>> print(grid_table(TableResult("t", "Scores.", ("F1",), (row,))).text())
        t: Scores.
        <BLANKLINE>
                                    F1
        Model  published      measured
        A          42.10  40.50 ± 0.71
    """
    result = with_curve(result)
    published = {title for row in result.rows for title in row.published}
    columns = [words("Model")]
    for title in result.columns:
        if title in published:
            columns.append(Column("published", best=max, group=title, quiet=True))
        columns.append(Column("measured", best=max, group=title) if published else Column(title, best=max))
    rows = tuple(
        (_titled(row), *(value for title in result.columns for value in _values(row, title, published)))
        for row in result.rows
    )
    groups = tuple(row.group for row in result.rows)
    several = len(set(groups)) > 1
    seeds = any((figure.seeds or 1) > 1 for row in result.rows for figure in row.measured.values())
    caption = f"In %{'; ± is the standard deviation over seeds' if seeds else ''}. Bold: best of a column"
    return Table(
        f"{caption}{' within its group' if several else ''}.",
        tuple(columns),
        rows,
        groups if several else (),
        result.name,
        result.title,
        _notes(result, any(None in row for row in rows)),
    )


def with_curve(result: TableResult) -> TableResult:
    """The result with the figures of the whole curve as two more columns, if any run finished."""
    if not any(row.records for row in result.rows):
        return result
    rows = tuple(
        replace(row, measured={**row.measured, **measured(row.records, CURVE)}) for row in result.rows
    )
    return replace(result, columns=tuple(dict.fromkeys((*result.columns, *CURVE))), rows=rows)


def _titled(row: RowResult) -> str:
    """A row's title with the sign of its mark; a mark without a sign is written out."""
    if not row.mark:
        return row.title
    return f"{row.title}{MARKS[row.mark][0]}" if row.mark in MARKS else f"{row.title} ({row.mark})"


def _values(row: RowResult, title: str, published: set[str]) -> list[Value]:
    measured = row.measured.get(title, "failed" if row.failures and not row.records else None)
    return [row.published.get(title), measured] if title in published else [measured]


def _notes(result: TableResult, gaps: bool) -> Notes:
    """What to know about a table; a kind that has no line is left out."""
    marks = {row.mark for row in result.rows}
    signs = [f"{sign} {meaning}" for mark, (sign, meaning) in MARKS.items() if mark in marks]
    signs += [f"{NO_VALUE} not published, or not run"] if gaps else []
    signs += [f"{title}: {meaning}" for title, meaning in CURVE.items() if title in result.columns]
    repeated = Counter(row.title for row in result.rows)
    titles = {
        row.name: row.title + (f" ({row.group})" if repeated[row.title] > 1 else "") for row in result.rows
    }
    claims = [
        _claimed(claim, titles.get(claim.better, claim.better), titles.get(claim.than, claim.than))
        for claim in result.claims
    ]
    published = any(row.published for row in result.rows)
    kinds = (
        ("", signs),
        ("Failed runs", [line for row in result.rows for line in _failures(row)]),
        ("Which is better? A paired bootstrap over test documents and seeds", claims),
        ("Differs from the published setting" if published else "Notes", result.notes),
    )
    return tuple((heading, tuple(lines)) for heading, lines in kinds if lines)


def _failures(row: RowResult) -> Iterator[str]:
    """A line for each reason, with the folders of the runs that it stopped; a run never begun has none."""
    runs = plural(len(row.records) + len(row.failures), "run")
    for reason, number in Counter(failure.reason for failure in row.failures).items():
        folders = [each.address for each in row.failures if each.reason == reason and each.address]
        where = f" ({', '.join(folders)})" if folders else ""
        yield f"{row.title}: {number} of {runs} failed{where}: {reason}"


def _claimed(claim: Claim, better: str, than: str) -> str:
    difference, low, high = (signed(value, digits=2) for value in (claim.difference, claim.low, claim.high))
    return (
        f"{better} against {than}: {difference} points of F1 "
        f"(95%: {low} to {high}; ahead in {percent(claim.share)}% of resamples): {claim.verdict}"
    )


def runs_table(result: TableResult) -> Table:
    """Every finished run."""
    return Table.of(
        "F1 in %, over all true facts of the test documents.",
        [(row.title, record) for row in result.rows for record in row.records],
        {
            words("Model"): lambda run: run[0],
            Column("Seed"): lambda run: str(run[1].settings.get("seed", "")),
            Column("F1", percent): lambda run: run[1].scored["test"].overall.f1,
            counts("Documents"): lambda run: run[1].train_documents,
            counts("Labels"): lambda run: sum(run[1].train_facts.values()),
            Column("Took", duration): lambda run: run[1].seconds,
            words("Folder"): lambda run: run[1].address,
        },
    )


def csv_table(result: TableResult) -> Table:
    """A line for each row and column of a result, for spreadsheets: figures with all their digits."""
    result = with_curve(result)
    rows = tuple(
        (
            *(result.name, row.group, row.name, row.title, column),
            *(published and published.mean, published and published.deviation),
            *(measured and measured.mean, measured and measured.deviation, measured and measured.seeds),
            "; ".join(failure.reason for failure in row.failures),
        )
        for row in result.rows
        for column in result.columns
        for published, measured in [(row.published.get(column), row.measured.get(column))]
    )
    return Table("", tuple(map(words, CSV_COLUMNS)), rows)


def statistics_table(result: TableResult) -> Table:
    """Data sets, published beside counted: counts and means, none of them better than another."""
    table = grid_table(result)
    columns = (words(""), *table.columns[1:])
    rows = tuple(
        (row.title, *(_counted(row.title, value) for value in values[1:]))
        for row, values in zip(result.rows, table.rows, strict=True)
    )
    caption = "As published, and counted in the files at hand."
    return replace(table, caption=caption, columns=columns, rows=rows, row_groups=())


def _counted(title: str, figure: Value) -> str | None:
    """Means with one digit, as the paper has them, and counts whole."""
    if not isinstance(figure, Figure):
        return None
    return f"{figure.mean:.1f}" if title.startswith("Avg") else f"{figure.mean:,.0f}"
