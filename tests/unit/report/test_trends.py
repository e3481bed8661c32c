from dataclasses import replace

import pytest
from tests.unit.report.grids import (
    LEVELS,
    extreme_table,
    levels_table,
    margin_table,
    methods_table,
    prior_table,
)
from tests.unit.report.markup import parse

from unnoted.experiments.results import Figure
from unnoted.report.levels import figures_of, level_plots, levels_across, levels_within, where_it_pays
from unnoted.report.looks import Series
from unnoted.report.svg import SERIES_COLOURS
from unnoted.report.sweeps import measures, sweep_plot, sweeps
from unnoted.report.trends import Ticks, TrendLine, trend_plot


def labels(svg):
    return [element.text for element in parse(svg).all("text")]


def drawn(svg, number):
    return svg.count(f"stroke: var(--series-{number}, {SERIES_COLOURS[number - 1]})")


def test_a_trend_names_its_lines_axes_and_places():
    line = TrendLine("A", Series.of(0), ((0.0, Figure(10.0)), (1.0, Figure(20.0))))
    svg = trend_plot([line], Ticks.of_names("level", ["few", "many"]), "F1", "p")
    assert {"A", "few", "many", "level", "F1 (%)"} <= set(labels(svg))
    assert "A: 10.0, 20.0" in parse(svg).only("svg").attributes["aria-label"]


def test_a_deviation_is_drawn_as_a_bar():
    def plot(deviation):
        line = TrendLine("A", Series.of(0), ((0.0, Figure(10.0, deviation)), (1.0, Figure(20.0, deviation))))
        return trend_plot([line], Ticks.of_numbers("x", [0, 1]), "F1", "p")

    assert drawn(plot(1.0), 1) > drawn(plot(None), 1)


@pytest.mark.parametrize("lines", [[], [TrendLine("A", Series.of(0), ((3.0, Figure(0.0)),))]])
def test_a_trend_of_nothing_or_of_one_point(lines):
    assert "F1 (%)" in labels(trend_plot(lines, Ticks.of_numbers("x", []), "F1", "p"))


def test_ticks_that_would_overlap_are_left_out():
    assert Ticks.of_numbers("x", [1.0, 0.0, 0.01, 0.5]).places == ((0.0, "0"), (0.5, "0.5"), (1.0, "1"))
    assert Ticks.of_numbers("x", [2.0]).places == ((2.0, "2"),)


def test_published_and_measured_differ_in_line_and_marker():
    for index in range(7):
        look = Series.of(index)
        assert look.published.line != look.measured.line and look.published.filled != look.measured.filled
        assert look.published.colour == look.measured.colour


@pytest.mark.parametrize(
    ("table", "setting", "values"),
    [(margin_table, "margin", [0, 0.1, 0.25, 0.5, 1]), (prior_table, "prior_multiplier", [2, 3, 4])],
)
def test_rows_that_differ_in_one_setting_are_a_sweep(table, setting, values):
    (sweep,) = sweeps(table())
    assert sweep.setting == setting and [value for value, _ in sweep.rows] == values
    svg = sweep_plot(sweep, table(), "p")
    assert {f"{value:g}" for value in values} <= set(labels(svg))
    assert {"F1, published", "F1, measured"} <= set(labels(svg))


def test_rows_that_differ_in_more_are_none():
    assert sweeps(methods_table()) == sweeps(levels_table()) == []
    first, *rest = margin_table().rows
    other = replace(
        first, records=tuple(replace(r, settings={**r.settings, "epochs": 3}) for r in first.records)
    )
    (sweep,) = sweeps(replace(margin_table(), rows=(other, *rest)))
    assert [value for value, _ in sweep.rows] == [0.1, 0.25, 0.5, 1]


def elsewhere(row, place):
    """A row whose runs were made with the same files in another place."""
    paths = {"encoder": f"{place}/minilm", "train": [f"{place}/train.json"]}
    return replace(row, records=tuple(replace(r, settings={**r.settings, **paths}) for r in row.records))


def test_runs_made_in_several_places_stand_together():
    rows = [elsewhere(row, place) for row, place in zip(margin_table().rows, "abcde", strict=True)]
    (sweep,) = sweeps(replace(margin_table(), rows=tuple(rows)))
    assert [value for value, _ in sweep.rows] == [0, 0.1, 0.25, 0.5, 1]
    rows = [elsewhere(row, f"place-{number}") for number, row in enumerate(levels_table().rows)]
    assert len(levels_within(replace(levels_table(), rows=tuple(rows))).methods) == len(
        levels_within(levels_table()).methods
    )


def test_a_row_without_a_finished_run_is_in_no_sweep():
    first, *rest = margin_table().rows
    (sweep,) = sweeps(replace(margin_table(), rows=(replace(first, records=(), measured={}), *rest)))
    assert 0 not in [value for value, _ in sweep.rows]


def test_what_of_a_table_is_drawn():
    assert measures(prior_table()) == [("F1", "F1"), ("precision", "P"), ("recall", "R")]
    assert measures(margin_table()) == [("F1", "F1")]
    assert measures(replace(margin_table(), columns=("Dev F1", "Test Ign F1", "Test F1"))) == [
        ("F1", "Test F1")
    ]


def test_levels_within_a_table_from_the_fewest_labels_on():
    turned = replace(levels_table(), rows=levels_table().rows[::-1])
    for table in (levels_table(), turned):
        levels = levels_within(table)
        assert [title for title, _ in levels.levels] == list(LEVELS)
        numbers = [labels for _, labels in levels.levels]
        assert numbers == sorted(numbers) and numbers[-1] == pytest.approx(10 * numbers[0], abs=1.0)
    (_, atlop), (_, ssr_pu) = levels_within(levels_table()).methods
    assert [row.row.measured["F1"] for row in atlop] == [figures_of(row)["F1"] for row in atlop]
    assert [row.level for row in ssr_pu] == list(LEVELS)


def test_groups_with_the_same_labels_are_no_levels():
    assert levels_within(methods_table()) is None
    assert levels_across([methods_table(), margin_table(), prior_table()]) is None


def test_tables_as_levels():
    levels = levels_across([methods_table(), extreme_table(), margin_table(), levels_table()])
    assert [title for title, _ in levels.levels] == ["table3", "table1"]
    assert [title for title, _ in levels.methods] == ["ATLOP+BERT-base", "SSR-PU+ATLOP+BERT-base"]
    f1, recall = level_plots(levels, "p")
    assert {"ATLOP+BERT-base, published", "ATLOP+BERT-base", "F1 (%)"} <= set(labels(f1))
    assert "recall (%)" in labels(recall) and "ATLOP+BERT-base, published" not in labels(recall)


def test_where_it_pays():
    rows = {row.name: row.measured["F1"].mean for row in levels_table().rows}
    (told,) = where_it_pays(levels_within(levels_table()))
    difference = rows["ssr-pu-all labels"] - rows["atlop-all labels"]
    assert told.endswith(f"all labels +{difference:.1f}.")
    assert told.startswith("F1 of SSR-PU+ATLOP against ATLOP, in points, from the fewest labels on: 10 %")


def test_a_method_that_lacks_a_level_has_a_gap():
    lacking = replace(levels_table(), rows=levels_table().rows[:5] + levels_table().rows[6:])
    (_, _), (_, ssr_pu) = levels_within(lacking).methods
    assert [row is None for row in ssr_pu] == [False, False, True, False]
    assert "50 %" not in where_it_pays(levels_within(lacking))[0]


def test_long_titles_of_levels_are_set_in_lines():
    rows = tuple(
        replace(row, group=f"{row.group}, as they are with a long name") for row in levels_table().rows
    )
    f1, _ = level_plots(levels_within(replace(levels_table(), rows=rows)), "p")
    assert {"10 % of labels,", "as they are"} <= set(labels(f1))
    assert max(len(text) for text in labels(f1) if "labels," in text) <= 15
