"""Facts as arcs from head to tail, in an SVG that needs nothing but the style of its page."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization.arc_layout import Arc, ArcLayout, EntityRow
from unnoted.data.visualization.fact_table import DrawableFact, FactTable
from unnoted.data.visualization.mention_spans import entity_types, type_colour
from unnoted.utils import format_count

MOST_ARCS = 40
"""How many facts are drawn as arcs; the list beside them has all."""

LANE_COLOURS = 6
"""How many colours neighbouring arcs take turns in."""

_LONGEST_NAME, _LONGEST_RELATION = 20, 22
_EDGE, _LANE, _RADIUS, _PADDING = 2, 11, 7, 6


class _Columns(NamedTuple):
    """Where names end, where relations end and the lanes begin, and where everything ends."""

    names: int
    lanes: int
    width: int


def render_arcs(
    document: Document,
    facts: Iterable[DrawableFact] | FactTable,
    *,
    names: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
) -> Markup:
    """The facts of a document as arcs beside its entities; nothing if there is no fact.

    Entities stand below one another, in the order in which the text names them. A fact leaves its head with
    the relation's name written on it, and points at its tail. Of more than `MOST_ARCS` facts the first are
    drawn, and a line says so.

    Args:
        document: whose facts they are.
        facts: what is drawn.
        names: readable names of relations; a relation without one is shown by its id.
        types: entity types in the order of their colours; by default the document's own.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> svg = render_arcs(Document("d", (("Ada", "Bo"),), (ada, bo)), [Fact(0, 1, "P26")])
        >>> svg.count('class="arc lane'), "P26" in svg
        (1, True)
    """
    everything = list(FactTable.of(facts).lines())
    if not everything:
        return Markup()
    layout = ArcLayout.of(document, list(islice(everything, MOST_ARCS)))
    names = names or {}
    columns = _columns(document, layout, names)
    colours = entity_types([document]) if types is None else types
    pieces = [_row(document, row, columns, colours) for row in layout.rows]
    pieces += [_arc(document, arc, columns, names) for arc in layout.arcs]
    width, height = columns.width, layout.height + 2 * _EDGE
    return Markup(
        '<figure class="arcs"><div class="scroll" tabindex="0" role="group" aria-label="Facts as arcs">'
        '<svg viewBox="0 {} {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>'
        "</div><figcaption>{}</figcaption></figure>"
    ).format(
        *(-_EDGE, width, height, width, height),
        "Facts as arcs; the same facts are listed in the table",
        Markup("").join(pieces),
        _caption(len(everything)),
    )


def _caption(facts: int) -> str:
    """What is drawn, and what is not."""
    if facts > MOST_ARCS:
        return f"The first {format_count(MOST_ARCS)} of {format_count(facts)} facts, from head to tail."
    return "Each fact from its head to its tail." if facts > 1 else "The fact from its head to its tail."


def _columns(document: Document, layout: ArcLayout, names: Mapping[str, str]) -> _Columns:
    widest_name = max(_width(_name(document, row.entity)) for row in layout.rows)
    relations = (
        _short(names.get(arc.fact.relation, arc.fact.relation), _LONGEST_RELATION) for arc in layout.arcs
    )
    names_end = widest_name + 2 * _PADDING
    lanes = names_end + 2 * _PADDING + max(map(_width, relations)) + 12
    return _Columns(names_end, lanes, lanes + layout.lanes * _LANE + 2 * _EDGE)


def _row(document: Document, row: EntityRow, columns: _Columns, types: Sequence[str]) -> Markup:
    """An entity's name beside a bar that is as high as its lines."""
    entity = document.entities[row.entity]
    middle = (row.top + row.bottom) // 2
    return Markup(
        '<g class="entity type-{}" data-entity="{}"><title>{} ({})</title>'
        '<rect x="0" y="{}" width="{}" height="{}" rx="3"></rect>'
        '<path class="bar" d="M{} {}V{}"></path>'
        '<text x="{}" y="{}" text-anchor="end">{}</text></g>'
    ).format(
        *(type_colour(entity.type, types), row.entity, entity.name, entity.type),
        *(row.top, columns.names, row.bottom - row.top),
        *(columns.names, row.top, row.bottom),
        *(columns.names - _PADDING, middle + 4, _name(document, row.entity)),
    )


def _arc(document: Document, arc: Arc, columns: _Columns, names: Mapping[str, str]) -> Markup:
    """An arc with its arrow, its relation, and a broader one that is not seen but can be pointed at."""
    fact = arc.fact
    left, right = columns.names + 3, columns.lanes + arc.lane * _LANE
    turn = _RADIUS if arc.end > arc.start else -_RADIUS
    path = (
        f"M{left} {arc.start}H{right - _RADIUS}q{_RADIUS} 0 {_RADIUS} {turn}"
        f"V{arc.end - turn}q0 {turn} {-_RADIUS} {turn}H{left + 4}"
    )
    relation = names.get(fact.relation, fact.relation)
    heads, tails = document.entities[fact.head].name, document.entities[fact.tail].name
    return Markup(
        '<g class="arc lane-{}" data-fact="{}" data-head="{}" data-tail="{}" data-sentences="{}">'
        '<title>{} – {} → {}</title><path class="reach" d="{}"></path><path class="line" d="{}"></path>'
        '<path class="arrow" d="M{} {}l8 -4.5v9z"></path><text x="{}" y="{}">{}</text></g>'
    ).format(
        *(arc.lane % LANE_COLOURS, arc.number, fact.head, fact.tail, " ".join(map(str, fact.evidence))),
        *(heads, relation, tails, path, path, left - 1, arc.end),
        *(left + _PADDING, arc.start + 4, _short(relation, _LONGEST_RELATION)),
    )


def _name(document: Document, entity: int) -> str:
    return f"{_short(document.entities[entity].name, _LONGEST_NAME)} {entity}"


def _short(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _width(text: str) -> int:
    """About how many pixels a text takes, rather too many: letters of East Asia are twice as wide."""
    return round(sum(12.5 if unicodedata.east_asian_width(letter) in "WF" else 7 for letter in text))
