"""The graph of a document's facts."""

import re
from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import documents

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.visualization import FactTable
from unnoted.serve.graph_drawing import MOST_FACTS, WIDTH, render_graph
from unnoted.serve.graph_layout import layout


def document_of(*names):
    entities = tuple(Entity((Mention(0, n, n + 1, "PER", name),)) for n, name in enumerate(names))
    return Document("d", (tuple(names),), entities)


@given(st.integers(2, 12), st.data())
@settings(max_examples=20)
def test_boxes_lie_apart_within_the_width(count, data):
    sizes = [(float(data.draw(st.integers(30, 180))), 26.0) for _ in range(count)]
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    places = layout(sizes, data.draw(st.lists(pairs, max_size=12)), WIDTH)
    boxes = np.array(sizes)
    assert np.isfinite(places).all() and (places[:, 1] - 13 >= -1e-6).all()
    assert (places[:, 0] - boxes[:, 0] / 2 >= 0).all() and (places[:, 0] + boxes[:, 0] / 2 <= WIDTH).all()
    for one in range(count):
        for other in range(one):
            apart = np.abs(places[one] - places[other]) >= (boxes[one] + boxes[other]) / 2
            assert apart.any()


def test_the_same_graph_is_drawn_the_same():
    sizes, links = [(60.0, 26.0)] * 5, [(0, 1), (1, 2)]
    assert (layout(sizes, links, WIDTH) == layout(sizes, links, WIDTH)).all()


@given(documents)
@settings(max_examples=10)
def test_it_is_well_formed_whatever_the_names(document):
    svg = re.search(r"<svg.*</svg>", str(render_graph(document, FactTable.of(document.facts))), re.DOTALL)
    if not document.facts:
        assert svg is None
        return
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]", "", svg[0])
    root = ElementTree.fromstring(text)
    assert len(root.findall("g[@class='edge']")) == len(document.facts)


def test_facts_are_numbered_as_in_the_table_and_two_of_a_pair_share_an_arrow():
    facts = [Fact(0, 1, "a", (0,)), Fact(0, 1, "b"), Fact(1, 0, "c")]
    svg = str(render_graph(document_of("Ada", "Bo"), FactTable.of(facts)))
    assert re.findall(r'data-fact="(\d)" data-head="(\d)" data-tail="(\d)" data-sentences="(\d?)"', svg) == [
        ("1", "0", "1", "0"), ("2", "0", "1", ""), ("3", "1", "0", "")
    ]  # fmt: skip
    lines = re.findall(r'class="line" d="([^"]+)"', svg)
    assert lines[0] == lines[1] != lines[2]


def test_everything_lies_within_the_drawing():
    facts = [
        Fact(head, tail, f"r{n}") for head in range(3) for tail in range(3) if head != tail for n in range(4)
    ]
    svg = str(render_graph(document_of("Ada", "Bo", "Kelm"), FactTable.of(facts)))
    left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', svg)[1].split())
    texts = [tuple(map(float, each)) for each in re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"', svg)]
    assert len(texts) == 27
    assert all(left < x < left + width and top < y < top + height for x, y in texts)


def test_of_too_many_facts_the_first_are_drawn_and_said_to_be():
    names = [f"n{number}" for number in range(MOST_FACTS + 2)]
    facts = [Fact(0, number, "r") for number in range(1, len(names))]
    svg = str(render_graph(document_of(*names), FactTable.of(facts)))
    assert (
        svg.count('class="edge"') == MOST_FACTS and f"The first {MOST_FACTS} of {MOST_FACTS + 1} facts" in svg
    )
