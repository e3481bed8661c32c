"""From documents to files, in any format that can be written."""

from collections.abc import Iterable
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.formats import FORMATS
from unnoted.utils import lookup


def write_documents(path: str | Path, documents: Iterable[Document], format: str | None = None) -> int:
    """Write documents to a file that appears only when it is complete, or to a stream.

    Args:
        path: where to; a name ending in `.gz` is compressed. `-` is standard output.
        documents: may be a stream; only one is held at a time.
        format: the key of a format; by default the one of the file's suffix (`.jsonl`), else `docred`.

    Returns:
        How many records were written.
    """
    writers = {key: entry.write for key, entry in FORMATS.items() if entry.write}
    return lookup("format", format or format_by_name(path), writers)(path, documents)


def format_by_name(path: str | Path) -> str:
    """The key of the format that a file of some name is written in, unless another one is asked for.

    Example:
        >>> format_by_name("a.jsonl.gz"), format_by_name("a.json")
        ('jsonl', 'docred')
    """
    name = str(path).removesuffix(".gz")
    suffixes = (key for key, entry in FORMATS.items() if entry.suffix and name.endswith(entry.suffix))
    return next(suffixes, "docred")
