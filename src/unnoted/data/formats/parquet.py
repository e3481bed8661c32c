"""Parquet with the fields of unnoted's JSONL as columns, a document a row; needs the extra `frames`.

`pandas.read_json("own.jsonl", lines=True).to_parquet("own.parquet")` makes such a file. It is only read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import DocumentFormat, ReadContext, wrap_reader_errors
from unnoted.utils import require_extra

ROWS = 256
"""Rows that are held at a time: a row group may be larger than the memory."""


def sniff(path: Path, start: bytes) -> bool:
    """Whether a file begins as Parquet does."""
    return start.startswith(b"PAR1")


def read(path: Path, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a file, one at a time."""
    return context.read_each(enumerate(_rows(path)), _document)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    pq = require_extra("pyarrow.parquet", "frames")
    with wrap_reader_errors("a whole Parquet file"), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS):
            yield from batch.to_pylist()


def _document(numbered: tuple[int, dict[str, Any]], context: ReadContext) -> Document:
    number, row = numbered
    fields = {name: value for name, value in row.items() if value is not None}  # null: not given
    return document_from_record(fields, context, f"row {number}")


FORMAT = DocumentFormat("parquet", "Parquet", sniff_path=sniff, read_path=read)
