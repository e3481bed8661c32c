"""The formats of documents: one file each, reader and writer side by side, and the table that names them.

A format of your own needs no change here: `register_format` adds it from any script.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from unnoted.common.errors import DataError, DefectLog, Kind, fail, shown
from unnoted.common.lookup import register
from unnoted.common.text_inputs import TextInput
from unnoted.documents.decided import Mending
from unnoted.documents.formats import docred, jsonl, mended_rows, predictions, pubtator, relation_rows
from unnoted.documents.formats.reading import Reading
from unnoted.documents.schema import Document


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """How a format is recognised, read and written.

    Attributes:
        key: its name in commands, such as `docred`.
        name: its name in messages, such as "DocRED JSON".
        recognises: whether a file that starts like this (leading blanks removed) is in this format; None if
            it is only written.
        read: yields the documents of a file; None where files of this format hold no documents.
        write: writes documents to a file and returns the number of records; None if it is only read.
        suffix: file names that end so are written in this format unless another one is asked for.
        typed: its relations only hold between certain entity types, so that by default the candidate pairs
            are the type pairs seen among the facts.
        mend: gives the texts of files again, with what people decided about their facts, and without touching
            anything else; None if it cannot.
    """

    key: str
    name: str
    recognises: Callable[[str], bool] | None = None
    read: Callable[[TextIO, Reading], Iterator[Document]] | None = None
    write: Callable[[str | Path, Iterable[Document]], int] | None = None
    suffix: str | None = None
    typed: bool = False
    mend: Callable[[Mending], Sequence[str]] | None = None


FORMATS = {
    entry.key: entry
    for entry in (
        DocumentFormat(
            "docred",
            "DocRED JSON",
            lambda start: start.startswith("["),
            docred.read,
            docred.write,
            mend=docred.mend,
        ),
        DocumentFormat(
            "jsonl",
            "unnoted JSONL",
            lambda start: start.startswith("{"),
            jsonl.read,
            jsonl.write,
            ".jsonl",
            mend=jsonl.mend,
        ),
        DocumentFormat(
            "pubtator", "PubTator", pubtator.looks_like, pubtator.read, typed=True, mend=mended_rows.mend
        ),
        DocumentFormat("relation-rows", "relation rows", relation_rows.looks_like),
        DocumentFormat("predictions", "DocRED predictions", write=predictions.write),
    )
}
"""Every format by its key. To add one: a file in this folder and a row here."""


def register_format(entry: DocumentFormat) -> None:
    """Add a format of your own, which is then read and written like every other format.

    It is asked before the formats that are there whether it recognises a file.

    Raises:
        ValueError: if there is a format of that key.

    Example:
        >>> def read(stream, reading):
        ...     for line in stream:
        ...         yield Document(line.split()[1], (tuple(line.split()[2:]),), ())
        >>> register_format(DocumentFormat("tagged", "tagged lines", lambda start: start[0] == "#", read))
        >>> list(FORMATS)
        ['tagged', 'docred', 'jsonl', 'pubtator', 'relation-rows', 'predictions']
        >>> _ = FORMATS.pop("tagged")
    """
    before = dict(FORMATS)
    register("format", entry.key, entry, FORMATS)
    FORMATS.clear()
    FORMATS.update({entry.key: entry, **before})


def recognise(source: str | Path | TextInput) -> DocumentFormat:
    """The format of an input, by what it starts with.

    Raises:
        DataError: it is empty, unreadable, or in no known format.
    """
    source = TextInput.of(source)
    log = DefectLog(source.name)
    try:
        start = source.start().lstrip()
        if not start:
            fail(Kind.UNREADABLE, None, None, "an empty file", "documents")
        known = [entry for entry in FORMATS.values() if entry.recognises]
        for entry in known:
            if entry.recognises and entry.recognises(start):
                return entry
        expected = " or ".join(entry.name for entry in known)
        fail(Kind.UNREADABLE, None, "start of the file", shown(start), expected)
    except DataError as error:
        raise log.located(error) from None


def format_of(source: str | Path | TextInput) -> DocumentFormat | None:
    """The format of an input, or None if it is unknown; whoever reads it says why."""
    try:
        return recognise(source)
    except DataError:
        return None


def format_name(source: str | Path | TextInput) -> str:
    """The name of an input's format, or "unknown"."""
    entry = format_of(source)
    return entry.name if entry else "unknown"
