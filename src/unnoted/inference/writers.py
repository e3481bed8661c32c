"""Predicted facts as files: JSON, JSONL, CSV, Parquet, an HTML page, text, or DocRED's official file."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from unnoted.data.visualization import FactGroup, FactRow, FactTable, render_slider
from unnoted.inference.facts import DocumentRecord, FactRecord, Results, format_record, join_values
from unnoted.inference.graph import write_graphml, write_rdf
from unnoted.inference.scoring import Decision
from unnoted.io import is_stream, open_binary_output, open_output, write_lines, write_list
from unnoted.utils import lookup, plural, require_extra, strip_control

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

FACT_COLUMNS = ("document", *FactRecord.__annotations__)
"""The columns of a table of facts: the document's id, and the keys of a `FactRecord`; null where it has none."""

ROW_GROUP = 10_000
"""Rows of a Parquet file that are written together."""


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


def write_csv(path: Path, results: Results) -> None:
    """Write facts as CSV, with lists as `join_values` writes them."""
    with open_output(path) as stream:
        writer = csv.DictWriter(stream, FACT_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in fact_rows(results.records):
            writer.writerow(
                row | {name: join_values(row[name]) for name, value in row.items() if isinstance(value, list)}
            )


def check_parquet(path: Path) -> None:
    """Refuse a name that ends in `.gz`: what is in a Parquet file is compressed already; and a missing pyarrow."""
    if path.suffix == ".gz":
        raise ValueError(f"{path}: Parquet is compressed already: drop .gz from the name")
    require_extra("pyarrow.parquet", "frames")


def write_parquet(path: Path, results: Results) -> None:
    """Write facts as a Parquet file."""
    pa, pq = require_extra("pyarrow", "frames"), require_extra("pyarrow.parquet", "frames")
    schema = fact_schema()
    with open_binary_output(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        rows = fact_rows(results.records)
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


def write_docred(path: Path, results: Results) -> None:
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
        for record in results.records
        for fact in record["facts"]
    )
    write_list(path, rows)


def write_html(path: Path, results: Results) -> None:
    """Write a page of the first documents with their facts; all are counted."""
    from unnoted.data.visualization import MOST_DOCUMENTS, DocumentEntry, documents_page

    drawn: list[DocumentEntry] = []
    facts = total = 0
    documents, decision = results.documents(), results.decision
    for record in results.records:
        total += 1
        facts += count_predicted(record, decision.threshold)
        if total <= MOST_DOCUMENTS:
            names = {fact["relation"]: fact["relation_name"] for fact in record["facts"]}
            drawn.append(DocumentEntry(next(documents), fact_table(record, decision.threshold), names))
    lines = [
        f"{plural(facts, 'fact')} predicted in {plural(total, 'document')} by the model "
        f"{PurePath(results.model).name}, with a {decision}.",
        "Point at a fact, or choose it, to see its head (solid frame), its tail (dashed frame) and "
        "the sentences that support it.",
    ]
    with open_output(path) as stream:
        stream.write(documents_page("Predicted facts", lines, drawn, total, slider=score_slider(decision)))


def write_text(path: Path, results: Results) -> None:
    """Write facts as a person reads them in a terminal, which nothing in them can control."""
    with open_output(path) as stream:
        for record in results.records:
            stream.write(strip_control(format_record(record), keep="\n\t") + "\n")
            stream.flush()


def count_predicted(record: DocumentRecord, threshold: float) -> int:
    """How many facts of a record have a score above a threshold."""
    return sum(fact["score"] > threshold for fact in record["facts"])


def score_slider(decision: Decision) -> Markup:
    """The slider of a page over the scores of its facts."""
    precision = None if decision.expected is None else decision.expected.precision_by_hundredths()
    return render_slider(decision.threshold, decision.lowest_shown, precision)


def fact_table(record: DocumentRecord, threshold: float | None = None) -> FactTable:
    """The facts of a document for `render_document`, by falling score; those up to a threshold are hidden.

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
            (format_score(fact["score"]),), fact["score"],
        )
        for fact in facts
    )  # fmt: skip
    return FactTable(
        (FactGroup(lines),),
        ("Probability" if any(fact["calibrated"] for fact in facts) else "Score",),
        threshold,
    )


def format_score(score: float) -> str:
    """A score with three decimals; only 1 itself is written as 1.

    Example:
        >>> format_score(0.99996), format_score(1.0)
        ('0.999', '1.000')
    """
    return f"{score if score >= 1 else min(score, 0.999):.3f}"


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A format that results are written in.

    Attributes:
        write: writes results to a file, or to a stream.
        help: what it is, where its name does not say it.
        by_ending: whether a name that ends in it stands for it.
        for_folders: whether it suits a folder with a file of results for each input file.
        filtered: whether it has facts down to `Decision.lowest_shown`, of which a reader chooses.
        check: refuses a path, or what is not installed, before anything is computed.
    """

    write: Callable[[Path, Results], object]
    help: str = ""
    by_ending: bool = True
    for_folders: bool = False
    filtered: bool = False
    check: Callable[[Path], None] = lambda path: None


RESULT_FORMATS = {
    "json": ResultFormat(lambda path, results: write_list(path, results.records)),
    "jsonl": ResultFormat(lambda path, results: write_lines(path, results.records), for_folders=True),
    "csv": ResultFormat(write_csv, for_folders=True),
    "parquet": ResultFormat(write_parquet, for_folders=True, check=check_parquet),
    "html": ResultFormat(write_html, "a page of the documents with their facts drawn in them", filtered=True),
    "graphml": ResultFormat(write_graphml, "a knowledge graph"),
    "nt": ResultFormat(partial(write_rdf, form="nt"), "a knowledge graph as N-Triples", for_folders=True),
    "ttl": ResultFormat(partial(write_rdf, form="ttl"), "a knowledge graph as Turtle"),
    "txt": ResultFormat(write_text),
    "docred": ResultFormat(write_docred, "the official file of predictions", by_ending=False),
}
"""Every format that results are written in, by its name on the command line."""


def choose_format(path: Path, name: str | None = None) -> str:
    """The name of the format that results are written in, once it is sure that they can be.

    Args:
        path: where to; by default its ending says the format. A stream without one is JSONL.
        name: one of `RESULT_FORMATS`.

    Raises:
        ValueError: no format has the name, or the ending; the format refuses the path, or needs what is not
            installed.

    Example:
        >>> [choose_format(Path(name)) for name in ("facts.csv.gz", "facts.HTML", "-")]
        ['csv', 'html', 'jsonl']
    """
    if name is None:
        ending = Path(path.name.lower().removesuffix(".gz")).suffix
        endings = {f".{key}": key for key, each in RESULT_FORMATS.items() if each.by_ending}
        name = endings.get(ending, "jsonl" if is_stream(path) else None)
        if name is None:
            raise ValueError(
                f"{path}: end the name in one of {' '.join(endings)}, or give --format ({', '.join(RESULT_FORMATS)})"
            )
    lookup("format", name, RESULT_FORMATS).check(path)
    return name
