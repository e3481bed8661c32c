"""The formats of documents: one file each, reader and writer side by side, and the table that names them.

A format of your own needs no change here: `register_format` adds it from any script.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from unnoted.data.carried import MARKED_LACK, PREDICTIONS_LACK, ROWS_LACK, DocumentPart
from unnoted.data.contents import FileContent
from unnoted.data.decided import Mending
from unnoted.data.document import Document
from unnoted.data.formats import (
    brat,
    brat_mending,
    docbin,
    docbin_mending,
    docred,
    jsonl,
    label_studio,
    mended_rows,
    parquet,
    plain_text,
    predictions,
    prodigy,
    pubtator,
    relation_rows,
    token_rows,
)
from unnoted.data.formats.json_shapes import PAGE, described
from unnoted.data.formats.reading import Reading
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import TextInput, is_special
from unnoted.utils import register, short_repr


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
        mend: gives the contents of files again, with what people decided about their facts, and without
            touching anything else; None if it cannot.
        recognises_file: for a format that is no text, or several files: whether a path whose file starts with
            these bytes (none, if it is a folder) is in this format. Asked before `recognises`.
        read_file: for such a format, yields the documents of a path.
        main_file: where a document is two files, the one that stands for both.
        select: the content of a file, or of several as one, with the records of certain ids alone, each as it
            stands there; one file of which all are wanted stays as it is.
        lacks: what documents have and this format has no place for.
    """

    key: str
    name: str
    recognises: Callable[[str], bool] | None = None
    read: Callable[[TextIO, Reading], Iterator[Document]] | None = None
    write: Callable[[str | Path, Iterable[Document]], int] | None = None
    suffix: str | None = None
    typed: bool = False
    mend: Callable[[Mending], Sequence[FileContent]] | None = None
    recognises_file: Callable[[Path, bytes], bool] | None = None
    read_file: Callable[[Path, Reading], Iterator[Document]] | None = None
    main_file: Callable[[Path], Path] | None = None
    select: Callable[[Sequence[Path], Container[str]], FileContent] | None = None
    lacks: tuple[DocumentPart, ...] = ()

    @property
    def has_documents(self) -> bool:
        """Whether files of this format hold documents."""
        return self.read is not None or self.read_file is not None


def _is_plain_text(path: Path, start: bytes) -> bool:
    """Whether a path is plain text: a file of that name that is in no other format."""
    if not plain_text.recognises(path, start):
        return False
    text = start.decode("utf-8", "replace").lstrip("\ufeff").lstrip()
    return not any(entry.recognises(text) for entry in FORMATS.values() if entry.recognises and text)


FORMATS = {
    entry.key: entry
    for entry in (
        DocumentFormat(
            "docred",
            "DocRED JSON",
            docred.looks_like,
            docred.read,
            docred.write,
            mend=docred.mend,
            select=docred.select,
        ),
        DocumentFormat(
            "jsonl",
            "unnoted JSONL",
            jsonl.looks_like,
            jsonl.read,
            jsonl.write,
            ".jsonl",
            mend=jsonl.mend,
            select=jsonl.select,
        ),
        DocumentFormat(
            "pubtator",
            "PubTator",
            pubtator.looks_like,
            pubtator.read,
            typed=True,
            mend=mended_rows.mend,
            select=mended_rows.select,
        ),
        DocumentFormat("relation-rows", "relation rows", relation_rows.looks_like),
        DocumentFormat("predictions", "DocRED predictions", write=predictions.write, lacks=PREDICTIONS_LACK),
        DocumentFormat(
            "label-studio",
            "Label Studio JSON",
            label_studio.looks_like,
            label_studio.read,
            label_studio.write,
            mend=label_studio.mend,
            select=label_studio.select,
            lacks=MARKED_LACK,
        ),
        DocumentFormat(
            "prodigy",
            "Prodigy JSONL",
            prodigy.looks_like,
            prodigy.read,
            prodigy.write,
            mend=prodigy.mend,
            select=prodigy.select,
            lacks=MARKED_LACK,
        ),
        DocumentFormat(
            "columns",
            "rows of tokens",
            token_rows.looks_like,
            token_rows.read,
            token_rows.write,
            mend=token_rows.mend,
            select=token_rows.select,
            lacks=ROWS_LACK,
        ),
        DocumentFormat(
            "parquet",
            "rows of tokens in Parquet",
            write=parquet.write,
            suffix=".parquet",
            mend=parquet.mend,
            recognises_file=parquet.recognises,
            read_file=parquet.read,
            select=parquet.select,
            lacks=ROWS_LACK,
        ),
        DocumentFormat(
            "brat",
            "brat standoff",
            write=brat.write,
            mend=brat_mending.mend,
            recognises_file=brat.recognises,
            read_file=brat.read,
            main_file=brat.main_file,
            select=brat_mending.select,
            lacks=MARKED_LACK,
        ),
        DocumentFormat(
            "spacy",
            "spaCy DocBin",
            write=docbin.write,
            suffix=".spacy",
            mend=docbin_mending.mend,
            recognises_file=docbin.recognises,
            read_file=docbin.read,
            select=docbin_mending.select,
            lacks=MARKED_LACK,
        ),
        DocumentFormat(
            "text",
            "plain text",
            recognises_file=_is_plain_text,
            read_file=plain_text.read,
            select=plain_text.select,
        ),
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
        >>> list(FORMATS)[:3]
        ['tagged', 'docred', 'jsonl']
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
        entry = _of_file(source)
        if entry is not None:
            return entry
        start = source.start().lstrip()
        if not start:
            fail(Kind.UNREADABLE, None, None, "an empty file", "documents")
        for entry in FORMATS.values():
            if entry.recognises and entry.recognises(start):
                return entry
        if start.startswith("["):
            expected = f"DocRED JSON, Label Studio JSON or rows of tokens ({PAGE} tells of other tools)"
            fail(Kind.UNREADABLE, None, "start of the file", described(start), expected)
        expected = " or ".join(entry.name for entry in FORMATS.values() if entry.has_documents)
        fail(Kind.UNREADABLE, None, "start of the file", short_repr(start), expected)
    except DataError as error:
        raise log.located(error) from None


def _of_file(source: TextInput) -> DocumentFormat | None:
    """The format of a file that is no text, or of several files; a stream is always text."""
    if is_special(source.path):
        return None
    start = b"" if os.path.isdir(source.path) else source.first_bytes()
    for entry in FORMATS.values():
        if entry.recognises_file and entry.recognises_file(source.path, start):
            return entry
    return None


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
