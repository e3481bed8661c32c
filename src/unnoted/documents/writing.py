"""From documents to files: one row per format."""

from collections.abc import Callable, Iterable
from pathlib import Path

from unnoted.common.lookup import lookup
from unnoted.documents.schema import Document
from unnoted.documents.writers import docred, jsonl, predictions

WRITERS: dict[str, Callable[[str | Path, Iterable[Document]], int]] = {
    "docred": docred.write,
    "jsonl": jsonl.write,
    "predictions": predictions.write,
}
"""Every format that is written. Adding one: a file in `writers/` and a row here."""


def write_documents(path: str | Path, documents: Iterable[Document], format: str | None = None) -> int:
    """Write documents to a file that appears only when complete.

    Args:
        path: where to; a name ending in `.gz` is compressed.
        documents: may be a stream; only one is held at a time.
        format: a name in `WRITERS`; by default `jsonl` for names ending in `.jsonl`, else `docred`.

    Returns:
        How many records were written.
    """
    if format is None:
        format = "jsonl" if str(path).removesuffix(".gz").endswith(".jsonl") else "docred"
    return lookup("format", format, WRITERS)(path, documents)
