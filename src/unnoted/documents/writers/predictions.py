"""Facts as the official DocRED prediction file: a list of {title, h_idx, t_idx, r, evidence}."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from unnoted.documents.formats.json_records import write_list
from unnoted.documents.schema import Document


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write the facts of documents as predictions; returns how many facts."""
    return write_list(path, records(documents))


def records(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """The facts of documents, one record each."""
    for document in documents:
        for fact in document.facts:
            yield {
                "title": document.id,
                "h_idx": fact.head,
                "t_idx": fact.tail,
                "r": fact.relation,
                "evidence": fact.evidence,
            }
