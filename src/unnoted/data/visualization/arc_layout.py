"""Where everything of an arc diagram stands, in pixels: entities in a column, facts as brackets beside it.

Every end of a fact has a line of its own, so that no two arcs run along the same line, and arcs that overlap
run in different lanes: any of them can be followed from end to end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unnoted.data.document import Document
from unnoted.data.visualization.fact_table import FactLine

LINE, GAP = 19, 9
"""The height of a line, and the distance between entities."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity with the lines of its facts, from `top` to `bottom`."""

    entity: int
    top: int
    bottom: int


class Arc(NamedTuple):
    """A fact from the height of its head to that of its tail, in a lane; lane 0 is the innermost."""

    number: int
    fact: FactLine
    start: int
    end: int
    lane: int


@dataclass(frozen=True, slots=True)
class ArcLayout:
    """All rows and arcs.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> entities = tuple(Entity((Mention(0, i, i + 1, "PER", str(i)),)) for i in range(3))
        >>> document = Document("d", (("0", "1", "2"),), entities)
        >>> layout = ArcLayout.of(document, [FactLine(0, 2, "a"), FactLine(0, 1, "b")])
        >>> [row.entity for row in layout.rows], [arc.lane for arc in layout.arcs], layout.lanes
        ([0, 1, 2], [1, 0], 2)
    """

    rows: tuple[EntityRow, ...]
    arcs: tuple[Arc, ...]
    lanes: int
    height: int

    @classmethod
    def of(cls, document: Document, facts: Sequence[FactLine]) -> "ArcLayout":
        """Entities in the order in which the text names them; short arcs inside, long ones outside."""
        order = _reading_order(document, facts)
        rows, heights = _rows(order, facts)
        lanes = _lanes(heights)
        arcs = (
            Arc(number, fact, *ends, lane)
            for number, (fact, ends, lane) in enumerate(zip(facts, heights, lanes, strict=True), start=1)
        )
        return cls(rows, tuple(arcs), max(lanes, default=-1) + 1, rows[-1].bottom if rows else 0)


def _reading_order(document: Document, facts: Sequence[FactLine]) -> list[int]:
    """The entities that facts name, by their first mention."""
    named = {entity for fact in facts for entity in (fact.head, fact.tail)}
    return sorted(
        named,
        key=lambda index: (min(mention.span for mention in document.entities[index].mentions), index),
    )


class _End(NamedTuple):
    """One end of a fact: how far below its entity the other end's entity stands (above: negative)."""

    distance: int
    fact: int
    is_tail: bool


def _rows(
    order: Sequence[int], facts: Sequence[FactLine]
) -> tuple[tuple[EntityRow, ...], list[tuple[int, int]]]:
    """The entities' rows, and the heights of each fact's head and tail."""
    places = {entity: place for place, entity in enumerate(order)}
    ends: dict[int, list[_End]] = {entity: [] for entity in order}
    for number, fact in enumerate(facts):
        distance = places[fact.tail] - places[fact.head]
        ends[fact.head].append(_End(distance, number, False))
        ends[fact.tail].append(_End(-distance, number, True))
    rows: list[EntityRow] = []
    heights = [[0, 0] for _ in facts]
    top = 0
    for entity in order:
        # Arcs to entities above lie above those to entities below; so nested, the fewest of them cross.
        sorted_ends = sorted(ends[entity], key=lambda end: (end.distance >= 0, -end.distance, end.fact))
        for line, end in enumerate(sorted_ends):
            heights[end.fact][end.is_tail] = top + line * LINE + LINE // 2
        rows.append(EntityRow(entity, top, top + len(sorted_ends) * LINE))
        top = rows[-1].bottom + GAP
    return tuple(rows), [(start, end) for start, end in heights]


def _lanes(heights: Sequence[tuple[int, int]]) -> list[int]:
    """For each arc the innermost lane in which it meets no shorter one."""
    lanes = [0] * len(heights)
    taken: list[list[tuple[int, int]]] = []
    for number in sorted(range(len(heights)), key=lambda each: abs(heights[each][1] - heights[each][0])):
        low, high = sorted(heights[number])
        lane = 0
        while lane < len(taken) and any(low <= end and start <= high for start, end in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        lanes[number] = lane
    return lanes
