from dataclasses import replace
from statistics import fmean

import pytest
from tests.unit.report.grids import (
    DOCUMENTS,
    TRAIN_DOCUMENTS,
    levels_table,
    margin_table,
    methods_table,
    world,
)
from tests.unit.report.markup import parse

from unnoted.report.gains import Gains, RelationGain, gains, gains_plot, gains_table, parts, placed


def test_a_gain_is_counted_from_both_rows_and_all_seeds():
    (pair,) = gains(methods_table())
    rows = {row.name: row for row in methods_table().rows}
    assert (pair.title, pair.method, pair.baseline) == (
        "BERT-base",
        "SSR-PU+ATLOP+BERT-base",
        "ATLOP+BERT-base",
    )
    gold, _ = world()
    for gain in pair.relations:
        index = int(gain.relation[1:])
        scores = {
            name: [record.scored["test"].relations[gain.relation].f1 for record in rows[name].records]
            for name in ("atlop", "ssr-pu")
        }
        assert len(scores["atlop"]) == 3
        assert gain.points == pytest.approx(100 * (fmean(scores["ssr-pu"]) - fmean(scores["atlop"])))
        assert gain.true == gold[:, index].sum()
        labelled = rows["ssr-pu"].records[0].train_facts.get(gain.relation, 0)
        assert gain.labelled == labelled
        if labelled:
            expected = (gain.true / DOCUMENTS) / (labelled / TRAIN_DOCUMENTS)
            assert gain.under_labelled == pytest.approx(expected)
        else:
            assert gain.under_labelled is None
    true = [gain.true for gain in pair.relations]
    assert true == sorted(true, reverse=True) and min(true) > 0


def test_a_relation_that_was_never_labelled_has_no_place():
    (pair,) = gains(methods_table())
    assert {gain.relation for gain in pair.relations} - {gain.relation for _, gain in placed(pair)} == {"R39"}
    places = [place for place, _ in placed(pair)]
    assert places == sorted(places)


def test_a_pair_for_each_level_and_none_without_both():
    assert [pair.title for pair in gains(levels_table())] == list(
        dict.fromkeys(row.group for row in levels_table().rows)
    )
    assert gains(margin_table()) == []
    table = methods_table()
    others = tuple(row for row in table.rows if row.name != "atlop")
    assert gains(replace(table, rows=others)) == []


def test_rows_of_another_model_are_not_compared():
    table = methods_table()
    changed = tuple(
        replace(
            row,
            records=tuple(replace(r, settings={**r.settings, "architecture": "other"}) for r in row.records),
        )
        if row.name == "atlop"
        else row
        for row in table.rows
    )
    assert gains(replace(table, rows=changed)) == []


def points(number):
    return [(float(place), RelationGain("r", 1, 1, float(place), 0.0, 0.0)) for place in range(number)]


def test_quarters():
    assert [len(part) for part in parts(points(14))] == [4, 3, 3, 4]
    assert [place for part in parts(points(14)) for place, _ in part] == list(range(14))
    assert len(parts(points(12))) == 4 and parts(points(11)) == []


def test_a_plot_has_a_point_for_each_relation_and_names_the_levels():
    pairs = gains(levels_table())
    root = parse(gains_plot(pairs, "p"))
    texts = {element.text for element in root.all("text")}
    assert {pair.title for pair in pairs} <= texts
    assert {"gain in F1 (points)", "true facts per test document ÷ labels per training document"} <= texts
    assert {"1", "10"} <= texts
    collections = [group for group in root.all("g") if "PathCollection" in group.attributes.get("id", "")]
    assert [len(list(group.all("path"))) for group in collections] == [len(placed(pair)) for pair in pairs]


def test_a_plot_of_nothing():
    assert "gain in F1 (points)" in gains_plot([Gains("", "A", "B", ())], "p")


def test_the_same_as_a_table():
    (pair,) = gains(methods_table())
    table = gains_table(pair, {"R00": "country"})
    cells = [[cell.text for cell in row] for row in table.cells()]
    assert "country (R00)" in [row[0] for row in cells] and "R01" in [row[0] for row in cells]
    (never,) = [row for row in cells if row[0] == "R39"]
    assert never[2:4] == ["0", "–"]
