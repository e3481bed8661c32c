"""The drawings of the documentation by name, and how they are compared with those on disk."""

import re
from collections.abc import Mapping
from pathlib import Path

from tools.docs.architecture import DRAWING, drawing
from tools.docs.plots import plots

DOCS = Path(__file__).parents[2] / "docs"
"""The folder that holds the documentation."""

BY_HAND = {
    "precision-recall.svg",
    "labelling-levels.svg",
    "reliability.svg",
    "concepts/multiplier-levels.svg",
    "how-to/review.svg",
    "how-to/review-f1.svg",
}
"""Drawn from trained models: `tools/docs/picture.py`, `tools/docs/labelling_levels.py`, `unnoted evaluate
--reliability`, `benchmarks/suggestions.py`, `benchmarks/generated_priors.py`."""

NEAR = 0.05
"""By how much, in points, a coordinate may differ: other CPUs round otherwise."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ID = re.compile(r'(?<=[="(#])[a-z]{1,2}[0-9a-f]{10}(?=[")])')


def drawings() -> dict[str, str]:
    """Every drawing as SVG, by its path below `docs/`."""
    return {DRAWING: drawing(), **plots()}


def same_drawing(one: str, other: str) -> bool:
    """Whether two SVGs show the same: alike in all but the last digits of coordinates.

    Example:
        >>> same_drawing('<path d="M 1.01 2"/>', '<path d="M 1.02 2"/>')
        True
        >>> same_drawing('<path d="M 1 2"/>', '<path d="M 1 3"/>')
        False
    """
    # Ids of clip paths are hashes of their coordinates.
    one, other = (_ID.sub("id", text) for text in (one, other))
    if _NUMBER.split(one) != _NUMBER.split(other):
        return False
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(abs(float(first) - float(second)) <= NEAR for first, second in numbers)


def out_of_date(made: Mapping[str, str]) -> list[str]:
    """The paths of drawings that are missing, differ, or are made by nothing.

    Args:
        made: what the files ought to hold, by their paths below `docs/`.
    """
    there = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.svg")} - BY_HAND
    differing = [
        name for name in made.keys() & there if not same_drawing(made[name], (DOCS / name).read_text("utf-8"))
    ]
    return sorted({*differing, *(made.keys() ^ there)})
