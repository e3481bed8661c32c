"""Settings of a risk as plain data, checked when they are read back."""

from collections.abc import Collection


def check_keys(what: str, found: Collection[str], expected: Collection[str]) -> None:
    """Refuse settings with a key too few or too many.

    Example:
        >>> check_keys("surrogate", ["name", "magrin"], ["name", "margin"])
        Traceback (most recent call last):
        ValueError: settings of the surrogate: found the keys magrin, name, expected margin, name
    """
    if set(found) != set(expected):
        keys = [", ".join(sorted(names)) or "no key" for names in (found, expected)]
        raise ValueError(f"settings of the {what}: found the keys {keys[0]}, expected {keys[1]}")
