"""From files to documents: the format is recognised by content, and nothing is lost on the way."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from unnoted.common.errors import DataError, Defect, DefectLog, Kind, fail, shown
from unnoted.common.files import open_text
from unnoted.documents.candidates import AllPairs, Candidates, TypePairs, observed
from unnoted.documents.corpus import Corpus
from unnoted.documents.formats import docred, jsonl, pubtator
from unnoted.documents.formats.reading import Reading
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.schema import Document

SNIFFED = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how the start of a file gives it away, and how it is read."""

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[TextIO, Reading], Iterator[Document]] | None


def _is_relation_row(start: str) -> bool:
    return start.split("\n", 1)[0].count("\t") == 3


FORMATS = {
    entry.name: entry
    for entry in (
        Format("DocRED JSON", lambda start: start.startswith("["), docred.read),
        Format("unnoted JSONL", lambda start: start.startswith("{"), jsonl.read),
        Format("PubTator", pubtator.looks_like, pubtator.read),
        Format("relation rows", _is_relation_row, None),
    )
}
"""Every format that is read. Adding one: a file in `readers/` and a row here."""


def recognise(path: str | Path) -> Format:
    """The format of a file, by what it starts with.

    Raises:
        DataError: the file is empty, unreadable, or in no known format.
    """
    log = DefectLog(str(path))
    try:
        with open_text(Path(path)) as stream:
            start = stream.read(SNIFFED).lstrip()
        if not start:
            fail(Kind.UNREADABLE, None, None, "an empty file", "documents")
        for entry in FORMATS.values():
            if entry.recognises(start):
                return entry
        fail(Kind.UNREADABLE, None, "start of the file", shown(start), " or ".join(FORMATS))
    except DataError as error:
        raise log.located(error) from None


def format_name(path: str | Path) -> str:
    """The name of a file's format, or "unknown"; why it is unknown is said by whoever reads the file."""
    try:
        return recognise(path).name
    except DataError:
        return "unknown"


def stream_documents(
    *paths: str | Path,
    vocabulary: Collection[str] | None = None,
    strict: bool = False,
    log: DefectLog | None = None,
) -> Iterator[Document]:
    """Yield the documents of one or more files, one at a time, checked.

    Args:
        paths: files of documents in any known format, plain or gzip; relation files (tab-separated) belong to
            the PubTator files beside them. Ids must be unique over all of them.
        vocabulary: relations that are allowed; None allows all.
        strict: every defect is an error.
        log: where to count what is found; its own settings then hold instead of `strict`.

    Raises:
        DataError: names the file, the document, the field, what was found and what was expected.
    """
    log = log if log is not None else DefectLog(strict=strict)
    reading = Reading(log, vocabulary)
    sources: list[tuple[Path, Format]] = []
    for path in map(Path, paths):
        try:
            sources.append((path, recognise(path)))
        except DataError as error:
            log.error(error)
    for path, entry in sources:
        if entry.read is None:
            _within(path, log, lambda stream: reading.rows.read(stream, log))
    for path, entry in sources:
        if entry.read is not None:
            yield from _documents(path, entry.read, reading)
    if any(entry.read is not None for _, entry in sources):
        reading.rows.report_rest(log)
    elif sources:
        log.error(DataError(Defect(Kind.UNREADABLE, log.file, None, None, "relation rows only", "documents")))


def _within(path: Path, log: DefectLog, work: Callable[[TextIO], None]) -> None:
    log.file = str(path)
    try:
        with open_text(path) as stream:
            work(stream)
    except DataError as error:
        log.error(error)


def _documents(
    path: Path, read: Callable[[TextIO, Reading], Iterator[Document]], reading: Reading
) -> Iterator[Document]:
    log = reading.log
    log.file = str(path)
    before = len(reading.seen)
    try:
        with open_text(path) as stream:
            yield from read(stream, reading)
        if len(reading.seen) == before and log.usable:
            fail(Kind.UNREADABLE, None, None, "0 documents", "at least one")
    except DataError as error:
        log.error(error)


def load_documents(
    *paths: str | Path,
    vocabulary: RelationVocabulary | None = None,
    candidates: Candidates | None = None,
    strict: bool = False,
    log: DefectLog | None = None,
) -> Corpus:
    """Read documents into memory, with their relations and the pairs that are candidates.

    Args:
        paths: as for `stream_documents`.
        vocabulary: the relations and their order; by default those that occur, sorted.
        candidates: which pairs may stand in a relation; by default all ordered pairs, but for PubTator
            corpora, whose relations are typed, the type pairs seen among the facts.
        strict: every defect is an error.
        log: where to count what is found; its own settings then hold instead of `strict`.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        ...     _ = file.write('{"id": "1", "text": "Ada met Bo.", "entities": ['
        ...                    '{"type": "PER", "mentions": [{"start": 0, "end": 3}]},'
        ...                    '{"type": "PER", "mentions": [{"start": 8, "end": 10}]}],'
        ...                    '"facts": [{"head": 0, "tail": 1, "relation": "met"}]}')
        ...     file.flush()
        ...     corpus = load_documents(file.name)
        >>> len(corpus), corpus.relations.ids, corpus[0].sentences
        (1, ('met',), (('Ada', 'met', 'Bo', '.'),))
    """
    log = log if log is not None else DefectLog(strict=strict)
    documents = tuple(stream_documents(*paths, vocabulary=vocabulary, log=log))
    if candidates is None:
        candidates = default_candidates(paths, lambda: observed(documents))
    relations = vocabulary if vocabulary is not None else RelationVocabulary.of(documents)
    return Corpus(documents, relations, candidates, log)


def default_candidates(paths: Iterable[str | Path], seen: Callable[[], TypePairs]) -> Candidates:
    """All ordered pairs, or for a PubTator corpus with facts the type pairs `seen` among them."""
    if not any(format_name(path) == "PubTator" for path in paths):
        return AllPairs()
    types = seen()
    return types if types.types else AllPairs()
