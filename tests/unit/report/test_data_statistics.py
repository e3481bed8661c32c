"""The data sets' statistics in every format."""

import csv
import io

from unnoted.experiments.results import Figure, RowResult, TableResult
from unnoted.report.data_statistics import (
    statistics_csv,
    statistics_latex,
    statistics_markdown,
    statistics_page,
    statistics_text,
)

RESULT = TableResult(
    "accents1",
    "What there is",
    ("train", "test"),
    (
        RowResult("# docs", "# docs", "", {"train": Figure(3053.0), "test": Figure(500.0)}, {"train": Figure(548.0)}, ()),
        RowResult("Avg # ents", "Avg # ents", "", {"train": Figure(19.5), "test": Figure(10.0)}, {"train": Figure(19.2463)}, ()),
    ),
    ("test: found no file_1",),
)  # fmt: skip


def test_counts_are_whole_and_means_have_a_digit():
    lines = [line.split() for line in statistics_text(RESULT).splitlines()]
    assert ["#", "docs", "3,053", "548", "500", "–"] in lines
    assert ["Avg", "#", "ents", "19.5", "19.2", "10.0", "–"] in lines
    assert lines[-1] == ["-", "test:", "found", "no", "file_1"]


def test_nothing_is_marked_as_the_best():
    assert "**548**" not in statistics_markdown(RESULT) and "| 548 |" in statistics_markdown(RESULT)
    page = statistics_page(RESULT).to_html()
    assert "<strong>" not in page and "19.2" in page and "found no file_1" in page


def test_latex_has_no_bare_sign():
    text = statistics_latex(RESULT)
    assert r"\# docs & 3,053 & 548 & 500 & -- \\" in text and r"file\_1" in text


def test_csv_has_all_digits():
    rows = list(csv.DictReader(io.StringIO(statistics_csv(RESULT))))
    assert [row["measured_mean"] for row in rows] == ["548.0", "", "19.2463", ""]
