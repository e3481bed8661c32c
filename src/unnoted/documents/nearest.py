"""The hint that an error about an unknown name ends with."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint at the nearest valid name, to be appended to an error; empty where none is near.

    Example:
        >>> nearest("spuse", ["spouse", "child"]), nearest("zzz", ["spouse", "child"])
        (" (nearest: 'spouse')", '')
    """
    close = get_close_matches(name, list(valid), n=1, cutoff=0.4)
    return f" (nearest: {close[0]!r})" if close else ""
