"""Facts as rows: a pandas frame, a CSV or a Parquet file, with the same columns everywhere."""

import csv
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from unnoted.inference.facts import Extraction
from unnoted.io import open_binary_output, open_output
from unnoted.utils import require_extra

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

_PLACES = pa.list_(pa.list_(pa.int64()))
FACT_SCHEMA = pa.schema(
    {
        "document": pa.string(),
        "head": pa.int64(),
        "head_name": pa.string(),
        "head_type": pa.string(),
        "head_id": pa.string(),
        "relation": pa.string(),
        "relation_name": pa.string(),
        "tail": pa.int64(),
        "tail_name": pa.string(),
        "tail_type": pa.string(),
        "tail_id": pa.string(),
        "confidence": pa.float64(),
        "probability": pa.float64(),
        "margin": pa.float64(),
        "decided": pa.bool_(),
        "evidence": pa.list_(pa.int64()),
        "sentences": pa.list_(pa.string()),
        "head_offsets": _PLACES,
        "tail_offsets": _PLACES,
        "rule": pa.string(),
    }
)
"""The columns of a row. A value that a fact does not have, such as an uncalibrated probability, is null."""

_FRAME_TYPES = {
    **{"head": "int64", "tail": "int64", "decided": "bool"},
    **dict.fromkeys(("confidence", "probability", "margin"), "float64"),
}

ROWS_AT_ONCE = 10_000
"""How many rows are written together: what a Parquet file calls a row group."""


def fact_rows(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row for each fact of lines of extracted JSONL.

    Example:
        >>> record = {"id": "d1", "facts": [{"head": 0, "tail": 1, "relation": "P26", "confidence": 0.9}]}
        >>> row, = fact_rows([record])
        >>> row["document"], row["relation"], row["confidence"], row["probability"]
        ('d1', 'P26', 0.9, None)
    """
    for record in records:
        for fact in record["facts"]:
            row = {name: fact.get(name) for name in FACT_SCHEMA.names}
            yield row | {"document": record["id"], "decided": fact.get("decided", True)}


def facts_frame(extractions: Iterable[Extraction]) -> "DataFrame":
    """The facts of all extractions as a pandas frame.

    Args:
        extractions: as `Extractor.extract` gives them.

    Raises:
        MissingExtra: pandas is not installed.
    """
    pandas = require_extra("pandas", "frames")
    rows = list(fact_rows(extraction.to_json() for extraction in extractions))
    frame: DataFrame = pandas.DataFrame(rows, columns=FACT_SCHEMA.names)
    return frame.astype(_FRAME_TYPES)  # also of a frame without rows


def write_csv(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write facts as CSV, with a line of titles.

    Sentence numbers are separated by blanks, and so are offsets, each as `start-end`.
    """
    with open_output(path) as stream:
        writer = csv.DictWriter(stream, FACT_SCHEMA.names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(_as_text, fact_rows(records)))


def write_parquet(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write facts as a Parquet file, some thousand rows at a time.

    Raises:
        ValueError: the name ends in `.gz`: what is in such a file is compressed already.
    """
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}: found a Parquet file with .gz, expected .parquet: it is compressed already"
        )
    with open_binary_output(path) as stream, pq.ParquetWriter(stream, FACT_SCHEMA) as writer:
        rows = fact_rows(records)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(some, FACT_SCHEMA))


def _as_text(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose lists are texts."""
    return row | {name: None if row[name] is None else text(row[name]) for name, text in _LISTS.items()}


def _joined(values: Iterable[object]) -> str:
    return " ".join(map(str, values))


def _places(offsets: Iterable[tuple[int, int]]) -> str:
    return _joined(f"{start}-{end}" for start, end in offsets)


_LISTS: dict[str, Callable[[Any], str]] = {
    "evidence": _joined,
    "sentences": _joined,
    "head_offsets": _places,
    "tail_offsets": _places,
}
