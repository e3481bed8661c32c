"""The arrows between the boxes of a graph: which way they bend, and where their text has room."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from unnoted.serve.graph_layout import Points

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]

SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)
"""Where along an arrow its text may stand, the best place first."""

STEPS = 12
"""How many points of an arrow are looked at, to see what it runs over."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A curve from `start` to `end`, pulled towards `control`, with the middle of its text."""

    start: Point
    control: Point
    end: Point
    label: Point

    def path(self) -> str:
        """The line, as SVG has it."""
        return "M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}".format(*self.start, *self.control, *self.end)

    def tip(self) -> str:
        """The tip at its end."""
        angle = math.atan2(self.end[1] - self.control[1], self.end[0] - self.control[0])
        wings = [
            (self.end[0] - 10 * math.cos(angle + turn), self.end[1] - 10 * math.sin(angle + turn))
            for turn in (0.42, -0.42)
        ]
        return "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z".format(*self.end, *wings[0], *wings[1])


class ArrowRoom:
    """Draws arrows around the boxes that they do not belong to, and texts beside one another.

    Args:
        places: the middles of the boxes [N, 2].
        sizes: their widths and heights.
    """

    def __init__(self, places: Points, sizes: Sequence[Size]) -> None:
        self.places: list[Point] = [(float(x), float(y)) for x, y in places]
        self.sizes = list(sizes)
        self.texts: list[tuple[Point, Size]] = []
        self.bows: list[Point] = []

    def arrow(self, head: int, tail: int, text: Size, both_ways: bool) -> Arrow:
        """The arrow from a box to another, bent as little as need be.

        Args:
            head: the number of the box.
            tail: of the other.
            text: how large its text is.
            both_ways: whether there is another one back; then each bends to its own side.
        """
        least = 10 + text[1] / 2 if both_ways else 0.0
        bends = (least, *(least + more for more in (30, 60)), *(-30.0, -60.0) * (not both_ways))
        bend = min(bends, key=lambda each: (self._crossed(head, tail, each), abs(each)))
        curve = self._curve(head, tail, bend)
        label = min((_at(curve, share) for share in SHARES), key=lambda place: self._covered(place, text))
        self.texts.append((label, text))
        self.bows.append(_at(curve, 0.5))
        return Arrow(*curve, label)

    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of all boxes, and of the arrows and texts so far."""
        boxes = [
            *zip(self.places, self.sizes, strict=True),
            *self.texts,
            *((bow, (4.0, 4.0)) for bow in self.bows),
        ]
        low = [min(place[axis] - size[axis] / 2 for place, size in boxes) for axis in (0, 1)]
        high = [max(place[axis] + size[axis] / 2 for place, size in boxes) for axis in (0, 1)]
        return low[0], low[1], high[0], high[1]

    def _curve(self, head: int, tail: int, bend: float) -> tuple[Point, Point, Point]:
        one, other = self.places[head], self.places[tail]
        length = math.dist(one, other) or 1.0
        middle = ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)
        across = ((other[1] - one[1]) / length, (one[0] - other[0]) / length)
        control = (middle[0] + 2 * bend * across[0], middle[1] + 2 * bend * across[1])
        return _border(one, self.sizes[head], control), control, _border(other, self.sizes[tail], control)

    def _crossed(self, head: int, tail: int, bend: float) -> int:
        """How many boxes an arrow would run over that are not its own."""
        curve = self._curve(head, tail, bend)
        points = [_at(curve, step / STEPS) for step in range(1, STEPS)]
        others = (number for number in range(len(self.places)) if number not in (head, tail))
        return sum(
            any(_overlap(point, (6, 6), self.places[number], self.sizes[number]) for point in points)
            for number in others
        )

    def _covered(self, place: Point, size: Size) -> float:
        """How much of a text would lie over boxes and over other texts."""
        boxes = [*zip(self.places, self.sizes, strict=True), *self.texts]
        return sum(_overlap(place, size, other, large) for other, large in boxes)


def _at(curve: tuple[Point, Point, Point], share: float) -> Point:
    """A point of a curve."""
    weights = ((1 - share) ** 2, 2 * share * (1 - share), share**2)
    return (
        sum(weight * point[0] for weight, point in zip(weights, curve, strict=True)),
        sum(weight * point[1] for weight, point in zip(weights, curve, strict=True)),
    )


def _overlap(one: Point, size: Size, other: Point, large: Size) -> float:
    """The area that two boxes share.

    Example:
        >>> _overlap((0, 0), (4, 4), (3, 0), (4, 4)), _overlap((0, 0), (4, 4), (9, 0), (4, 4))
        (4.0, 0.0)
    """
    wide, high = ((size[axis] + large[axis]) / 2 - abs(one[axis] - other[axis]) for axis in (0, 1))
    return wide * high if wide > 0 and high > 0 else 0.0


def _border(place: Point, size: Size, towards: Point) -> Point:
    """Where the line from a box's middle towards a point leaves the box, and a little further."""
    x, y = towards[0] - place[0], towards[1] - place[1]
    scale = min(
        (size[0] / 2 + 3) / abs(x) if x else math.inf,
        (size[1] / 2 + 3) / abs(y) if y else math.inf,
        1.0,  # of boxes that touch, the arrow is a point
    )
    return place[0] + x * scale, place[1] + y * scale
