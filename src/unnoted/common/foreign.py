"""Files from elsewhere, read by other libraries: whatever is wrong with them is one error of ours."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unnoted.common.errors import shortened


@contextmanager
def foreign(place: object, found: str, expected: str, error: type[ValueError]) -> Iterator[None]:
    """Turn everything that a library raises over a file into one error, which names the file.

    Libraries raise what comes to hand over a damaged file (`tokenizers` a bare `Exception`), so everything is
    taken. Keep to the other library's call what stands within: a mistake of ours would be blamed on the file.

    Args:
        place: the file or folder.
        found: what a failure means; the library's own words follow in brackets.
        expected: what should have been there.
        error: what is raised; errors of this type pass, and name the file if they did not.

    Example:
        >>> with foreign("config.json", "no readable JSON", "that of a model", ValueError):
        ...     {}["hidden_size"]
        Traceback (most recent call last):
        ValueError: config.json: found no readable JSON (KeyError: 'hidden_size'), expected that of a model
    """
    try:
        yield
    except error as own:
        if str(own).startswith(str(place)):
            raise
        raise error(f"{place}: {own}") from own
    except Exception as other:
        raise error(f"{place}: found {found} ({reason(other)}), expected {expected}") from other


def reason(error: BaseException) -> str:
    """What went wrong, in one line that is not too long.

    Example:
        >>> reason(KeyError("size")), reason(MemoryError())
        ("KeyError: 'size'", 'MemoryError')
    """
    text = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
    if "trust_remote_code" in text:
        return "it has code of its own, which is never run"
    plain = type(error) is ValueError or isinstance(error, OSError | json.JSONDecodeError | UnicodeError)
    named = text if plain and text else f"{type(error).__name__}{': ' if text else ''}{text}"
    return shortened(named)


def one_line(error: BaseException) -> str:
    """An error's message without its line breaks."""
    return " ".join(str(error).split())


def read_json(path: Path, error: type[ValueError]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The content of a JSON file.

    Raises:
        ValueError: of the given type, if it cannot be read or is not JSON; names the file.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, MemoryError) as found:
        raise error(f"{path}: found no readable JSON ({reason(found)}), expected what was saved") from found
