import pytest
from tests.unit.report.markup import parse

from unnoted.experiments.results import Figure
from unnoted.experiments.tables import Column, Table, shares, words
from unnoted.report.page import table_html
from unnoted.utils import format_count


def cells(table):
    return [row for _, rows in table.bodies() for row in rows]


def best(table, column):
    return [row[column].best for row in cells(table)]


def test_the_highest_or_the_lowest_is_best():
    columns = (words("Method"), shares("F1"), Column("Loss", "{:.1f}".format, best=min))
    table = Table("c", columns, (("A", 0.2, 3.0), ("B", 0.3, 4.0)))
    assert (best(table, 0), best(table, 1), best(table, 2)) == ([False, False], [False, True], [True, False])


def test_values_that_are_written_alike_are_equally_good():
    table = Table("c", (words(""), shares("F1")), (("A", 0.50001), ("B", 0.50002), ("C", 0.1)))
    assert best(table, 1) == [True, True, False]


@pytest.mark.parametrize("values", [(0.5,), (0.5, 0.5), (0.5, None), ()])
def test_nothing_is_best_where_there_is_nothing_to_compare(values):
    table = Table("c", (words(""), shares("F1")), tuple(("x", value) for value in values))
    assert not any(best(table, 1))


def test_no_value_is_a_dash_and_never_best():
    table = Table("c", (words(""), shares("F1")), (("A", None), ("B", 0.5), ("C", 0.1)))
    assert [row[1].text for row in cells(table)] == ["–", "50.0", "10.0"]
    assert best(table, 1) == [False, True, False]


def test_a_short_row_is_refused():
    with pytest.raises(ValueError, match="found 1 values, expected 2"):
        Table("c", (words("a"), words("b")), (("x",),))


def test_html():
    columns = (
        words("Method"),
        shares("F1", group="In"),
        Column("Facts", format_count, group="In"),
        Column("All", format_count, group="Out"),
    )
    table = Table("A <caption>", columns, (("A & B", 0.5, 1000, 2), ("C", 0.25, 3, 4)))
    root = parse(table_html(table))
    assert root.only("caption").text == "A <caption>"
    groups = list(root.all("th", scope="colgroup"))
    assert [(th.text, th.attributes["colspan"]) for th in groups] == [("In", "2"), ("Out", "1")]
    assert [th.text for th in root.all("th", scope="col")] == ["Method", "F1", "Facts", "All"]
    assert [th.text for th in root.all("th", scope="row")] == ["A & B", "C"]
    assert [td.text for td in root.only("tbody").all("td")] == ["50.0", "1,000", "2", "25.0", "3", "4"]
    assert [strong.text for strong in root.all("strong")] == ["50.0"]


def test_html_of_an_empty_table_and_without_groups():
    root = parse(table_html(Table("none", (words("Method"), shares("F1")), ())))
    assert not list(root.all("td")) and not list(root.all("th", scope="colgroup"))
    assert len(list(root.all("tr"))) == 1


def test_rows_of_a_group_are_compared_with_each_other_only():
    rows = (("A", 0.2), ("B", 0.3), ("C", 0.9), ("D", 0.8))
    table = Table("c", (words(""), shares("F1")), rows, ("low", "low", "high", "high"))
    assert best(table, 1) == [False, True, True, False]
    assert [(heading, len(body)) for heading, body in table.bodies()] == [("low", 2), ("high", 2)]
    root = parse(table_html(table))
    assert [th.text for th in root.all("th", scope="rowgroup")] == ["low", "high"]
    assert len(list(root.all("tbody"))) == 2
    with pytest.raises(ValueError, match="row groups: found 1, expected 4"):
        Table("c", table.columns, rows, ("low",))


def test_figures_are_compared_by_their_means_and_words_among_them_never_are_best():
    values = (Figure(50.001, 3.0), Figure(50.002, 0.1), Figure(40.0), "failed", None)
    table = Table(
        "c", (words(""), Column("F1", best=max, quiet=True)), tuple(("x", value) for value in values)
    )
    assert [row[1].text for row in cells(table)] == ["50.00 ± 3.00", "50.00 ± 0.10", "40.00", "failed", "–"]
    assert best(table, 1) == [True, True, False, False, False]
    shown = list(parse(table_html(table)).only("tbody").all("td"))
    assert [cell.text for cell in shown] == ["50.00 ± 3.00", "50.00 ± 0.10", "40.00", "failed", "–"]
    assert all("quiet" in cell.classes for cell in shown)
