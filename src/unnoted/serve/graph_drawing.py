"""The facts of a document as a graph: entities are boxes, facts are arrows from head to tail; an SVG."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice

from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization import FactLine, FactTable
from unnoted.data.visualization.mention_spans import type_colour
from unnoted.serve.graph_arrows import Arrow, ArrowRoom
from unnoted.serve.graph_layout import layout

MOST_FACTS = 40
"""How many facts are drawn; the list beside them has all."""

WIDTH, HEIGHT, EDGE = 860.0, 26.0, 8.0
_LONGEST, _LETTER, _SMALL, _LINE = 24, 7.2, 6.3, 14

Numbered = list[tuple[int, FactLine]]


def render_graph(
    document: Document,
    facts: FactTable,
    *,
    names: Mapping[str, str] | None = None,
    types: Sequence[str] = (),
) -> Markup:
    """The facts as a graph; nothing if there is none.

    Args:
        document: whose facts they are.
        facts: the first `MOST_FACTS` of them are drawn.
        names: readable names of relations.
        types: entity types in the order of their colours.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["<Ada>", "Bo"]))
        >>> document = Document("d", (("<Ada>", "Bo"),), (ada, bo))
        >>> svg = render_graph(document, FactTable.of([Fact(0, 1, "P26")]), names={"P26": "spouse"})
        >>> "<Ada>" in svg, svg.count('class="node'), svg.count('class="edge'), ">spouse<" in svg
        (False, 2, 1, True)
    """
    lines = list(facts.lines())
    if not lines:
        return Markup()
    shown: Numbered = list(enumerate(islice(lines, MOST_FACTS), start=1))
    nodes = list(dict.fromkeys(entity for _, fact in shown for entity in (fact.head, fact.tail)))
    sizes = [(len(_short(document.entities[entity].name)) * _LETTER + 20, HEIGHT) for entity in nodes]
    position = {entity: number for number, entity in enumerate(nodes)}
    links = {(position[fact.head], position[fact.tail]) for _, fact in shown}
    width = min(WIDTH, max(240 + 185 * math.sqrt(len(nodes)), *(size[0] for size in sizes)))
    places = layout(sizes, links, width)
    pairs: dict[tuple[int, int], Numbered] = {}
    for number, fact in shown:
        pairs.setdefault((fact.head, fact.tail), []).append((number, fact))
    room = ArrowRoom(places, sizes)
    edges = []
    for (head, tail), some in pairs.items():
        texts = [_short((names or {}).get(fact.relation, fact.relation)) for _, fact in some]
        size = (max(map(len, texts)) * _SMALL, len(texts) * _LINE)
        arrow = room.arrow(position[head], position[tail], size, both_ways=(tail, head) in pairs)
        edges.append(_edges(some, texts, arrow))
    boxes = [_node(document, entity, places[n], sizes[n], types) for n, entity in enumerate(nodes)]
    left, top, right, bottom = room.bounds()
    across, down = math.ceil(right - left + 2 * EDGE), math.ceil(bottom - top + 2 * EDGE)
    return Markup(
        '<figure class="graph"><div class="scroll" tabindex="0" role="group" aria-label="Facts as a graph">'
        '<svg viewBox="{} {} {} {}" width="{}" height="{}" role="img" aria-label="{}">{}{}</svg></div>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        *(round(left - EDGE), round(top - EDGE), across, down, across, down),
        "Facts as a graph; the same facts are listed in the table",
        *(Markup("").join(edges), Markup("").join(boxes), _caption(len(lines))),
    )


def _caption(facts: int) -> str:
    if facts > MOST_FACTS:
        return f"The first {MOST_FACTS} of {facts:,} facts, each an arrow from head to tail."
    return "Each fact is an arrow from its head to its tail."


def _edges(facts: Numbered, texts: Sequence[str], arrow: Arrow) -> Markup:
    """All facts of a pair: one arrow, and a line of text for each."""
    top = arrow.label[1] + 4 - (len(facts) - 1) * _LINE / 2
    return Markup("").join(
        Markup(
            '<g class="edge" data-fact="{}" data-head="{}" data-tail="{}" data-sentences="{}">'
            '<path class="line" d="{}"></path><path class="arrow" d="{}"></path>'
            '<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text></g>'
        ).format(
            *(number, fact.head, fact.tail, " ".join(map(str, fact.evidence)), arrow.path(), arrow.tip()),
            *(arrow.label[0], top + line * _LINE, texts[line]),
        )
        for line, (number, fact) in enumerate(facts)
    )


def _node(
    document: Document, entity: int, place: Sequence[float], size: tuple[float, float], types: Sequence[str]
) -> Markup:
    named = document.entities[entity]
    return Markup(
        '<g class="node type-{}" data-entity="{}"><title>{} ({})</title>'
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="5"></rect>'
        '<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text></g>'
    ).format(
        *(type_colour(named.type, types), entity, named.name, named.type),
        *(place[0] - size[0] / 2, place[1] - size[1] / 2, *size),
        *(place[0], place[1] + 4, _short(named.name)),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
