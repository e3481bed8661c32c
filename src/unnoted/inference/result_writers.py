"""The formats in which predicted facts are written to a file."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from unnoted.data.document import Document
from unnoted.inference.facts import predictions_of, text_of
from unnoted.io import open_output, write_lines, write_list
from unnoted.utils import plural

Records: TypeAlias = Iterable[dict[str, Any]]
"""Lines of extracted JSONL, as `Extraction.to_json` gives them."""


@dataclass(frozen=True, slots=True)
class Results:
    """What was found, on its way to a file.

    Attributes:
        records: one for each document, in their order; can be gone through once.
        documents: reads the documents again, in the same order.
        model: the folder or name of the model that found it.
    """

    records: Records
    documents: Callable[[], Iterator[Document]]
    model: str


def _write_predictions(path: Path, results: Results) -> None:
    write_list(path, (row for record in results.records for row in predictions_of(record)))


def _write_jsonl(path: Path, results: Results) -> None:
    write_lines(path, results.records)


def _write_table(path: Path, results: Results) -> None:
    with open_output(path) as stream:
        for record in results.records:
            stream.write(text_of(record) + "\n")


def _write_csv(path: Path, results: Results) -> None:
    from unnoted.inference.fact_frames import write_csv

    write_csv(path, results.records)


def _write_parquet(path: Path, results: Results) -> None:
    from unnoted.inference.fact_frames import write_parquet

    write_parquet(path, results.records)


def _write_html(path: Path, results: Results) -> None:
    """The first documents with their facts drawn in them; all are counted."""
    from unnoted.data.visualization import MOST_DOCUMENTS, DrawnDocument, documents_page
    from unnoted.inference.drawn_facts import fact_table

    drawn: list[DrawnDocument] = []
    facts = total = 0
    documents = results.documents()
    for record in results.records:
        total += 1
        facts += len(record["facts"])
        if total <= MOST_DOCUMENTS:
            names = {fact["relation"]: fact["relation_name"] for fact in record["facts"]}
            drawn.append(DrawnDocument(next(documents), fact_table(record), names))
    lines = [
        f"{plural(facts, 'fact')} predicted in {plural(total, 'document')} by the model "
        f"{PurePath(results.model).name}.",
        "Point at a fact or an arc, or choose it, to see its head (solid frame), its tail (dashed frame) and "
        "the sentences that support it. Sentences and entities are numbered from 0. A confidence of 0.5 is "
        "the model's line.",
    ]
    with open_output(path) as stream:
        stream.write(documents_page("Predicted facts", lines, drawn, total))


RESULT_WRITERS: dict[str, Callable[[Path, Results], None]] = {
    "predictions": _write_predictions,
    "jsonl": _write_jsonl,
    "table": _write_table,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "html": _write_html,
}
"""Every format that results are written in, by its name on the command line."""

_BY_NAME = ("jsonl", "csv", "parquet", "html")


def format_of(path: Path) -> str:
    """The format that the name of a file stands for.

    Example:
        >>> format_of(Path("facts.csv.gz")), format_of(Path("facts.HTML")), format_of(Path("result.json"))
        ('csv', 'html', 'predictions')
    """
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    return ending if ending in _BY_NAME else "predictions"
