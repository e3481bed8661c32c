"""Between the ids of documents and the names of files, where a format keeps each document in a file."""

from pathlib import Path
from urllib.parse import quote, unquote

from unnoted.errors import Kind, fail
from unnoted.utils import short_repr

LONGEST = 200
"""Bytes of a file's name, without its suffix."""

_PLAIN = "/ !$&'()+,;=@^~"
"""What a name may have beside letters, digits, `_`, `.` and `-`; the rest is written as `%` and digits."""


def file_name(identifier: str) -> str:
    """The name of a document's file, from which `title_of` tells the id.

    Example:
        >>> file_name("train/note 1"), file_name("../a"), file_name("a:b")
        ('train/note 1', '%2E%2E/a', 'a%3Ab')
    """
    try:
        parts = [_escaped(part) for part in identifier.split("/")]
    except UnicodeEncodeError:
        fail(Kind.MALFORMED, identifier, "id", short_repr(identifier), "characters that UTF-8 can hold")
    if any(len(part.encode()) > LONGEST for part in parts):
        fail(Kind.TOO_LARGE, identifier, "id", "an id too long for a file's name", f"at most {LONGEST} bytes")
    return "/".join(parts)


def _escaped(part: str) -> str:
    """A part of a path that means only itself: not hidden, not empty, not another folder."""
    name = "".join(letter if letter.isalnum() else quote(letter, safe=_PLAIN) for letter in part)
    if not name or name != name.strip():
        return "".join(f"%{byte:02X}" for byte in part.encode()) or "%"
    return "%2E" * (len(name) - len(name.lstrip("."))) + name.lstrip(".")


def title_of(file: Path, folder: Path) -> str:
    """The id of the document that a file holds: its path in the folder, without its suffix.

    Example:
        >>> title_of(Path("corpus/train/a%3Ab.txt"), Path("corpus")), title_of(Path("c/100%.txt"), Path("c"))
        ('train/a:b', '100%')
    """
    name = file.relative_to(folder).with_suffix("").as_posix()
    plain = "/".join(
        "" if part == "%" else unquote(part, errors="strict") if _is_escape(part) else part
        for part in name.split("/")
    )
    return plain


def _is_escape(part: str) -> bool:
    """Whether a part is what `file_name` makes of some id."""
    try:
        return _escaped(unquote(part, errors="strict")) == part
    except (UnicodeDecodeError, UnicodeEncodeError):
        return False
