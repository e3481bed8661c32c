"""The formats of documents: one file each, reader, writer and `FORMAT` side by side, and the registry of them.

A format of your own needs no change here: `register_format` adds it from any script.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.formats import (
    brat,
    docbin,
    docred,
    jsonl,
    label_studio,
    parquet,
    plain_text,
    predictions,
    prodigy,
    pubtator,
    token_rows,
)
from unnoted.data.formats.records import TOOLS_PAGE, DocumentFormat, describe_json
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import TextInput, is_stream
from unnoted.utils import lookup, register, short_repr


def _sniff_plain_text(path: Path, start: bytes) -> bool:
    """Whether a path is plain text: named so, and in no other format."""
    if not plain_text.sniff(path, start):
        return False
    text = start.decode("utf-8", "replace").lstrip("\ufeff").lstrip()
    return not any(each.sniff(text) for each in FORMATS.values() if each.sniff and text)


_SHIPPED = (
    docred.FORMAT,
    jsonl.FORMAT,
    pubtator.FORMAT,
    pubtator.ROWS_FORMAT,
    label_studio.FORMAT,
    prodigy.FORMAT,
    token_rows.FORMAT,
    brat.FORMAT,
    docbin.FORMAT,
    parquet.FORMAT,
    DocumentFormat("text", "plain text", sniff_path=_sniff_plain_text, read_path=plain_text.read),
)
FORMATS = {each.key: each for each in _SHIPPED}
"""Every format by its key. To add one: a file in this folder with its `FORMAT`, and an entry of `_SHIPPED`."""


def register_format(format: DocumentFormat) -> None:
    """Add a format of your own, which is then read and written like every other format.

    It is asked before the formats that are there whether it knows a file.

    Raises:
        ValueError: if there is a format of that key.

    Example:
        >>> def read(stream, context):
        ...     for line in stream:
        ...         yield Document(line.split()[1], (tuple(line.split()[2:]),), ())
        >>> register_format(DocumentFormat("tagged", "tagged lines", lambda start: start[0] == "#", read))
        >>> list(FORMATS)[:3]
        ['tagged', 'docred', 'jsonl']
        >>> _ = FORMATS.pop("tagged")
    """
    before = dict(FORMATS)
    register("format", format.key, format, FORMATS)
    FORMATS.clear()
    FORMATS.update({format.key: format, **before})


def detect_format(source: str | Path | TextInput) -> DocumentFormat:
    """The format of an input, by what it starts with.

    Raises:
        DataError: it is empty, unreadable, or in no known format.
    """
    source = TextInput.from_path(source)
    try:
        if not is_stream(source.path):  # a stream is always text
            first = b"" if os.path.isdir(source.path) else source.first_bytes()
            for each in FORMATS.values():
                if each.sniff_path and each.sniff_path(source.path, first):
                    return each
        start = source.start().lstrip()
        if not start:
            raise DataError("an empty file", "documents", kind=DefectKind.UNREADABLE)
        if predictions.sniff(start):
            expected = "documents (`unnoted evaluate --predictions` takes predictions)"
            raise DataError("these are predictions", expected, kind=DefectKind.UNREADABLE)
        for each in FORMATS.values():
            if each.sniff and each.sniff(start):
                return each
        if start.startswith("["):
            expected = f"DocRED JSON, Label Studio JSON or rows of tokens ({TOOLS_PAGE} covers other tools)"
            raise DataError(
                describe_json(start), expected, place="start of the file", kind=DefectKind.UNREADABLE
            )
        expected = " or ".join(each.name for each in FORMATS.values() if each.has_documents)
        raise DataError(short_repr(start), expected, place="start of the file", kind=DefectKind.UNREADABLE)
    except DataError as error:
        raise DefectLog(source.name).located(error) from None


def find_format(source: str | Path | TextInput) -> DocumentFormat | None:
    """The format of an input, or None if it is unknown; whoever reads it says why."""
    try:
        return detect_format(source)
    except DataError:
        return None


DEFAULT = "docred"


def choose_format(path: str | Path, format: str | None = None) -> str:
    """The key of the format in which a file of some name is written.

    Raises:
        ValueError: the format is unknown or only read, the name's ending says nothing, or a format that is
            compressed in itself would get a name that ends in `.gz`.

    Example:
        >>> choose_format("a.jsonl.gz"), choose_format("a.json"), choose_format("a.csv", "prodigy")
        ('jsonl', 'docred', 'prodigy')
        >>> choose_format("a.csv")
        Traceback (most recent call last):
        ValueError: a.csv: no format has the ending '.csv': give --format, or end the name in .json, .jsonl, ...
    """
    name = Path(path).name
    plain = name.removesuffix(".gz")
    if format is None:
        found = (key for key, each in FORMATS.items() if each.suffix and plain.endswith(each.suffix))
        format = next(found, None)
        if format is None and Path(plain).suffix not in ("", ".json"):
            endings = ", ".join([".json", *(each.suffix for each in FORMATS.values() if each.suffix)])
            raise ValueError(
                f"{path}: no format has the ending {Path(plain).suffix!r}: give --format, or end the name in {endings}"
            )
    key = format or DEFAULT
    chosen = lookup("format", key, {key: each for key, each in FORMATS.items() if each.write})
    if name.endswith(".gz") and chosen.sniff is None and chosen.read_path is not None:
        raise ValueError(f"{path}: {chosen.name} is not compressed by gzip: leave .gz off the name")
    return key


def write_documents(path: str | Path, documents: Iterable[Document], format: str | None = None) -> int:
    """Write documents to a file that appears only when it is complete, or to a stream.

    Returns:
        How many records were written.
    """
    write = FORMATS[choose_format(path, format)].write
    assert write is not None  # `choose_format` gives those that are written
    return write(path, documents)
