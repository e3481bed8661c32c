"""The published figures are the paper's, and every row can be run."""

import re
from pathlib import Path

import pytest

from unnoted.experiments.datasets import DATA_SETS
from unnoted.experiments.paper import published, table_named
from unnoted.experiments.results import COLUMNS

PAPER = Path(__file__).parents[4] / "shared" / "paper.tex"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def latex_tables():
    """Label → rows of (first cell, other cells), straight from the source."""
    if not PAPER.exists():
        pytest.skip("../shared/paper.tex is not there")
    found = {}
    for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", PAPER.read_text("utf-8"), re.DOTALL):
        label = re.search(r"\\label\{(.*?)\}", table)[1]
        body = re.search(r"\\begin\{tabular\}\{.*?\}\n(.*?)\\end\{tabular\}", table, re.DOTALL)[1]
        lines = [line.replace(r"\hline", "").strip() for line in body.split(r"\\")]
        rows = [[cell.strip() for cell in line.split("&")] for line in lines if line]
        found[label] = [(row[0], row[1:]) for row in rows if row[1:] and all(map(is_figure, row[1:]))]
    return found


def is_figure(cell):
    """Whether a cell begins with a number, once its typesetting is taken away."""
    return bool(NUMBER.match(re.sub(r"\\multicolumn\{2\}\{c\}|\\mathbf|[${}]", "", cell)))


def printed(cell):
    """The numbers of a cell, in which a bold one is set as an argument of \\mathbf."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(cell)]


def numbers(figure):
    return [figure.mean] + ([] if figure.std is None else [figure.std])


TRAINED = [table for table in published().values() if table.setting]
"""The tables that need runs."""


@pytest.mark.shared
def test_every_published_number_is_the_papers():
    source = latex_tables()
    assert {table.label for table in published().values()} == source.keys()
    for table in TRAINED:
        rows = source[table.label]
        assert len(rows) == len(table.rows), table.name
        for (_, cells), row in zip(rows, table.rows, strict=True):
            assert [printed(cell) for cell in cells] == [
                numbers(row.published[column]) for column in table.columns
            ], (table.name, row.name)


@pytest.mark.shared
def test_statistics_are_the_papers():
    statistics = table_named("statistics")
    rows = {title.replace("\\", ""): cells for title, cells in latex_tables()[statistics.label]}
    assert rows.keys() == {row.name for row in statistics.rows}
    for row in statistics.rows:
        # A cell that spans train and test stands for both.
        cells = [
            re.sub(r"\\multicolumn\{2\}\{c\}", "", cell)
            for cell in rows[row.name]
            for _ in range(2 if "multicolumn" in cell else 1)
        ]
        assert [printed(cell) for cell in cells] == [
            numbers(row.published[column]) for column in statistics.columns
        ]


def test_tables_are_found_by_number_and_by_word():
    assert table_named("table8") is table_named("losses")
    assert len({table.word for table in published().values()}) == len(published())
    with pytest.raises(ValueError, match=r"unknown table 'table_8'.*nearest: 'table8'"):
        table_named("table_8")
    with pytest.raises(ValueError, match=r"unknown row of table2 'ssrpu'.*nearest: 'ssr-pu'"):
        table_named("table2").row("ssrpu")
    with pytest.raises(ValueError, match="table12"):
        table_named("table2").row("prior-2")


@pytest.mark.parametrize("table", TRAINED, ids=lambda table: table.name)
def test_every_row_has_settings_and_data(table):
    assert len({row.name for row in table.rows}) == len(table.rows)
    assert len({row.setting for row in table.rows}) == 1
    assert set(table.columns) <= COLUMNS.keys()
    for row in table.rows:
        assert row.setting in DATA_SETS
        for key, value in row.changes.items():
            assert row.settings.get(key) == value
