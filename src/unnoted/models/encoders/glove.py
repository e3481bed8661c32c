"""Word vectors in GloVe's own text format: on each line a word and its values, with single spaces between.

There is no header; the first line says how many values there are. Some public files have words with spaces in
them, so lines are split from the right.
"""

from collections.abc import Container
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unnoted.errors import DataError
from unnoted.io import numbered_lines, open_text
from unnoted.models.encoders.pretrained import EncoderError
from unnoted.utils import short_repr


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Words and their vectors, in the order of the file.

    Attributes:
        rows: for each word, its row of `values`.
        values: float32 [words, size].
        lines: how many lines the file has, those of words that were not wanted included.
        repeated: how many lines name a word again that was kept before; the first one counts.
    """

    rows: dict[str, int]
    values: NDArray[np.float32]
    lines: int
    repeated: int

    @property
    def size(self) -> int:
        """How many values a word has."""
        return int(self.values.shape[1])


def read_glove(path: Path, words: Container[str] | None = None) -> WordVectors:
    r"""Read a GloVe file, plain or gzip, line by line.

    Args:
        path: the file.
        words: keep only these, exactly as they are spelt; all by default. Of the lines of other words only
            the number of values is checked.

    Raises:
        EncoderError: if the file cannot be read, or a line is not of the format; names the line.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "vectors.txt"
        ...     _ = path.write_text("the 0.5 -1\n. . . 2 3\nof 1 0\n")
        ...     vectors = read_glove(path, {"of", ". . .", "unseen"})
        >>> vectors.rows, vectors.values.tolist(), vectors.lines
        ({'. . .': 0, 'of': 1}, [[2.0, 3.0], [1.0, 0.0]], 3)
    """
    rows: dict[str, int] = {}
    values: list[NDArray[np.float32]] = []
    size = number = repeated = 0
    try:
        with open_text(path) as stream:
            for number, line in numbered_lines(stream):
                place = f"{path}, line {number}"
                size = size or line.rstrip().count(" ")
                word, fields = _split(line.rstrip(), size, place)
                if words is not None and word not in words:
                    continue
                if word in rows:
                    repeated += 1
                    continue
                rows[word] = len(values)
                values.append(_parsed(word, fields, place))
    except DataError as error:
        raise EncoderError(f"{path}: {error.defect.within_file}") from None
    if not number:
        raise EncoderError(f"{path}: found an empty file, expected a word and its values on each line")
    kept = np.stack(values) if values else np.zeros((0, size), np.float32)
    return WordVectors(rows, kept, number, repeated)


def _split(line: str, size: int, place: str) -> tuple[str, list[str]]:
    """A line's word and its values, which are not looked at."""
    word, *fields = line.rsplit(" ", size)
    if not word or not size or len(fields) < size:
        raise EncoderError(f"{place}: found {short_repr(line)}, expected a word and {size or 'its'} values")
    # A word with spaces is one thing, too many values are another.
    if " " in word and _is_number(word.rpartition(" ")[2]):
        found = line.count(" ")
        raise EncoderError(f"{place}: found {found} values, expected {size} as on the lines before")
    return word, fields


def _parsed(word: str, fields: list[str], place: str) -> NDArray[np.float32]:
    for field in fields:
        if not _is_number(field):
            raise EncoderError(
                f"{place}: found {short_repr(field)} after the word {short_repr(word)}, expected a number"
            )
    return np.array(fields, dtype=np.float32)


def _is_number(field: str) -> bool:
    """Whether it is a number as everybody writes it: Python also takes digits of every script, and `1_0`."""
    try:
        return field.isascii() and "_" not in field and isfinite(float(field))
    except ValueError:
        return False
