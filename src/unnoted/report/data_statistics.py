"""The table of the data sets' statistics in every format: counts and means, not per cent."""

from unnoted.experiments.results import Figure, TableResult
from unnoted.report.grid_tables import latex_of, markdown_of, table_csv, text_of
from unnoted.report.page import Page, Section, broad, joined, listed
from unnoted.report.tables import Column, Table, words

statistics_csv = table_csv
"""A line for each row and column, with all digits: the same as of any other table."""


def statistics_table(result: TableResult) -> Table:
    """The table itself: published beside counted; nothing in it is better than anything else."""
    columns = [words("")]
    for title in result.columns:
        columns += [Column("published", group=title, quiet=True), Column("here", group=title)]
    rows = []
    for row in result.rows:
        pairs = [(row.published.get(title), row.measured.get(title)) for title in result.columns]
        figures = [written(row.title, figure) for pair in pairs for figure in pair]
        rows.append((row.title, *figures))
    return Table("Published, and counted in the files at hand.", tuple(columns), tuple(rows))


def written(title: str, figure: Figure | None) -> str | None:
    """Means with one digit, as the paper has them, and counts whole.

    Example:
        >>> written("# docs", Figure(3053.0)), written("Avg # ents", Figure(10.04))
        ('3,053', '10.0')
    """
    if figure is None:
        return None
    return f"{figure.mean:.1f}" if title.startswith("Avg") else f"{figure.mean:,.0f}"


def statistics_text(result: TableResult) -> str:
    """The table for a terminal."""
    return text_of(result, statistics_table(result), [("", [f"- {note}" for note in result.notes])])


def statistics_markdown(result: TableResult) -> str:
    """The table in Markdown."""
    return markdown_of(result, statistics_table(result), [("", result.notes)])


def statistics_latex(result: TableResult) -> str:
    """The table in LaTeX; it needs no package."""
    return latex_of(result, statistics_table(result), [("", result.notes)])


def statistics_page(result: TableResult) -> Page:
    """The table as a page."""
    body = joined([broad(statistics_table(result).to_html()), listed(result.notes)])
    return Page(result.title, (), (), (Section("statistics", result.name, body),))
