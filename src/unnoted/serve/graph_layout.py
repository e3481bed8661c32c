"""Where the nodes of a graph stand: linked ones near one another, all of them apart."""

import math
from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ROUNDS, PASSES = 200, 60
"""How often nodes move by their forces, and at most how often they are pushed apart afterwards."""

Points: TypeAlias = NDArray[np.float64]


def layout(
    sizes: Sequence[tuple[float, float]],
    links: Collection[tuple[int, int]],
    width: float,
    gap: tuple[float, float] = (44, 52),
) -> Points:
    """Places [N, 2] of the middles of boxes, in pixels from the left and from the top.

    Boxes repel one another and links pull; it starts from a circle, so equal graphs give equal drawings.

    Args:
        sizes: the width and height of each box.
        links: pairs of boxes.
        width: how wide the drawing may be.
        gap: pixels between two boxes, beside and above.

    Example:
        >>> layout([(60, 20)] * 2, [(0, 1)], 400).shape
        (2, 2)
    """
    count = len(sizes)
    boxes = np.array(sizes, dtype=np.float64).reshape(count, 2)
    angles = np.linspace(-math.pi / 2, 1.5 * math.pi, count, endpoint=False)
    places = _settled(np.stack([np.cos(angles), np.sin(angles)], axis=1), links)
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.array([width - boxes[:, 0].max(), 155 * math.sqrt(count) - 40])
    spread = np.where(high - low > 1e-6, high - low, 1)
    places = (places - low) / spread * room + boxes.max(axis=0) / 2
    places = _apart(places, boxes + gap, width)
    places[:, 1] -= (places[:, 1] - boxes[:, 1] / 2).min()
    return places


def _settled(places: Points, links: Collection[tuple[int, int]]) -> Points:
    """Move nodes by their forces, less and less."""
    count = len(places)
    linked = np.zeros((count, count))
    for one, other in links:
        linked[one, other] = linked[other, one] = 1
    ideal = 1.6 / math.sqrt(max(count, 1))
    for step in np.linspace(0.2, 0.005, ROUNDS):
        between = places[:, None] - places[None]  # [N, N, 2]
        distance = np.maximum(np.linalg.norm(between, axis=-1), 1e-3)  # [N, N]
        force = ideal**2 / distance**2 - linked * distance / ideal  # along `between`, which is as long as it
        np.fill_diagonal(force, 0)
        move = (between * force[..., None]).sum(axis=1) - places * 0.4  # and all a little to the middle
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places = places + move / length * np.minimum(length, step)
    return places


def _apart(places: Points, boxes: Points, width: float) -> Points:
    """Push boxes apart that lie over one another, in the direction in which less is needed."""
    places = places.copy()
    for _ in range(PASSES):
        moved = False
        for one in range(len(places)):
            for other in range(one):
                over = (boxes[one] + boxes[other]) / 2 - np.abs(places[one] - places[other])
                if (over > 0.5).all():
                    axis = int(over.argmin())
                    way = over[axis] / 2 * (1 if places[one, axis] >= places[other, axis] else -1)
                    places[one, axis] += way
                    places[other, axis] -= way
                    moved = True
        half = boxes[:, 0] / 2
        places[:, 0] = np.clip(places[:, 0], half, np.maximum(width - half, half))
        if not moved:
            break
    return places
