"""From one format to another, or to the same: then every record as it stands in its file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unnoted.data.carried import LeftBehind
from unnoted.data.contents import write_content
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.formats import FORMATS
from unnoted.data.loading import stream_documents
from unnoted.data.selecting import AllBut, own_format
from unnoted.data.writing import format_by_name, write_documents
from unnoted.errors import DefectLog, Kind
from unnoted.utils import plural

MOST_NAMES = 5
"""How many fields are named that were left behind."""


@dataclass(slots=True)
class Conversion:
    """What came of a conversion.

    Attributes:
        records: how many were written.
        format: the key of the format that they are in.
        kept: whether that is the format they came in, so that nothing changed.
        left_behind: what was read and could not be carried over, in words.
        log: what is wrong with the files.
    """

    records: int
    format: str
    kept: bool
    left_behind: list[str] = field(default_factory=list)
    log: DefectLog = field(default_factory=DefectLog)


def convert_files(
    sources: Sequence[Path],
    to: Path,
    format: str | None = None,
    vocabulary: RelationVocabulary | None = None,
    strict: bool = False,
) -> Conversion:
    """Write the documents of files in a format; if they are in that format already, as they stand there.

    Args:
        sources: one or more files; together they become one.
        to: where to.
        format: the key of a format; by default that of the name's ending, else `docred`.
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
    key = format or format_by_name(to)
    log = DefectLog(strict=strict)
    documents = stream_documents(*sources, vocabulary=vocabulary, log=log)
    entry = own_format(sources)
    if entry is not None and entry.select is not None and entry.key == key:
        records = sum(1 for _ in documents)
        write_content(to, entry.select(sources, AllBut()))
        return Conversion(records, key, kept=True, log=log)
    left = LeftBehind(FORMATS[key].lacks if key in FORMATS else ())
    records = write_documents(to, left.watch(documents), key)
    return Conversion(records, key, False, left.told() + _not_read(log), log)


def _not_read(log: DefectLog) -> list[str]:
    """What the readers saw and do not understand."""
    told = []
    if fields := log.counts[Kind.IGNORED_FIELD]:
        names = ", ".join(sorted(log.ignored)[:MOST_NAMES]) + (", …" if len(log.ignored) > MOST_NAMES else "")
        told.append(plural(fields, "unknown field") + (f" ({names})" if names else ""))
    if annotations := log.counts[Kind.UNUSED_ANNOTATION]:
        told.append(f"{plural(annotations, 'annotation')} of kinds that are not used here")
    return told
