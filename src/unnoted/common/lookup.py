"""Finding things by name: an unknown name is an error that shows the valid ones and the nearest of them."""

from collections.abc import Iterable, Mapping, MutableMapping
from difflib import get_close_matches
from typing import TypeVar

from unnoted.common.errors import shown

Thing = TypeVar("Thing")

LONGEST_NAME = 200
"""Characters up to which a name may be misspelt: finding the nearest takes the square of its length."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint at the nearest valid name, to be appended to an error; empty where none is near.

    Example:
        >>> nearest("spuse", ["spouse", "child"]), nearest("zzz", ["spouse", "child"])
        (" (nearest: 'spouse')", '')
    """
    if len(name) > LONGEST_NAME:
        return ""
    close = get_close_matches(name, list(valid), n=1, cutoff=0.4)
    return f" (nearest: {close[0]!r})" if close else ""


def lookup(what: str, name: object, table: Mapping[str, Thing]) -> Thing:
    """The entry of a table.

    Example:
        >>> lookup("loss", "srpu", {"sr-pu": 1, "atlop": 2})
        Traceback (most recent call last):
        ValueError: unknown loss 'srpu', expected one of sr-pu, atlop (nearest: 'sr-pu')
    """
    if isinstance(name, str) and name in table:
        return table[name]
    raise ValueError(
        f"unknown {what} {shown(name)}, expected one of {', '.join(table)}{nearest(str(name), table)}"
    )


def register(what: str, name: str, thing: Thing, table: MutableMapping[str, Thing]) -> None:
    """Add an entry to a table under a name that is not taken.

    Example:
        >>> register("loss", "atlop", 3, {"atlop": 2})
        Traceback (most recent call last):
        ValueError: loss 'atlop' is registered already, expected another name
    """
    if name in table:
        raise ValueError(f"{what} {name!r} is registered already, expected another name")
    table[name] = thing
