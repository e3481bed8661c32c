"""Predicted facts as files: JSONL, the official prediction file, CSV, Parquet, an HTML page, or text."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.visualization import FactGroup, FactRow, FactTable
from unnoted.inference.facts import DocumentRecord, FactRecord, format_record
from unnoted.inference.graph import write_graphml, write_rdf
from unnoted.io import open_binary_output, open_output, write_lines, write_list
from unnoted.utils import plural, require_extra, strip_control

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

FACT_COLUMNS = ("document", *FactRecord.__annotations__)
"""The columns of a table of facts: the document's id, and the keys of a `FactRecord`; null where it has none."""

ROW_GROUP = 10_000
"""Rows of a Parquet file that are written together."""


@dataclass(frozen=True, slots=True)
class Results:
    """The facts of documents, on their way to a file.

    Attributes:
        records: one for each document, in their order; can be iterated once.
        documents: reads the documents again, in the same order.
        model: the folder or name of the model.
    """

    records: Iterable[DocumentRecord]
    documents: Callable[[], Iterator[Document]]
    model: str


def fact_rows(records: Iterable[DocumentRecord]) -> Iterator[dict[str, Any]]:
    """One row for each fact of lines of extracted JSONL.

    Example:
        >>> fact = {"head": 0, "tail": 1, "relation": "P26", "score": 0.9}
        >>> row, = fact_rows([{"id": "d1", "facts": [fact]}])
        >>> row["document"], row["relation"], row["score"], row["rule"]
        ('d1', 'P26', 0.9, None)
    """
    for record in records:
        for fact in record["facts"]:
            yield {name: fact.get(name) for name in FACT_COLUMNS} | {"document": record["id"]}


def facts_frame(records: Iterable[DocumentRecord]) -> "DataFrame":
    """The facts of documents as a pandas frame.

    Raises:
        MissingExtra: pandas is not installed.
    """
    pandas = require_extra("pandas", "frames")
    frame: DataFrame = pandas.DataFrame(list(fact_rows(records)), columns=FACT_COLUMNS)
    types = {"head": "int64", "tail": "int64", "score": "float64", "calibrated": "bool"}
    return frame.astype(types)  # also of a frame without rows


def write_csv(path: Path, records: Iterable[DocumentRecord]) -> None:
    """Write facts as CSV. Sentence numbers are separated by blanks, and so are offsets, as `start-end`."""
    with open_output(path) as stream:
        writer = csv.DictWriter(stream, FACT_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in fact_rows(records):
            writer.writerow(
                row | {name: _join(row[name]) for name, value in row.items() if isinstance(value, list)}
            )


def _join(values: list[Any]) -> str:
    return " ".join("{}-{}".format(*each) if isinstance(each, list | tuple) else str(each) for each in values)


def write_parquet(path: Path, records: Iterable[DocumentRecord]) -> None:
    """Write facts as a Parquet file.

    Raises:
        ValueError: the name ends in `.gz`: what is in such a file is compressed already; or pyarrow is not
            installed.
    """
    if path.suffix == ".gz":
        raise ValueError(f"{path}: Parquet is compressed already: drop .gz from the name")
    pa, pq = require_extra("pyarrow", "frames"), require_extra("pyarrow.parquet", "frames")
    schema = fact_schema()
    with open_binary_output(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        rows = fact_rows(records)
        while group := list(islice(rows, ROW_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema))


def fact_schema() -> Any:  # noqa: ANN401 - a schema of pyarrow, which is an extra
    """The Arrow types of the columns of a table of facts."""
    pa = require_extra("pyarrow", "frames")
    types = {
        **dict.fromkeys(("head", "tail"), pa.int64()),
        "calibrated": pa.bool_(),
        **dict.fromkeys(("head_offsets", "tail_offsets"), pa.list_(pa.list_(pa.int64()))),
        "score": pa.float64(),
        "evidence": pa.list_(pa.int64()),
        "sentences": pa.list_(pa.string()),
    }
    return pa.schema({name: types.get(name, pa.string()) for name in FACT_COLUMNS})


def write_predictions(path: Path, records: Iterable[DocumentRecord]) -> None:
    """Write facts as an official DocRED prediction file, with scores."""
    rows = (
        {
            "title": record["id"],
            "h_idx": fact["head"],
            "t_idx": fact["tail"],
            "r": fact["relation"],
            "evidence": fact["evidence"],
            "score": fact["score"],
        }
        for record in records
        for fact in record["facts"]
    )
    write_list(path, rows)


def write_html(path: Path, results: Results) -> None:
    """Write a page of the first documents with their facts; all are counted."""
    from unnoted.data.visualization import MOST_DOCUMENTS, DocumentEntry, documents_page

    drawn: list[DocumentEntry] = []
    facts = total = 0
    documents = results.documents()
    for record in results.records:
        total += 1
        facts += len(record["facts"])
        if total <= MOST_DOCUMENTS:
            names = {fact["relation"]: fact["relation_name"] for fact in record["facts"]}
            drawn.append(DocumentEntry(next(documents), fact_table(record), names))
    lines = [
        f"{plural(facts, 'fact')} predicted in {plural(total, 'document')} by the model "
        f"{PurePath(results.model).name}.",
        "Point at a fact, or choose it, to see its head (solid frame), its tail (dashed frame) and "
        "the sentences that support it.",
    ]
    with open_output(path) as stream:
        stream.write(documents_page("Predicted facts", lines, drawn, total))


def write_text_table(path: Path, records: Iterable[DocumentRecord]) -> None:
    """Write facts as a person reads them in a terminal, which nothing in them can control."""
    with open_output(path) as stream:
        for record in records:
            stream.write(strip_control(format_record(record), keep="\n\t") + "\n")
            stream.flush()


def fact_table(record: DocumentRecord) -> FactTable:
    """The facts of a document for `render_document`, by falling score.

    Example:
        >>> fact = {"head": 0, "tail": 1, "relation": "P26", "score": 0.9996, "calibrated": True, "evidence": [0]}
        >>> table = fact_table({"id": "d1", "facts": [fact]})
        >>> table.columns, table.rows[0].cells
        (('Probability',), ('0.999',))
    """
    facts = sorted(record["facts"], key=lambda fact: -fact["score"])
    lines = tuple(
        FactRow(
            fact["head"], fact["tail"], fact["relation"], tuple(fact["evidence"]),
            (format_score(fact["score"]),),
        )
        for fact in facts
    )  # fmt: skip
    return FactTable(
        (FactGroup(lines),), ("Probability" if any(fact["calibrated"] for fact in facts) else "Score",)
    )


def format_score(score: float) -> str:
    """A score with three decimals; only 1 itself is written as 1.

    Example:
        >>> format_score(0.99996), format_score(1.0)
        ('0.999', '1.000')
    """
    return f"{score if score >= 1 else min(score, 0.999):.3f}"


RESULT_WRITERS: dict[str, Callable[[Path, Results], object]] = {
    "predictions": lambda path, results: write_predictions(path, results.records),
    "jsonl": lambda path, results: write_lines(path, results.records),
    "table": lambda path, results: write_text_table(path, results.records),
    "csv": lambda path, results: write_csv(path, results.records),
    "parquet": lambda path, results: write_parquet(path, results.records),
    "html": write_html,
    "graphml": lambda path, results: write_graphml(path, results.records),
    "nt": lambda path, results: write_rdf(path, results.records, "nt"),
    "ttl": lambda path, results: write_rdf(path, results.records, "ttl"),
}
"""Every format that results are written in, by its name on the command line."""


def format_from_name(path: Path) -> str:
    """The format that the name of a file stands for.

    Example:
        >>> [format_from_name(Path(name)) for name in ("facts.csv.gz", "facts.HTML", "result.json")]
        ['csv', 'html', 'predictions']
    """
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    return ending if ending in RESULT_WRITERS else "predictions"
