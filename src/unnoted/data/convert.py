"""Converting files between formats, and splitting a corpus."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from random import Random

from unnoted.data.corpus import RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.formats import FORMATS, choose_format, write_documents
from unnoted.data.loading import load_documents, stream_documents
from unnoted.errors import DefectKind, DefectLog
from unnoted.utils import plural

PARTS: dict[str, tuple[str, str, Callable[[Document], int]]] = {
    "text": ("text", "texts", lambda document: document.text is not None),
    "evidence": (
        "fact's evidence",
        "facts' evidence",
        lambda document: sum(bool(fact.evidence) for fact in document.facts),
    ),
}
"""Parts of documents that not every format holds: one and several of them, and how many a document has."""

MOST_NAMES = 5
"""How many unknown fields are named."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion.

    Attributes:
        records: how many were written.
        format: the key of the format that they are in.
        lost: what was read and could not be written, in words.
        log: what is wrong with the files.
    """

    records: int
    format: str
    lost: list[str]
    log: DefectLog


def convert_files(
    sources: Sequence[Path],
    to: Path,
    format: str | None = None,
    vocabulary: RelationVocabulary | None = None,
    strict: bool = False,
) -> Conversion:
    """Write the documents of files in a format.

    Raises:
        DataError: a document cannot be used.
        ValueError: there is no such format, or it is not written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.jsonl")
        ...     _ = path.write_text('{"id": "1", "text": "It rained.", "entities": [], "mine": 1}')
        ...     convert_files([path], Path(folder, "b.json")).lost
        ['1 unknown field (mine)']
    """
    key = choose_format(to, format)
    lossy = FORMATS[key].lossy
    log = DefectLog(strict=strict)
    counts: Counter[str] = Counter()

    def counted() -> Iterator[Document]:
        for document in stream_documents(*sources, vocabulary=vocabulary, log=log):
            counts.update({part: PARTS[part][2](document) for part in lossy})
            yield document

    records = write_documents(to, counted(), key)
    lost = [plural(counts[part], *PARTS[part][:2]) for part in lossy if counts[part]]
    if fields := log.counts[DefectKind.IGNORED_FIELD]:
        names = ", ".join(sorted(log.ignored)[:MOST_NAMES]) + (", …" if len(log.ignored) > MOST_NAMES else "")
        lost.append(plural(fields, "unknown field") + (f" ({names})" if names else ""))
    if annotations := log.counts[DefectKind.UNUSED_ANNOTATION]:
        lost.append(f"{plural(annotations, 'annotation')} of kinds that are not used here")
    return Conversion(records, key, lost, log)


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], seed: int = 0
) -> list[list[Document]]:
    """Split documents into parts at random; each document is in one part, in its old order.

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

    Returns:
        How many documents went to each part, and what is wrong with the files.
    """
    for path, _ in parts:
        choose_format(path, format)  # a wrong name is told before anything is written
    corpus = load_documents(*sources, strict=strict)
    split = split_documents(corpus.documents, [share for _, share in parts], seed)
    written = [write_documents(path, part, format) for (path, _), part in zip(parts, split, strict=True)]
    return written, corpus.log
