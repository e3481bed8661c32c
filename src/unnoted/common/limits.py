"""How large an input may be: bounds that no real corpus meets, and the variables that raise them.

They are environment variables because they hold for every command, worker process and library call alike,
and are no part of what a run is: whoever has the memory for larger documents gets the same results.
"""

import os
from dataclasses import dataclass, fields

from unnoted.common.errors import Kind, fail, shown
from unnoted.common.lookup import nearest

PREFIX = "UNNOTED_MAX_"
MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest that each part of an input may be.

    Attributes:
        line: characters of a line, in formats of lines.
        document: characters of a document, or of a JSON file that is read as a whole.
        words: words of a document.
        entities: entities of a document; what is scored grows with their square.
        mentions: mentions of a document.
        mention: characters, or words, of one mention.
        facts: facts of a document.
        decompressed: bytes that a gzip file may unpack to.
        ratio: how many times its own size a gzip file may unpack to, once it is past `UNPACKED_FREELY`.
        config: characters of a settings file.
        config_values: values of a settings file, counted again wherever an alias repeats them.
        download: bytes of a file that is fetched, where the catalog does not know its size.
        fetch_seconds: seconds that fetching a data set may take, all attempts together.

    Example:
        >>> Limits(words=10).check("words", 10, "words", "note-1")
        >>> Limits(words=10).check("words", 11, "words")
        Traceback (most recent call last):
        unnoted.common.errors.DataError: : found 11 words, expected at most 10 (UNNOTED_MAX_WORDS)
    """

    line: int = 8 * MEBI
    document: int = 8 * MEBI
    words: int = 1_000_000
    entities: int = 2_000
    mentions: int = 100_000
    mention: int = 1_000
    facts: int = 200_000
    decompressed: int = 64 * 1024 * MEBI
    ratio: int = 100
    config: int = 100_000
    config_values: int = 10_000
    download: int = 4 * 1024 * MEBI
    fetch_seconds: int = 6 * 3600

    @classmethod
    def current(cls) -> "Limits":
        """The limits that hold now: the defaults, and what the environment says otherwise.

        Raises:
            ValueError: names the variable that is no limit.
        """
        names = [field.name for field in fields(cls)]
        known = {variable(name) for name in names}
        for unknown in sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known):
            raise ValueError(f"{shown(unknown)}: found no such limit{nearest(unknown, known)}")
        return cls(
            **{
                name: _value(variable(name), text)
                for name in names
                if (text := os.environ.get(variable(name)))
            }
        )

    def check(
        self, name: str, found: int, things: str, document: str | None = None, place: str | None = None
    ) -> None:
        """Refuse what is beyond a limit; the error names what was found, the limit, and what raises it."""
        most: int = getattr(self, name)
        if found > most:
            fail(Kind.TOO_LARGE, document, place, f"{found:,} {things}", self.allowance(name))

    def allowance(self, name: str) -> str:
        """A limit as an error states it."""
        return f"at most {getattr(self, name):,} ({variable(name)})"


def variable(name: str) -> str:
    """The environment variable of a limit.

    Example:
        >>> variable("words")
        'UNNOTED_MAX_WORDS'
    """
    return PREFIX + name.upper()


def _value(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text)):
        raise ValueError(f"{name}: found {text[:60]!r}, expected a whole number above 0")
    return int(text)
