"""The facts of a document as a graph: entities are boxes, facts are arrows from head to tail; an SVG."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice

from markupsafe import Markup

from unnoted.documents.rendering import FactLine, FactTable
from unnoted.documents.rendering.mention_spans import type_colour
from unnoted.documents.schema import Document
from unnoted.serve.graph_layout import Points, layout

MOST_FACTS = 40
"""How many facts are drawn; the list beside them has all."""

WIDTH, HEIGHT, EDGE = 860.0, 26.0, 8.0
_LONGEST, _LETTER, _LINE = 24, 7.2, 14

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
        >>> from unnoted.documents.schema import Entity, Fact, Mention
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
    places = layout(sizes, links, WIDTH)
    pairs: dict[tuple[int, int], Numbered] = {}
    for number, fact in shown:
        pairs.setdefault((fact.head, fact.tail), []).append((number, fact))
    edges = []
    for (head, tail), some in pairs.items():
        # Of facts back and forth, each bends to its own side, by as much as its text needs.
        bend = 12 + 8 * len(some) if (tail, head) in pairs else 0
        ends = _Ends.of(places, sizes, position[head], position[tail], bend)
        edges.append(_edges(some, ends, names or {}))
    boxes = [_node(document, entity, places[n], sizes[n], types) for n, entity in enumerate(nodes)]
    height = math.ceil(places[:, 1].max() + HEIGHT / 2 + 2 * EDGE)
    return Markup(
        '<figure class="graph"><div class="scroll" tabindex="0" role="group" aria-label="Facts as a graph">'
        '<svg viewBox="{} {} {} {}" width="{}" height="{}" role="img" aria-label="{}">{}{}</svg></div>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        *(-EDGE, -EDGE, WIDTH + 2 * EDGE, height, WIDTH + 2 * EDGE, height),
        "Facts as a graph; the same facts are listed in the table",
        *(Markup("").join(edges), Markup("").join(boxes), _caption(len(lines))),
    )


def _caption(facts: int) -> str:
    if facts > MOST_FACTS:
        return f"The first {MOST_FACTS} of {facts:,} facts, each an arrow from head to tail."
    return "Each fact is an arrow from its head to its tail."


class _Ends:
    """An arrow from box to box: where it begins, where it ends, and how it bends."""

    def __init__(self, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
        self.start = start
        self.end = end
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        length = math.dist(start, end) or 1.0
        across = ((end[1] - start[1]) / length * bend, -(end[0] - start[0]) / length * bend)
        self.control = (middle[0] + 2 * across[0], middle[1] + 2 * across[1])
        self.label = (middle[0] + across[0], middle[1] + across[1])

    @classmethod
    def of(
        cls, places: Points, sizes: Sequence[tuple[float, float]], head: int, tail: int, bend: float
    ) -> "_Ends":
        """Between two boxes."""
        points = [(float(x), float(y)) for x, y in places]
        return cls(
            _border(points[head], sizes[head], points[tail]),
            _border(points[tail], sizes[tail], points[head]),
            bend,
        )

    def path(self) -> str:
        """The line, as SVG has it."""
        return "M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}".format(*self.start, *self.control, *self.end)

    def arrow(self) -> str:
        """The tip at its end."""
        angle = math.atan2(self.end[1] - self.control[1], self.end[0] - self.control[0])
        wings = [
            (self.end[0] - 10 * math.cos(angle + turn), self.end[1] - 10 * math.sin(angle + turn))
            for turn in (0.42, -0.42)
        ]
        return "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z".format(*self.end, *wings[0], *wings[1])


def _border(
    place: tuple[float, float], size: tuple[float, float], towards: tuple[float, float]
) -> tuple[float, float]:
    """Where the line from a box's middle towards a point leaves the box, and a little further."""
    x, y = towards[0] - place[0], towards[1] - place[1]
    scale = min(
        (size[0] / 2 + 3) / abs(x) if x else math.inf,
        (size[1] / 2 + 3) / abs(y) if y else math.inf,
        0.5,  # of boxes that touch, the arrow is a point
    )
    return place[0] + x * scale, place[1] + y * scale


def _edges(facts: Numbered, ends: _Ends, names: Mapping[str, str]) -> Markup:
    """All facts of a pair: one arrow, and a line of text for each."""
    top = ends.label[1] + 4 - (len(facts) - 1) * _LINE / 2
    return Markup("").join(
        Markup(
            '<g class="edge" data-fact="{}" data-head="{}" data-tail="{}" data-sentences="{}">'
            '<path class="line" d="{}"></path><path class="arrow" d="{}"></path>'
            '<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text></g>'
        ).format(
            *(number, fact.head, fact.tail, " ".join(map(str, fact.evidence)), ends.path(), ends.arrow()),
            *(ends.label[0], top + line * _LINE, _short(names.get(fact.relation, fact.relation))),
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
