from dataclasses import replace

from tests.unit.report.grids import all_tables, margin_table, methods_table
from tests.unit.report.markup import parse

from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.report import grid_page
from unnoted.report.grid_curves import looks_of
from unnoted.report.looks import Series


def opened(*results, **rest):
    return parse(grid_page(results, "Page", **rest).to_html())


def test_every_table_has_its_section_and_its_plots():
    root = opened(*all_tables())
    sections = [section.attributes["id"] for section in root.only("main").all("section")]
    assert sections == [*(f"grid-{result.name}" for result in all_tables()), "levels-of-tables"]
    assert len(list(root.all("figure"))) == len(list(root.all("figcaption"))) == 18
    assert root.only("h1").text == "Page"


def test_only_a_page_of_several_tables_lists_them():
    assert len(list(opened(*all_tables()).only("nav").all("a"))) == len(all_tables()) + 1
    assert not list(opened(methods_table()).all("nav"))


def test_what_is_to_be_known_stands_below_the_table():
    text = opened(methods_table()).only("main").text
    result = methods_table()
    for note in result.notes:
        assert note in text
    assert "RuntimeError: the risk is not a number at step 120" in text
    assert "∗ the published figures are of the authors' own implementation" in text
    lead = opened(methods_table()).only("p", class_="lead").text
    assert lead.startswith("11 finished runs, ") and "1 run failed" in lead


def test_a_run_that_stands_in_two_tables_counts_once():
    root = opened(methods_table(), replace(methods_table(), title="the same again"))
    assert root.only("p", class_="lead").text.startswith("11 finished runs, ")
    assert [section.attributes["id"] for section in root.only("main").all("section")] == [
        "grid-table1",
        "grid-table1-again",
    ]


def test_claims_say_what_can_be_said():
    claims = (Claim("ssr-pu", "atlop", 3.0, 2.0, 4.0, 1.0), Claim("ssr-pu", "pn", 0.1, -1.0, 1.2, 0.55))
    root = opened(replace(methods_table(), claims=claims))
    table = list(root.all("table"))[1]
    rows = [[cell.text for cell in row.all("td")] for row in table.only("tbody").all("tr")]
    assert rows == [
        ["ATLOP+BERT-base", "+3.0", "+2.0 to +4.0", "100.0", "better"],
        ["PN+ATLOP+BERT-base", "+0.1", "−1.0 to +1.2", "55.0", "not certain"],
    ]


def test_atlop_and_ssr_pu_look_alike_in_every_plot():
    rows = [row for row in methods_table().rows if row.group == "BERT-base" and row.records]
    looks = looks_of(rows)
    assert looks[0] == Series.of(0) and looks[-1] == Series.of(1)
    assert len(set(looks)) == len(looks) == len({look.colour for look in looks}) == 6
    assert looks_of(margin_table().rows) == [Series.of(index) for index in range(5)]


def test_names_of_relations_are_shown_where_they_are_known():
    assert "capital of (R00)" in opened(methods_table(), relation_names={"R00": "capital of"}).text


def test_hostile_words_stay_words():
    evil = "<script>alert(1)</script>"
    result = replace(margin_table(), title=evil, notes=(evil,), name=f"{evil} {evil}")
    root = opened(result, relation_names={"R00": evil})
    assert len(list(root.all("script"))) == 1  # the page's own
    assert evil in root.only("main").text


def test_a_table_in_which_nothing_ran_has_no_plots():
    row = RowResult("a", "A", "", {"F1": Figure(40.0)}, {}, ())
    root = opened(TableResult("t", "Title", ("F1",), (row,)))
    assert not list(root.all("figure")) and not list(root.all("details"))
    assert [cell.text for cell in root.only("tbody").all("td")] == ["40.00", "–"]
    assert root.only("p", class_="lead").text == "0 finished runs, 0 s in all."


def test_the_same_tables_give_the_same_page():
    assert grid_page([margin_table()], "P").to_html() == grid_page([margin_table()], "P").to_html()
