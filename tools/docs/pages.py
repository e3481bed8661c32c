"""The generated files by name, and how they are compared with those on disk."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.docs.commands import command_page
from tools.docs.names import name_list

DOCS = Path(__file__).parents[2] / "docs"
"""The folder that holds the documentation."""

NEAR = 0.05
"""By how much, in points, a coordinate may differ: other processors round otherwise."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ID = re.compile(r'(?<=[="(#])[a-z]{1,2}[0-9a-f]{10}(?=[")])')


def reference_pages() -> dict[str, str]:
    """Every page of the reference by its path below `docs/`."""
    return {"reference/commands.md": command_page(), "reference/names.md": name_list()}


def same_text(one: str, other: str) -> bool:
    """Whether two pages are the same."""
    return one == other


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


def out_of_date(made: Mapping[str, str], pattern: str, same: Callable[[str, str], bool]) -> list[str]:
    """The names of files that are missing, differ, or are made by nothing.

    Args:
        made: what the files ought to hold, by their paths below `docs/`.
        pattern: of all generated files of this kind.
        same: whether two texts count as the same.
    """
    there = {str(path.relative_to(DOCS)) for path in DOCS.glob(pattern)}
    differing = [
        name
        for name, text in made.items()
        if name in there and not same(text, (DOCS / name).read_text("utf-8"))
    ]
    return sorted({*differing, *(made.keys() ^ there)})
