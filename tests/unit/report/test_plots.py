import re
from itertools import pairwise

import matplotlib
from tests.unit.report.markup import parse

from unnoted.evaluation import Score
from unnoted.report.plots import MethodCurve, dumbbell_plot, parts_plot, precision_recall_plot
from unnoted.report.svg import COLOURS, look, plain

HOSTILE = 'a<script>&"$x^2$\x00\n'
CURVE = [(0.2, 1.0), (0.4, 1.0), (0.4, 0.67), (0.6, 0.75)]


def curves(*methods):
    return precision_recall_plot([MethodCurve(*method) for method in methods], "p")


def labels(svg):
    return [element.text for element in parse(svg).all("text")]


def drawn(svg, number):
    """How many strokes take the colour of a series."""
    return svg.count(f"stroke: var(--series-{number}, {COLOURS[number - 1]})")


def test_precision_and_recall_of_two_methods():
    svg = curves(("A", CURVE, Score(2, 2, 5)), ("B", CURVE, Score(3, 4, 5)))
    assert "A: F1 57.1 as decided" in labels(svg)
    assert "B: F1 66.7 as decided" in labels(svg)
    assert {"recall (%)", "precision (%)", "F1 20", "F1 40", "F1 60", "F1 80"} <= set(labels(svg))
    assert "A: F1 57.1 as decided" in parse(svg).only("svg").attributes["aria-label"]


def test_without_a_curve_the_decision_is_still_marked():
    marked, silent = curves(("A", [], Score(2, 2, 5))), curves(("A", [], Score(0, 0, 5)))
    full = curves(("A", CURVE, Score(2, 2, 5)))
    assert drawn(full, 1) > drawn(marked, 1) > drawn(silent, 1) > 0
    assert "A: predicts nothing" in labels(silent)


def test_a_dumbbell_plot_has_its_rows_from_top_to_bottom():
    rows = [
        ("first", (0.1, 0.9)),
        ("second", (0.4, 0.5)),
        ("third", (0.2, 0.2)),
    ]
    svg = dumbbell_plot(rows, ["A", "B"], "F1", "p")
    heights = {
        element.text: float(
            re.search(r"(?:translate\(\S+ |y=\")([\d.]+)", str(element.attributes) + place(element))[1]
        )
        for element in parse(svg).all("text")
        if element.text in ("first", "second", "third")
    }
    assert heights["first"] < heights["second"] < heights["third"]
    assert {"A", "B", "F1 (%)"} <= set(labels(svg))


def place(element):
    return f'y="{element.attributes["y"]}"' if "y" in element.attributes else ""


def test_parts_are_counted_where_there_is_room():
    rows = [("A", (4000, 5900, 100)), ("B", (0, 0, 0))]
    found = labels(parts_plot(rows, ["one", "two", "three"], "facts", "p"))
    assert {"A", "B", "one", "two", "three", "facts", "4,000", "5,900"} <= set(found)
    assert "100" not in found


def test_no_rows_at_all():
    assert "F1 (%)" in labels(dumbbell_plot([], ["A"], "F1", "p"))
    assert "recall (%)" in labels(curves())
    assert "facts" in labels(parts_plot([], ["one"], "facts", "p"))


def test_the_same_figure_gives_the_same_text():
    assert curves(("A", CURVE, Score(2, 2, 5))) == curves(("A", CURVE, Score(2, 2, 5)))


def test_ids_are_the_plots_own_and_links_reach_them():
    plots = [
        precision_recall_plot([MethodCurve("A", CURVE, Score(2, 2, 5))], name) for name in ("one", "two")
    ]
    root = parse("".join(plots))  # would find an id that is there twice
    ids = {element.attributes["id"] for element in root.all() if "id" in element.attributes}
    links = {element.attributes["href"][1:] for element in root.all("use")}
    clips = {
        name
        for element in root.all()
        for name in re.findall(r"url\(#(.*)\)", element.attributes.get("clip-path", ""))
    }
    assert links and clips and links <= ids and clips <= ids
    assert all(name.startswith(("one-", "two-")) for name in ids)


def test_nothing_is_asked_for_and_nothing_leaks_into_the_page():
    svg = curves((HOSTILE, CURVE, Score(2, 2, 5)))
    root = parse(svg)
    assert "http" not in svg and "DejaVu" not in svg
    assert not list(root.all("style")) and not list(root.all("metadata")) and not list(root.all("script"))
    assert "#101010" not in svg and "currentColor" in svg


def test_hostile_and_long_labels_are_shown_as_they_are():
    rows = [(HOSTILE, (0.5,)), ("long " * 100, (0.5,)), ("漢字 µ", (0.5,))]
    found = labels(dumbbell_plot(rows, [HOSTILE], HOSTILE.strip("\x00\n"), "p"))
    assert 'a<script>&"$x^2$' in found
    assert "漢字 µ" in found
    assert max(map(len, found)) <= 36


def test_matplotlib_is_left_as_it_was():
    before = dict(matplotlib.rcParams)
    curves(("A", CURVE, Score(2, 2, 5)))
    assert dict(matplotlib.rcParams) == before


def test_neighbours_differ_in_more_than_colour():
    looks = [look(index, 7) for index in range(6)]
    for one, other in pairwise(looks):
        assert all(one[part] != other[part] for part in ("color", "marker", "linestyle"))


def test_plain():
    assert plain(" a\tb\x07c ") == "a b c"
    assert plain("x" * 36) == "x" * 36
    assert plain("") == ""
