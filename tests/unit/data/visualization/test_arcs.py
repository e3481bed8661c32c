"""Arcs that can be followed: no two of them run along the same line."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.markup import parse

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.visualization import render_arcs
from unnoted.data.visualization.arc_diagram import MOST_ARCS
from unnoted.data.visualization.arc_layout import ArcLayout
from unnoted.data.visualization.fact_table import FactLine

ENTITIES = 8


def document(names=None):
    """Entities named in the order of their index, but for the last, which is named first."""
    names = names or [f"entity {number}" for number in range(ENTITIES)]
    order = [len(names) - 1, *range(len(names) - 1)]
    entities = [
        Entity((Mention(0, order.index(index), order.index(index) + 1, "T", name),))
        for index, name in enumerate(names)
    ]
    return Document("d", (tuple(str(index) for index in order),), tuple(entities))


facts = st.lists(
    st.builds(FactLine, st.integers(0, ENTITIES - 1), st.integers(0, ENTITIES - 1), st.just("r")),
    max_size=MOST_ARCS,
)


@given(facts)
def test_no_two_arcs_share_a_line_or_a_stretch_of_a_lane(facts):
    layout = ArcLayout.of(document(), facts)
    ends = [height for arc in layout.arcs for height in (arc.start, arc.end)]
    assert len(set(ends)) == len(ends)
    for one in layout.arcs:
        for other in layout.arcs:
            if one is not other and one.lane == other.lane:
                (low, high), (start, stop) = sorted((one.start, one.end)), sorted((other.start, other.end))
                assert high < start or stop < low


@given(facts)
def test_every_arc_ends_in_the_rows_of_its_head_and_tail(facts):
    layout = ArcLayout.of(document(), facts)
    rows = {row.entity: row for row in layout.rows}
    assert set(rows) == {entity for fact in facts for entity in (fact.head, fact.tail)}
    for arc, fact in zip(layout.arcs, facts, strict=True):
        assert rows[fact.head].top < arc.start < rows[fact.head].bottom
        assert rows[fact.tail].top < arc.end < rows[fact.tail].bottom
        assert 0 <= arc.lane < layout.lanes
    assert all(above.bottom < below.top for above, below in zip(layout.rows, layout.rows[1:], strict=False))


def test_entities_stand_in_the_order_of_the_text():
    layout = ArcLayout.of(document(), [FactLine(2, ENTITIES - 1, "r"), FactLine(0, 2, "r")])
    assert [row.entity for row in layout.rows] == [ENTITIES - 1, 0, 2]


def test_twenty_facts_stay_within_the_picture():
    lines = [
        FactLine(number % ENTITIES, (number * 3 + 1) % ENTITIES, f"relation {number}") for number in range(20)
    ]
    svg = parse(render_arcs(document(), lines)).only("svg")
    _, top, width, height = map(int, svg.attributes["viewbox"].split())
    for path in svg.all("path", class_="line"):
        start, lane, end = re.match(r"M\d+ (\d+)H(\d+).*V(-?\d+)", path.attributes["d"]).groups()
        assert top < int(start) < height and top < int(end) < height and int(lane) < width
    assert width < 520  # little more than a phone


def test_the_first_are_drawn_of_too_many_and_it_says_so():
    lines = [FactLine(0, 1, str(number)) for number in range(MOST_ARCS + 1)]
    root = parse(render_arcs(document(), lines))
    assert len(list(root.all("g", class_="arc"))) == MOST_ARCS
    assert root.only("figcaption").text == "The first 40 of 41 facts, from head to tail."
    assert root.only("svg").attributes["role"] == "img"
    assert render_arcs(document(), []) == ""


def test_entities_have_the_colours_of_their_types():
    lines = [FactLine(0, 1, "r")]
    rows = [row.classes[1] for row in parse(render_arcs(document(), lines)).all("g", class_="entity")]
    assert rows == ["type-0", "type-0"]
    rows = [
        row.classes[1]
        for row in parse(render_arcs(document(), lines, types=["S", "T"])).all("g", class_="entity")
    ]
    assert rows == ["type-1", "type-1"]


def test_long_names_are_cut_and_stand_whole_in_the_title():
    root = parse(render_arcs(document(["x" * 90, "y"]), [FactLine(0, 1, "r" * 90)]))
    row = root.only("g", data_entity="0")
    assert row.only("text").text == "x" * 19 + "… 0" and "x" * 90 in row.only("title").text
    arc = root.only("g", class_="arc")
    assert len(arc.only("text").text) == 22 and "r" * 90 in arc.only("title").text
