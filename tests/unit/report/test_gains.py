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

from unnoted.report.gains import RelationGain, gains, gains_plot, gains_table, quarters


def test_a_gain_is_counted_from_both_rows_and_all_seeds():
    ((group, relations),) = gains(methods_table())
    rows = {row.name: row for row in methods_table().rows}
    assert group == "BERT-base"
    gold, _ = world()
    for gain in relations:
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
            assert gain.under_labelled == 0
    true = [gain.true for gain in relations]
    assert true == sorted(true, reverse=True) and min(true) > 0


def points(svg, number):
    """How many points each group has in a plot."""
    groups = [group for group in parse(svg).all("g") if "PathCollection" in group.attributes.get("id", "")]
    return [len(list(group.all("path"))) for group in groups[:number]]


def test_a_relation_that_was_never_labelled_has_no_place():
    ((group, relations),) = gains(methods_table())
    assert {gain.relation for gain in relations if not gain.labelled} == {"R39"}
    assert points(gains_plot([(group, relations)], "p"), 1) == [len(relations) - 1]


def test_a_pair_for_each_level_and_none_without_both():
    assert [group for group, _ in gains(levels_table())] == list(
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


def gain(place):
    return RelationGain("r", 1, 1, float(place), 0.0, 0.0)


def test_quarters():
    parts = quarters([gain(place) for place in reversed(range(14))])
    assert [len(part) for part in parts] == [4, 3, 3, 4]
    assert [each.under_labelled for part in parts for each in part] == list(range(14))
    assert len(quarters([gain(place) for place in range(12)])) == 4
    assert quarters([gain(place) for place in range(11)]) == []


def test_a_plot_has_a_point_for_each_relation_and_names_the_levels():
    groups = gains(levels_table())
    svg = gains_plot(groups, "p")
    texts = {element.text for element in parse(svg).all("text")}
    assert {group for group, _ in groups} <= texts
    assert {"gain in F1 (points)", "true facts per test document ÷ labels per training document"} <= texts
    assert {"1", "10"} <= texts
    assert points(svg, len(groups)) == [
        sum(bool(each.labelled) for each in relations) for _, relations in groups
    ]


def test_a_plot_of_nothing():
    assert "gain in F1 (points)" in gains_plot([("", [])], "p")


def test_the_same_as_a_table():
    ((_, relations),) = gains(methods_table())
    rows = [[cell.text for cell in row] for row in gains_table(relations, {"R00": "country"}).bodies()[0][1]]
    assert "country (R00)" in [row[0] for row in rows] and "R01" in [row[0] for row in rows]
    (never,) = [row for row in rows if row[0] == "R39"]
    assert never[2:4] == ["0", "–"]
