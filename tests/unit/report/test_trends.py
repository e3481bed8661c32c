"""Sweeps over a setting, and levels of labelling."""

from dataclasses import replace

import pytest
from tests.unit.report.grids import LEVELS, levels_table, margin_table, methods_table, prior_table
from tests.unit.report.markup import parse

from unnoted.experiments.results import Figure, RowResult
from unnoted.report.svg import COLOURS, look
from unnoted.report.trends import SWEPT, Trend, levels, sweeps, trend_plot, trend_plots


def labels(svg):
    return [element.text for element in parse(svg).all("text")]


def drawn(svg, number):
    return svg.count(f"stroke: var(--series-{number}, {COLOURS[number - 1]})")


def trend(*figures, ticks=None):
    """One method with these measured figures at 0, 1 and on."""
    rows = {place: RowResult("a", "A", "", {}, {"F1": figure}, ()) for place, figure in enumerate(figures)}
    return Trend("Level", ticks or {}, (("A", rows),))


def test_a_trend_names_its_lines_axes_and_places():
    svg = trend_plot(trend(Figure(10.0), Figure(20.0), ticks={0: "few", 1: "many"}), "F1", "F1", "p")
    assert {"A, measured", "few", "many", "level", "F1 (%)"} <= set(labels(svg))
    assert "A, measured: 10.0, 20.0" in parse(svg).only("svg").attributes["aria-label"]


def test_a_deviation_is_drawn_as_a_bar():
    def plot(deviation):
        return trend_plot(trend(Figure(10.0, deviation), Figure(20.0, deviation)), "F1", "F1", "p")

    assert drawn(plot(1.0), 1) > drawn(plot(None), 1)


@pytest.mark.parametrize("figures", [[], [Figure(0.0)]])
def test_a_trend_of_nothing_or_of_one_point(figures):
    assert "F1 (%)" in labels(trend_plot(trend(*figures), "F1", "F1", "p"))


def test_published_and_measured_differ_in_line_and_marker():
    for index in range(7):
        published, measured = look(index, 7, solid=False), look(index, 7, solid=True)
        assert published["linestyle"] != measured["linestyle"]
        assert published["markerfacecolor"] != measured["markerfacecolor"]
        assert published["color"] == measured["color"]


def places(result):
    """The values of the only sweep of a table."""
    ((_, rows),) = sweeps(result)[0].methods
    assert len(sweeps(result)) == 1
    return list(rows)


@pytest.mark.parametrize(
    ("table", "setting", "values"),
    [(margin_table, "margin", [0, 0.1, 0.25, 0.5, 1]), (prior_table, "prior_multiplier", [2, 3, 4])],
)
def test_rows_that_differ_in_one_setting_are_a_sweep(table, setting, values):
    (sweep,) = sweeps(table())
    assert sweep.title == SWEPT[setting] and places(table()) == values
    for svg in trend_plots(sweep, table(), "p"):
        assert {f"{value:g}" for value in values} <= set(labels(svg))
        assert {"published", "measured"} <= set(labels(svg))


def test_rows_that_differ_in_more_are_none():
    assert sweeps(methods_table()) == sweeps(levels_table()) == []
    first, *rest = margin_table().rows
    other = replace(
        first, records=tuple(replace(r, settings={**r.settings, "epochs": 3}) for r in first.records)
    )
    assert places(replace(margin_table(), rows=(other, *rest))) == [0.1, 0.25, 0.5, 1]


def elsewhere(row, place):
    """A row whose runs were made with the same files in another place."""
    paths = {"encoder": f"{place}/minilm", "train": [f"{place}/train.json"]}
    return replace(row, records=tuple(replace(r, settings={**r.settings, **paths}) for r in row.records))


def test_runs_made_in_several_places_stand_together():
    rows = [elsewhere(row, place) for row, place in zip(margin_table().rows, "abcde", strict=True)]
    assert places(replace(margin_table(), rows=tuple(rows))) == [0, 0.1, 0.25, 0.5, 1]
    rows = [elsewhere(row, f"place-{number}") for number, row in enumerate(levels_table().rows)]
    (elsewhere_too,), (here,) = levels(replace(levels_table(), rows=tuple(rows))), levels(levels_table())
    assert len(elsewhere_too.methods) == len(here.methods)


def test_a_row_without_a_finished_run_is_in_no_sweep():
    first, *rest = margin_table().rows
    assert 0 not in places(replace(margin_table(), rows=(replace(first, records=(), measured={}), *rest)))


def measures(result):
    svgs = [svg for trend in sweeps(result) for svg in trend_plots(trend, result, "p")]
    return [text for svg in svgs for text in labels(svg) if text.endswith("(%)")]


def test_what_of_a_table_is_drawn():
    assert measures(prior_table()) == ["F1 (%)", "precision (%)", "recall (%)"]
    assert measures(margin_table()) == ["F1 (%)"]
    assert measures(replace(margin_table(), columns=("Dev F1", "Test Ign F1", "Test F1"))) == ["F1 (%)"]


def test_levels_from_the_fewest_labels_on():
    turned = replace(levels_table(), rows=levels_table().rows[::-1])
    for table in (levels_table(), turned):
        (found,) = levels(table)
        lines = [label.split("\n") for label in found.ticks.values()]
        assert [" ".join(line[:-1]) for line in lines] == list(LEVELS)
        numbers = [float(line[-1]) for line in lines]
        assert numbers == sorted(numbers) and numbers[-1] == pytest.approx(10 * numbers[0], abs=1.0)
    (_, atlop), (_, ssr_pu) = levels(levels_table())[0].methods
    assert [row.group for row in atlop.values()] == [row.group for row in ssr_pu.values()] == list(LEVELS)


def test_groups_with_the_same_labels_are_no_levels():
    assert levels(methods_table()) == []


def test_a_method_that_lacks_a_level_has_a_gap():
    lacking = replace(levels_table(), rows=levels_table().rows[:5] + levels_table().rows[6:])
    (_, _), (_, ssr_pu) = levels(lacking)[0].methods
    assert list(ssr_pu) == [0, 1, 3]


def test_levels_name_methods_and_what_was_published_of_them():
    rows = tuple(replace(row, published={"F1": Figure(40.0)}) for row in levels_table().rows)
    result = replace(levels_table(), rows=rows)
    f1, _, recall = trend_plots(levels(result)[0], result, "p")
    assert {"ATLOP, published", "ATLOP, measured", "F1 (%)"} <= set(labels(f1))
    assert "recall (%)" in labels(recall) and "ATLOP, published" not in labels(recall)


def test_long_titles_of_levels_are_set_in_lines():
    rows = tuple(
        replace(row, group=f"{row.group}, as they are with a long name") for row in levels_table().rows
    )
    result = replace(levels_table(), rows=rows)
    f1, *_ = trend_plots(levels(result)[0], result, "p")
    assert {"10 % of labels,", "as they are"} <= set(labels(f1))
    assert max(len(text) for text in labels(f1) if "labels," in text) <= 15
