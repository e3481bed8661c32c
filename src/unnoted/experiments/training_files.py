"""Training documents made from others: the first so many of them, with labels hidden down to a level."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import LABELLING_SETTINGS, HideReport, LabelDropout, Uniform, hide_labels
from unnoted.data.loading import stream_documents
from unnoted.io import open_output
from unnoted.training.fingerprint import digest
from unnoted.utils import nearest

SEED = 0
"""Of what is hidden: the same for all runs, so that they learn from the same labels."""


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file that was made: its documents, and their labels before and after."""

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
    """Write the documents of `files`, or the first ones of them, with the labels of a level (`level_rule`).

    The file is named after the content of what it is made from, and made once.
    """
    identity = json.dumps([[digest(file) for file in files], documents, level, SEED])
    path = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsonl"
    counts = path.with_suffix(".json")
    if path.is_file() and counts.is_file():
        return MadeFile(path, **json.loads(counts.read_text("utf-8")))
    folder.mkdir(parents=True, exist_ok=True)

    def chosen() -> Iterator[Document]:
        return islice(stream_documents(*files), documents)

    report = HideReport()
    write_documents(path, hide_labels(chosen(), level_rule(level)(chosen()), SEED, report))
    counted = {
        "documents": report.documents, "before": report.before.total(), "after": report.after.total(),
    }  # fmt: skip
    with open_output(counts) as stream:
        json.dump(counted, stream)
    return MadeFile(path, **counted)


def level_rule(name: str) -> Callable[[Iterable[Document]], LabelDropout]:
    """What fits the rule of a level to documents: one of `LABELLING_SETTINGS`, or a share of labels to keep.

    Example:
        >>> level_rule("0.2")([])
        Uniform(share=0.2)
        >>> level_rule("2")
        Traceback (most recent call last):
        ValueError: share of facts to keep: found 2.0, expected more than 0 and at most 1
    """
    if name in LABELLING_SETTINGS:
        return LABELLING_SETTINGS[name]
    try:
        share = float(name)
    except ValueError:
        known = ", ".join(LABELLING_SETTINGS)
        raise ValueError(
            f"unknown level {name!r}, expected {known}, or a share such as 0.2{nearest(name, LABELLING_SETTINGS)}"
        ) from None
    rule = Uniform(share)
    return lambda documents: rule
