"""Mentions that begin or end where no word does: mostly offsets that are off by one."""

from unnoted.errors import DefectLog, Kind
from unnoted.utils import short_repr

FIRST_WITHOUT_BLANKS = "\u0e00"
"""From Thai on, many scripts write words without blanks between them."""


def note_cuts(text: str, start: int, end: int, title: str, place: str, log: DefectLog) -> None:
    """Log a span that begins or ends inside a word, or at a blank.

    Letters beyond those of Europe, India and the Near East do not count: words are not always apart there.
    """
    for kind, name, at, edge in (
        (Kind.CUT_START, "start", start, text[start]),
        (Kind.CUT_END, "end", end, text[end - 1]),
    ):
        inside = 0 < at < len(text) and _is_letter(text[at - 1]) and _is_letter(text[at])
        if inside or edge.isspace():
            found = f"{at}, which makes it {short_repr(text[start:end])}"
            expected = f"the edge of a word in {short_repr(text[max(0, start - 15) : end + 15])}"
            log.add(kind, title, f"{place}.{name}", found, expected)


def _is_letter(letter: str) -> bool:
    return letter < FIRST_WITHOUT_BLANKS and letter.isalnum()
