"""Converting files between formats, and splitting a corpus: records that keep their format stay verbatim."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from random import Random

from unnoted.data.corpus import RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.formats import FORMATS, DocumentFormat, choose_format, find_format, write_documents
from unnoted.data.formats.records import write_content
from unnoted.data.loading import load_documents, stream_documents
from unnoted.errors import DefectLog, Kind
from unnoted.io import TextInput, is_special, open_output
from unnoted.utils import plural

PARTS: dict[str, tuple[str, str, Callable[[Document], int]]] = {
    "text": ("text", "texts", lambda document: int(document.text is not None)),
    "ids": (
        "id of an entity",
        "ids of entities",
        lambda document: sum(entity.id is not None for entity in document.entities),
    ),
    "mentions": (
        "mention",
        "mentions",
        lambda document: sum(len(entity.mentions) for entity in document.entities),
    ),
    "evidence": (
        "fact's evidence",
        "facts' evidence",
        lambda document: sum(bool(fact.evidence) for fact in document.facts),
    ),
    "negatives": ("known negative", "known negatives", lambda document: len(document.negatives)),
}
"""Parts of documents that not every format holds: one and several of them, and how many a document has."""

MOST_NAMES = 5
"""How many unknown fields are named."""


@dataclass(slots=True)
class Conversion:
    """The result of a conversion.

    Attributes:
        records: how many were written.
        format: the key of the format that they are in.
        kept: whether that is the format they came in, so that nothing changed.
        lost: what was read and could not be written, in words.
        log: what is wrong with the files.
    """

    records: int
    format: str
    kept: bool
    lost: list[str] = field(default_factory=list)
    log: DefectLog = field(default_factory=DefectLog)


def convert_files(
    sources: Sequence[Path],
    to: Path,
    format: str | None = None,
    vocabulary: RelationVocabulary | None = None,
    strict: bool = False,
) -> Conversion:
    """Write the documents of files in a format; records that are in it already are copied verbatim.

    Args:
        sources: one or more files; together they become one.
        to: where to.
        format: the key of a format; by default that of the name's ending.
        vocabulary: relations that are allowed; None allows all.
        strict: every defect is an error.

    Raises:
        DataError: a document cannot be used.
        ValueError: there is no such format, or it is not written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path, same = Path(folder, "a.jsonl"), Path(folder, "b.jsonl")
        ...     _ = path.write_text('{"id": "1", "text": "It rained.", "entities": [], "mine": 1.50}')
        ...     done = convert_files([path], same)
        ...     done.kept, same.read_text() == path.read_text()
        (True, True)
    """
    own = own_format(sources)
    log = DefectLog(strict=strict)
    documents = stream_documents(*sources, vocabulary=vocabulary, log=log)
    if own is not None and own.select is not None and own.key == (format or _format_by_name(to)):
        records = sum(1 for _ in documents)  # so that what is wrong is known before anything is written
        if len(sources) == 1 and own.read is not None:
            _copy_text(sources[0], to)
        elif len(sources) == 1 and not sources[0].is_dir() and own.main_file is None:
            write_content(to, sources[0].read_bytes())
        else:
            write_content(to, own.select(sources, lambda _: True))
        return Conversion(records, own.key, kept=True, log=log)
    key = choose_format(to, format)
    counts: Counter[str] = Counter()
    records = write_documents(to, _count_lost(documents, FORMATS[key], counts), key)
    lost = [plural(counts[part], *PARTS[part][:2]) for part in FORMATS[key].lossy if counts[part]]
    return Conversion(records, key, False, lost + _not_read(log), log)


def _format_by_name(to: Path) -> str | None:
    try:
        return choose_format(to)
    except ValueError:
        return None


def _copy_text(source: Path, to: Path) -> None:
    """Copy a text file a part at a time, plain or gzip, with its line ends and byte order mark."""
    given = TextInput(source)
    with given.open() as stream, open_output(to) as output:
        if given.first_bytes().startswith(b"\xef\xbb\xbf"):
            output.write("\ufeff")
        while part := stream.read(1 << 20):
            output.write(part)


def _count_lost(
    documents: Iterable[Document], format: DocumentFormat, counts: Counter[str]
) -> Iterator[Document]:
    for document in documents:
        for part in format.lossy:
            counts[part] += PARTS[part][2](document)
        yield document


def _not_read(log: DefectLog) -> list[str]:
    """What the readers saw and do not use."""
    found = []
    if fields := log.counts[Kind.IGNORED_FIELD]:
        names = ", ".join(sorted(log.ignored)[:MOST_NAMES]) + (", …" if len(log.ignored) > MOST_NAMES else "")
        found.append(plural(fields, "unknown field") + (f" ({names})" if names else ""))
    if annotations := log.counts[Kind.UNUSED_ANNOTATION]:
        found.append(f"{plural(annotations, 'annotation')} of kinds that are not used here")
    return found


def own_format(sources: Sequence[Path]) -> DocumentFormat | None:
    """The one format of files whose records can be selected verbatim; None if there is no such format."""
    if any(map(is_special, sources)):  # a stream was read already, and is gone
        return None
    found = {each.key: each for each in map(find_format, sources) if each}
    format = next(iter(found.values()), None)
    return format if format and format.select and len(found) == 1 else None


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], seed: int = 0
) -> list[list[Document]]:
    """Split documents into parts at random; each document is in one part, in its old order.

    Args:
        documents: the corpus.
        shares: of each part; they add up to 1.
        seed: the same seed makes the same parts of the same documents.

    Example:
        >>> documents = [Document(str(number), (), ()) for number in range(10)]
        >>> [len(part) for part in split_documents(documents, [0.8, 0.2])]
        [8, 2]
    """
    if not shares or min(shares) <= 0 or not isclose(sum(shares), 1.0, abs_tol=1e-6):
        raise ValueError(f"the shares of the parts must be positive and add up to 1, not {list(shares)}")
    order = list(range(len(documents)))
    Random(seed).shuffle(order)
    ends = [round(sum(shares[: number + 1]) * len(order)) for number in range(len(shares))]
    parts = [sorted(order[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if not all(parts):
        found = plural(len(order), "document")
        raise ValueError(f"a part would be empty: {found} in shares of {list(shares)}")
    return [[documents[index] for index in part] for part in parts]


def split_files(
    sources: Sequence[Path],
    parts: Sequence[tuple[Path, float]],
    seed: int = 0,
    format: str | None = None,
    strict: bool = False,
) -> tuple[list[int], DefectLog]:
    """Split the documents of files into new files at random.

    A part keeps the format of the files, and each record verbatim, if that format is asked for, or if none is
    and all names have one ending. Records that are no documents, such as rejected tasks, go to the first part.

    Args:
        sources: files of documents.
        parts: where to, and the share of the documents that goes there.
        seed: the same seed makes the same parts of the same documents.
        format: the key of a format.
        strict: every defect is an error.

    Returns:
        How many documents went to each part, and what is wrong with the files.
    """
    corpus = load_documents(*sources, strict=strict)
    split = split_documents(corpus.documents, [share for _, share in parts], seed)
    elsewhere = {document.id for part in split[1:] for document in part}
    for number, ((path, _), part) in enumerate(zip(parts, split, strict=True)):
        mine = {document.id for document in part}
        is_wanted = mine.__contains__ if number else lambda identifier: identifier not in elsewhere
        write_selected(sources, part, path, format, is_wanted)
    return list(map(len, split)), corpus.log


def write_selected(
    sources: Sequence[Path],
    documents: Collection[Document],
    to: Path,
    format: str | None = None,
    is_wanted: Callable[[str], bool] | None = None,
) -> None:
    """Write some documents of files: verbatim where they keep their format, else anew.

    Args:
        sources: where they were read from.
        documents: those to write.
        to: where to.
        format: the key of a format.
        is_wanted: the ids of the records to take, where the format stays; by default those of the documents.
    """
    own = own_format(sources)
    ids = {document.id for document in documents}
    keeps = own is not None and (
        format == own.key or (format is None and {_ending(path) for path in sources} == {_ending(to)})
    )
    if own is None or own.select is None or not keeps:
        write_documents(to, documents, format)
    else:
        write_content(to, own.select(sources, is_wanted or ids.__contains__))


def _ending(path: Path) -> str:
    return "" if path.is_dir() else Path(path.name.removesuffix(".gz")).suffix
