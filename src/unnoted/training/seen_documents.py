"""Which documents a model was trained on: scores of these would be in-sample."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from unnoted.data.document import Document
from unnoted.io import read_json, write_json
from unnoted.utils import plural, short_repr

TRAIN_DOCUMENTS = "train_documents.json"
"""In a model's folder: a digest of the text of every document that it was trained on."""


def text_digest(document: Document) -> str:
    """A digest of a document's words, which does not change when its labels do."""
    words = "\0".join("\1".join(sentence) for sentence in document.sentences)
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def write_train_documents(folder: Path, documents: Iterable[Document]) -> None:
    """Note beside a model what it was trained on."""
    write_json(folder / TRAIN_DOCUMENTS, sorted(set(map(text_digest, documents))))


def check_unseen(folder: Path, documents: Iterable[Document], log: Callable[[str], None]) -> None:
    """Refuse documents that a model was trained on, whatever has become of their labels.

    Raises:
        ValueError: names one of them.
    """
    if not (folder / TRAIN_DOCUMENTS).is_file():
        log(
            f"warning: {folder} does not say what it was trained on; its own documents would be in-sample "
            "(docs/guides/troubleshooting.md#unknown-train)"
        )
        return
    trained_on = set(read_json(folder / TRAIN_DOCUMENTS, ValueError))
    seen = [document.id for document in documents if text_digest(document) in trained_on]
    if seen:
        raise ValueError(
            f"{folder} was trained on {plural(len(seen), 'of these documents', 'of these documents')}, such as "
            f"{short_repr(seen[0])}; without --model every document is scored by models that did not see it"
        )
