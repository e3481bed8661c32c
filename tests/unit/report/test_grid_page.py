"""The page of a table of runs, and the files of every format."""

from dataclasses import replace

from tests.unit.report.grids import all_tables, margin_table, methods_table
from tests.unit.report.markup import parse
from tests.unit.report.test_grid_tables import STATISTICS

from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.report import grid_page, write_statistics, write_table

SECTIONS = {
    "table1": ["table", "curves", "relations", "runs"],
    "table3": ["table", "curves", "relations", "runs"],
    "table8": ["table", "curves", "trend-1", "runs"],
    "table9": ["table", "curves", "trend-1", "runs"],
    "compare": ["table", "curves", "trend-1", "relations", "runs"],
}
FIGURES = {"table1": 3, "table3": 2, "table8": 2, "table9": 4, "compare": 8}


def opened(result, names=None):
    return parse(grid_page(result, names))


def test_every_table_has_its_sections_and_its_plots():
    for result in all_tables():
        root = opened(result)
        sections = [section.attributes["id"] for section in root.only("main").all("section")]
        assert sections == SECTIONS[result.name]
        figures = list(root.all("figure"))
        assert len(figures) == len(list(root.all("figcaption"))) == FIGURES[result.name]
        assert all(figure.only("svg").attributes["aria-label"] for figure in figures)
        assert root.only("h1").text == root.only("title").text == result.title


def test_what_is_to_be_known_stands_below_the_table():
    result = methods_table()
    text = opened(result).only("main").text
    for note in result.notes:
        assert note in text
    assert "RuntimeError: the loss is not a number at step 120" in text
    assert "∗ the published figures are from the authors' own implementation" in text
    lead = opened(result).only("p", class_="lead").text
    assert lead.startswith("11 finished runs, ") and "1 run failed" in lead


def test_a_run_that_stands_in_two_rows_counts_once():
    rows = (*methods_table().rows, replace(methods_table().rows[1], name="again"))
    lead = opened(replace(methods_table(), rows=rows)).only("p", class_="lead").text
    assert lead.startswith("11 finished runs, ")


def test_claims_say_what_can_be_said():
    claims = (
        Claim("ssr-pu", "atlop", 3.0, 2.0, 4.0, 1.0, seeds=3),
        Claim("ssr-pu", "pn", 0.1, -1.0, 1.2, 0.55, seeds=3),
    )
    root = opened(replace(methods_table(), claims=claims))
    lines = [line.text for line in root.only("main").all("li") if "points of F1" in line.text]
    assert lines == [
        "SSR-PU+ATLOP+BERT-base against ATLOP+BERT-base: +3.00 points of F1 "
        "(95%: +2.00 to +4.00; ahead in 100.0% of resamples): better",
        "SSR-PU+ATLOP+BERT-base against PN+ATLOP+BERT-base: +0.10 points of F1 "
        "(95%: −1.00 to +1.20; ahead in 55.0% of resamples): not certain",
    ]


def test_atlop_and_ssr_pu_look_alike_in_every_plot():
    root = opened(methods_table())
    curves = list(root.only("section", id="curves").all("svg"))
    keys = [text.text.split(":")[0] for text in curves[1].all("text") if "as decided" in text.text]
    assert keys[:2] == ["ATLOP+BERT-base", "SSR-PU+ATLOP+BERT-base"]
    assert len(keys) == 6


def test_names_of_relations_are_shown_where_they_are_known():
    assert "capital of (R00)" in opened(methods_table(), {"R00": "capital of"}).text


def test_hostile_words_stay_words():
    evil = "<script>alert(1)</script>"
    result = replace(margin_table(), title=evil, notes=(evil,), name=f"{evil} {evil}")
    root = opened(result, {"R00": evil})
    assert len(list(root.all("script"))) == 1  # the page's own
    assert evil in root.only("main").text


def test_a_table_in_which_nothing_ran_has_no_plots():
    row = RowResult("a", "A", "", {"F1": Figure(40.0)}, {}, ())
    root = opened(TableResult("t", "Title", ("F1",), (row,)))
    assert not list(root.all("figure")) and not list(root.all("details"))
    assert [cell.text for cell in root.only("tbody").all("td")] == ["40.00", "–"]
    assert root.only("p", class_="lead").text == "0 finished runs, 0 s in all."


def test_the_same_tables_give_the_same_page():
    assert grid_page(margin_table()) == grid_page(margin_table())


def test_files_of_every_format(tmp_path):
    files = write_table(margin_table(), tmp_path / "new", {"R00": "capital of"})
    suffixes = {"text": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex", "html": ".html"}
    assert files == {name: tmp_path / "new" / f"table8{suffix}" for name, suffix in suffixes.items()}
    assert all(path.read_text("utf-8").endswith("\n") for path in files.values())
    assert files["text"].read_text("utf-8").startswith("table8: SSR-PU with different margins")


def test_files_of_data_sets(tmp_path):
    page = write_statistics(STATISTICS, tmp_path)["html"].read_text("utf-8")
    assert "<strong>" not in page and "19.2" in page and "found no file_1" in page
    assert parse(page).only("h1").text == "What there is"
