"""Loading and streaming of documents from files, whose formats are detected by content."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.formats import detect_format, find_format
from unnoted.data.formats.pubtator import log_unused_rows
from unnoted.data.formats.records import DocumentFormat, ReadContext
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import TextInput
from unnoted.utils import plural


def stream_documents(
    *paths: str | Path | TextInput,
    vocabulary: Collection[str] | None = None,
    strict: bool = False,
    log: DefectLog | None = None,
) -> Iterator[Document]:
    """Yield the documents of one or more files, one at a time, validated.

    Args:
        paths: files of documents in any known format, plain or gzip; relation files (tab-separated) belong to
            the PubTator files beside them. Ids must be unique over all of them. `-` is standard input.
        vocabulary: relations that are allowed; None allows all.
        strict: every defect is an error.
        log: takes the defects; its own settings then hold instead of `strict`.

    Raises:
        DataError: names the file, the document, the field, its value and what is valid.
    """
    log = log if log is not None else DefectLog(strict=strict)
    context = ReadContext(log, vocabulary)
    sources: list[tuple[TextInput, DocumentFormat]] = []
    with ExitStack() as stack:
        for source in map(TextInput.from_path, paths):
            stack.callback(source.close)
            try:
                sources.append((source, detect_format(source)))
            except DataError as error:
                log.error(error)
        documents: dict[object, tuple[TextInput, DocumentFormat]] = {}  # two files may be one document
        for source, format in sources:
            if format.read_relations is not None:
                with _log_errors(source, log), source.open() as stream:
                    format.read_relations(stream, context)
            elif format.has_documents:
                key = source if format.main_file is None else format.main_file(source.path)
                documents.setdefault(key, (source, format))
        for source, format in documents.values():
            before = len(context.seen)
            with _log_errors(source, log):
                if format.read_path is not None:
                    yield from format.read_path(source.path, context)
                elif format.read is not None:
                    with source.open() as stream:
                        yield from format.read(stream, context)
                if len(context.seen) == before and log.usable:
                    raise DataError("0 documents", "at least one", kind=DefectKind.UNREADABLE)
    if documents:
        log_unused_rows(context)
    elif sources:
        log.error(DataError("relation rows only", "documents", kind=DefectKind.UNREADABLE, file=log.file))


@contextmanager
def _log_errors(source: TextInput, log: DefectLog) -> Iterator[None]:
    """An error while an input is read goes to the log with its name."""
    log.file = source.name
    try:
        yield
    except DataError as error:
        log.error(error)


class Shard(NamedTuple):
    """One file of a corpus.

    Attributes:
        path: where it is.
        name: its path from the folder that was given, or from the first `*` of a pattern; else the file's name.
    """

    path: Path
    name: Path


def find_shards(paths: Iterable[Path]) -> list[Shard]:
    """The files that files, folders and patterns such as `2024/*.parquet` stand for, in the order of their names.

    Of a folder, those in it and in its folders, but for hidden ones and those whose names begin with `_`, as
    engines leave them beside their results. A folder of brat's is one shard.

    Raises:
        DataError: there is no file.
    """
    shards = []
    for path in paths:
        folder = Path(*takewhile(lambda part: not _WILD.intersection(part), path.parts))
        if folder != path and not path.exists():
            matches = folder.glob(str(path.relative_to(folder)))
            found = {file for each in matches for file in _files(each)}
        elif path.is_dir() and not _is_one_shard(path):
            folder, found = path, set(_files(path))
        else:
            shards.append(Shard(path, Path(path.name)))
            continue
        names = sorted(file.relative_to(folder) for file in found)
        shown = [name for name in names if not any(part[0] in "._" for part in name.parts)]
        if not shown:
            raise DataError("no file", "at least one", kind=DefectKind.UNREADABLE, file=str(path))
        shards += [Shard(folder / name, name) for name in shown]
    return shards


_WILD = frozenset("*?[")


def _files(path: Path) -> Iterable[Path]:
    """The files below a path, which may be a file."""
    if not path.is_dir() or _is_one_shard(path):
        return [path]
    return (file for file in path.rglob("*") if file.is_file())


def _is_one_shard(folder: Path) -> bool:
    """Whether a folder is read as a whole, as brat's are; one that has a text among other files is not."""
    format = find_format(folder)
    return format is not None and format.key != "text"


def load_documents(
    *paths: str | Path | TextInput,
    vocabulary: RelationVocabulary | None = None,
    candidates: CandidatePairs | None = None,
    strict: bool = False,
    log: DefectLog | None = None,
) -> Corpus:
    """Read documents into memory, with their relation vocabulary and candidate pairs.

    Args:
        paths: as for `stream_documents`.
        vocabulary: the relations and their order; by default those that occur, sorted.
        candidates: the candidate pairs; by default all ordered pairs, but for PubTator corpora, whose
            relations are typed, the type pairs of the facts.
        strict: every defect is an error.
        log: takes the defects; its own settings then hold instead of `strict`.

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
    sources = [TextInput.from_path(path) for path in paths]
    documents = tuple(stream_documents(*sources, vocabulary=vocabulary, log=log))
    if candidates is None:
        formats = map(find_format, sources)
        candidates = default_candidates(formats, lambda: CandidatePairs.from_facts(documents))
    relations = vocabulary if vocabulary is not None else RelationVocabulary.from_documents(documents)
    return Corpus(documents, relations, candidates, log)


def require_facts(documents: int, facts: int, paths: Iterable[str | Path]) -> None:
    """Refuse documents without any fact where facts are learnt from or compared.

    Example:
        >>> require_facts(20, 0, ["new.jsonl"])
        Traceback (most recent call last):
        unnoted.errors.DataError: new.jsonl: no fact in 20 documents, expected labelled facts
    """
    if not facts:
        files = ", ".join(TextInput(path).name for path in paths)
        found = f"no fact in {plural(documents, 'document')}"
        raise DataError(found, "labelled facts", file=files)


def default_candidates(
    formats: Iterable[DocumentFormat | None], from_facts: Callable[[], CandidatePairs]
) -> CandidatePairs:
    """All ordered pairs; for formats whose relations are typed, the type pairs of the facts if there are any."""
    if not any(format.typed for format in formats if format):
        return CandidatePairs()
    observed = from_facts()
    return observed if observed.types else CandidatePairs()
