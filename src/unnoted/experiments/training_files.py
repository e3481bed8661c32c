"""Training documents made from others: the first so many of them, with labels hidden down to a level."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from unnoted.common.files import write_text
from unnoted.common.lookup import nearest
from unnoted.documents.levels import LEVELS
from unnoted.documents.levels import level as level_named
from unnoted.documents.loading import stream_documents
from unnoted.documents.schema import Document
from unnoted.documents.thinning import Thinning, ThinningReport, UniformShare, thin
from unnoted.documents.writing import write_documents
from unnoted.training.fingerprint import digest

SEED = 0
"""Of what is hidden: the same for all runs, so that they learn from the same labels."""


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file that was made.

    Attributes:
        path: the documents.
        documents: how many they are.
        before: how many labels they had.
        after: how many they have.
    """

    path: Path
    documents: int
    before: int
    after: int

    @property
    def share(self) -> float:
        """Of the labels that were kept."""
        return self.after / self.before if self.before else 1.0


def make_training_file(
    files: Sequence[Path], folder: Path, *, documents: int | None = None, level: str = "full"
) -> MadeFile:
    """Write the documents of `files`, or the first ones of them, with the labels of a level.

    The file is named after the content of what it is made from, and made once.

    Args:
        files: documents; for PubTator also its relation files.
        folder: where it goes.
        documents: how many at most; all if None.
        level: one of `LEVELS`, or the share of labels that each document keeps on average.
    """
    sources = [digest(file) for file in files]
    identity = json.dumps([sources, documents, level, SEED])
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    path, made = folder / f"{name}.jsonl", folder / f"{name}.json"
    if path.is_file() and made.is_file():
        return MadeFile(path, **json.loads(made.read_text("utf-8")))
    folder.mkdir(parents=True, exist_ok=True)

    def chosen() -> Iterator[Document]:
        return islice(stream_documents(*files), documents)

    report = ThinningReport()
    write_documents(path, thin(chosen(), _rule(level, chosen), SEED, report))
    result = MadeFile(path, report.documents, report.before.total(), report.after.total())
    counts = asdict(result)
    del counts["path"]
    with write_text(made) as stream:
        json.dump(counts, stream)
    return result


def check_level(name: str) -> str:
    """The name of a level or a share, if it is one.

    Example:
        >>> check_level("extreme"), check_level("0.2")
        ('extreme', '0.2')
        >>> check_level("2")
        Traceback (most recent call last):
        ValueError: share of facts to keep: found 2.0, expected more than 0 and at most 1
    """
    if name not in LEVELS:
        _share(name)
    return name


def _rule(name: str, documents: Callable[[], Iterator[Document]]) -> Thinning:
    return level_named(name, documents) if name in LEVELS else _share(name)


def _share(name: str) -> UniformShare:
    try:
        share = float(name)
    except ValueError:
        known = ", ".join(LEVELS)
        raise ValueError(
            f"unknown level {name!r}, expected {known}, or a share such as 0.2{nearest(name, LEVELS)}"
        ) from None
    return UniformShare(share)
