"""Documents of files in the files' own format: every record as it stands there."""

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unnoted.data.contents import write_content
from unnoted.data.document import Document
from unnoted.data.formats import DocumentFormat, format_of
from unnoted.data.writing import write_documents
from unnoted.io import is_special


@dataclass(frozen=True, slots=True)
class AllBut:
    """Every id but some; so also those of records that no document was made of, such as rejected tasks.

    Example:
        >>> "a" in AllBut(), "a" in AllBut({"a"})
        (True, False)
    """

    excluded: Container[object] = ()

    def __contains__(self, identifier: object) -> bool:
        return identifier not in self.excluded


def own_format(sources: Sequence[Path]) -> DocumentFormat | None:
    """The one format of files whose records can be taken out as they are; None if there is no such format."""
    if any(map(is_special, sources)):  # what is a stream was read already, and is gone
        return None
    found = {entry.key: entry for entry in map(format_of, sources) if entry}
    entry = next(iter(found.values()), None)
    return entry if entry and entry.select and len(found) == 1 else None


def write_selected(
    sources: Sequence[Path],
    documents: Collection[Document],
    to: Path,
    format: str | None = None,
    ids: Container[str] | None = None,
) -> int:
    """Write some documents of files: in their own format as they stand there, in another one anew.

    They keep their format if that is asked for, or if none is and all names end alike.

    Args:
        sources: where they were read from.
        documents: those to write.
        to: where to.
        format: the key of a format.
        ids: of the records to take, where the format stays; by default those of the documents.

    Returns:
        How many documents were written.
    """
    entry = own_format(sources)
    same = entry and format in (entry.key, None if _alike(sources, to) else entry.key)
    if entry is None or entry.select is None or not same:
        return write_documents(to, documents, format)
    write_content(to, entry.select(sources, ids_of(documents) if ids is None else ids))
    return len(documents)


def _alike(sources: Sequence[Path], to: Path) -> bool:
    return {_ending(path) for path in sources} == {_ending(to)}


def _ending(path: Path) -> str:
    return "" if path.is_dir() else Path(path.name.removesuffix(".gz")).suffix


def ids_of(documents: Iterable[Document]) -> set[str]:
    """The ids of documents."""
    return {document.id for document in documents}
