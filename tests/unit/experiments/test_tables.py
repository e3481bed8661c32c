"""A table of runs in every format, with names that are not markup."""

import csv
from io import StringIO

import pytest
from tests.unit.experiments.factories import make_record, make_scored

from unnoted.experiments.results import CURVE, MeanStd, Row, Significance, TableResult, measure
from unnoted.experiments.tables import SUFFIXES, Table, results_table, to_csv, write_tables
from unnoted.training.results import Failure


def make_row(name, correct, group="BERT", **more):
    records = [make_record(settings={"seed": seed}, test=make_scored(correct)) for seed in (62, 63)]
    measured = measure(records, ["F1", *CURVE])
    return Row(name, name.upper(), group, measured=measured, records=tuple(records), **more)


@pytest.fixture
def result():
    published = {"F1": MeanStd(50.5, 0.25, 5)}
    rows = (
        make_row("a|b", 30, published=published, mark="own"),
        make_row("<b>", 40),
        Row("c", "C", "other", failures=(Failure("0123", "no memory"),)),
    )
    significance = (Significance("<b>", "a|b", 12.5, 1.0, 20.0, 0.99, seeds=2),)
    return TableResult("t", "Scores & more", ("F1", *CURVE), rows, ("epochs: 1",), significance=significance)


def test_published_figures_are_beside_measured_ones(result):
    table = results_table(result)
    assert table.columns == ("Model", "F1 published", "F1 measured", "Best F1", "AP")
    assert table.rows[0][:3] == ("A|B∗", "50.50 ± 0.25", "37.50 ± 0.00")
    assert table.rows[1][1] == "–" and table.rows[2][2] == "failed"
    notes = "\n".join(table.notes)
    assert "epochs: 1" in notes and "no memory" in notes and "+12.50" in notes and "better" in notes


def test_every_format_holds_every_row(result, tmp_path):
    files = write_tables(result, tmp_path)
    assert {path.name for path in files.values()} == {f"t{suffix}" for suffix in SUFFIXES.values()}
    page = files["html"].read_text("utf-8")
    assert "&lt;B&gt;" in page and "<B>" not in page and "<script" not in page
    assert r"A\|B" in files["markdown"].read_text("utf-8")
    assert r"Scores \& more" in files["latex"].read_text("utf-8")
    rows = list(csv.DictReader(StringIO(to_csv(result))))
    assert [row["row"] for row in rows if row["column"] == "F1"] == ["a|b", "<b>", "c"]
    assert float(rows[0]["measured_mean"]) == pytest.approx(37.5) and rows[0]["seeds"] == "2"


def test_columns_are_aligned_and_control_characters_are_not_printed():
    table = Table("Title", ("Model", "F1"), (("a\x1b[31m", "1"), ("bbbbbbbbbbbb", "10")), groups=("g", "h"))
    lines = table.to_text().splitlines()
    assert lines[0] == "Title" and "\x1b" not in table.to_text()
    assert lines[4].endswith(" 1") and lines[6].endswith("10") and len(lines[4]) == len(lines[6])
