"""Rows of tokens in a Parquet file, with the columns that `token_rows` describes."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.decided import Mending
from unnoted.data.document import Document
from unnoted.data.formats import token_rows
from unnoted.data.formats.binary_content import readable
from unnoted.data.formats.reading import Reading
from unnoted.errors import Kind, fail
from unnoted.io import refuse_stream, write_binary
from unnoted.utils import short_repr

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

MAGIC = b"PAR1"
WHOLE = "a whole Parquet file"
ROWS = 256
"""How many rows are held at a time."""


def recognises(path: Path, start: bytes) -> bool:
    """Whether a file is a Parquet file."""
    return start.startswith(MAGIC)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a Parquet file, one at a time."""
    return reading.each(rows(path), _document)


def _document(numbered: tuple[int, dict[str, Any]], reading: Reading) -> Document:
    return token_rows.document_from_row(numbered[1], numbered[0], reading)


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file with their numbers; numbers of classes are replaced by their names."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    refuse_stream(path)
    with readable(WHOLE):
        file = pq.ParquetFile(path)
        names = _class_names(file.schema_arrow.metadata)
        batches = file.iter_batches(ROWS)
    number = 0
    while True:
        with readable(WHOLE):
            batch = next(batches, None)
            found = [] if batch is None else batch.to_pylist()
        if batch is None:
            return
        for row in found:
            number += 1
            yield number, {key: _named(value, names.get(key)) for key, value in row.items()}


def _named(value: Any, names: Sequence[str] | None) -> Any:  # noqa: ANN401 - whatever a column holds
    """Numbers of classes as their names, however deep they are in lists."""
    if names is None:
        return value
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one row per document; returns how many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = 0
    buffer = BytesIO()
    records = map(token_rows.record, documents)
    with pq.ParquetWriter(buffer, _schema()) as writer:
        while part := list(islice(records, ROWS)):
            writer.write_table(pa.Table.from_pylist(part, _schema()))
            count += len(part)
    write_binary(path, buffer.getvalue())
    return count


def _schema() -> "pa.Schema":
    import pyarrow as pa

    whole, text = pa.int64(), pa.string()
    mention = pa.struct({"start": whole, "end": whole, "type": text, "id": text})
    relation = pa.struct({"head": whole, "tail": whole, "type": text})
    return pa.schema(
        {
            "id": text,
            "tokens": pa.list_(pa.list_(text)),
            "entities": pa.list_(mention),
            "relations": pa.list_(relation),
            "clusters": pa.list_(pa.list_(whole)),
            "negatives": pa.list_(relation),
        }
    )


def select(paths: Sequence[Path], ids: Container[str]) -> bytes:
    """The rows of certain documents, as they are; one file of which all are wanted stays as it is."""
    import pyarrow as pa

    parts = []
    for path in paths:
        table = _table(path)
        wanted = [token_rows.title_of(row, number + 1) in ids for number, row in enumerate(_ids(table))]
        if len(paths) == 1 and all(wanted):
            return path.read_bytes()
        parts.append(table.filter(wanted))
    names = [_class_names(part.schema.metadata) for part in parts]
    if any(other != names[0] for other in names):
        fail(Kind.MALFORMED, None, "schema", "files that number their classes differently", "one numbering")
    try:
        return _packed(pa.concat_tables(parts, promote_options="default"))
    except pa.ArrowInvalid as error:
        fail(Kind.MALFORMED, None, "schema", short_repr(str(error)), "columns of the same types in all files")


def mend(mending: Mending) -> list[bytes]:
    """The rows with relations added and taken away, and every other column as it is."""
    return [_mended(path, mending) for path in mending.sources]


def _mended(path: Path, mending: Mending) -> bytes:
    import pyarrow as pa

    table = _table(path)
    old = [row for _, row in rows(path)]
    new = [token_rows.mended_row(row, number, mending) or row for number, row in enumerate(old, start=1)]
    if new == old:
        return path.read_bytes()
    for column in ("relations", "negatives"):
        listed = [row.get(column) for row in new]
        place = table.schema.get_field_index(column)
        if place >= 0:
            kind = table.schema.field(place)
            table = table.set_column(place, kind, pa.array(listed, kind.type))
        elif any(listed):
            table = table.append_column(column, pa.array(listed, _schema().field(column).type))
    return _packed(table)


def _table(path: Path) -> "pa.Table":
    import pyarrow.parquet as pq

    refuse_stream(path)
    with readable(WHOLE):
        return pq.read_table(path)


def _ids(table: "pa.Table") -> list[dict[str, Any]]:
    """The rows with their ids alone."""
    return table.select([name for name in token_rows.IDS if name in table.column_names]).to_pylist() or [
        {} for _ in range(table.num_rows)
    ]


def _packed(table: "pa.Table") -> bytes:
    import pyarrow.parquet as pq

    buffer = BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """The names of the classes of each column, as `datasets` keeps them in the schema of a Parquet file."""
    try:
        info = json.loads((metadata or {}).get(b"huggingface", b"{}"))
        features = info["info"]["features"]
        return {key: names for key, value in features.items() if (names := _names(value))}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _names(feature: object) -> list[str] | None:
    while isinstance(feature, dict) and "feature" in feature:
        feature = feature["feature"]
    if isinstance(feature, list) and feature:
        feature = feature[0]
    names = feature.get("names") if isinstance(feature, dict) else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None
