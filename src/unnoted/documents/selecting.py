"""Some documents of a file in the file's own format: every record as it stands there."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from unnoted.common.output_streams import is_special
from unnoted.documents.contents import write_content
from unnoted.documents.formats import DocumentFormat, format_of
from unnoted.documents.schema import Document
from unnoted.documents.writing import write_documents


def kept_format(sources: Sequence[Path], to: Path, format: str | None) -> DocumentFormat | None:
    """The format of the one file that documents come from, if they are to be written in the same format.

    They are if that format is asked for, or none is and the names end alike. None if they are not, or if
    records of that format cannot be taken out as they are.
    """
    if len(sources) != 1 or is_special(sources[0]):
        return None
    entry = format_of(sources[0])
    if entry is None or entry.select is None:
        return None
    same = _ending(sources[0]) == _ending(to) if format is None else format == entry.key
    return entry if same else None


def _ending(path: Path) -> str:
    return "" if path.is_dir() else Path(path.name.removesuffix(".gz")).suffix


def write_selected(
    sources: Sequence[Path], documents: Collection[Document], to: Path, format: str | None = None
) -> int:
    """Write some documents of a file: in its own format as they stand there, in another one anew.

    Returns:
        How many records were written.
    """
    entry = kept_format(sources, to, format)
    if entry is None or entry.select is None:
        return write_documents(to, documents, format)
    write_content(to, entry.select(sources[0], _ids(documents)))
    return len(documents)


def _ids(documents: Iterable[Document]) -> set[str]:
    return {document.id for document in documents}
