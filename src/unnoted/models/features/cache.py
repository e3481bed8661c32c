"""Files named by their content's key, so that nothing is made twice and nothing stale is ever found.

A file's name holds the key of what it was made from and a checksum of what is in it: a changed document has
another key, and a damaged file is recognised, removed and made again.
"""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import tokenizers

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document

FORMAT = 5
"""To be raised whenever the same documents give other features than before, or files of another shape."""

VARIABLE = "UNNOTED_CACHE"
"""The environment variable that names the directory."""

log = logging.getLogger(__name__)


def cache_directory(directory: Path | str | None = None) -> Path:
    """The directory to use: the argument, else $UNNOTED_CACHE, else ~/.cache/unnoted.

    Example:
        >>> cache_directory("here").name
        'here'
    """
    return Path(directory or os.environ.get(VARIABLE) or Path.home() / ".cache" / "unnoted")


def fingerprint(
    documents: Sequence[Document],
    tokeniser: str,
    relations: Sequence[str],
    candidates: CandidatePairs,
    types: Sequence[str] = (),
) -> str:
    """A key that differs whenever anything differs that features depend on (and on any field of a document).

    Args:
        documents: all of them, in order.
        tokeniser: everything that its token ids depend on.
        relations: the vocabulary, in order.
        candidates: which pairs are scored.
        types: of entities that are told apart, in order.
    """
    rules = [
        FORMAT, tokenizers.__version__, tokeniser, list(relations), candidates.to_json(), list(types),
    ]  # fmt: skip
    digest = hashlib.blake2b(json.dumps(rules).encode(), digest_size=16)
    for document in documents:
        digest.update(_canonical(document))
    return digest.hexdigest()


def _canonical(document: Document) -> bytes:
    """Every field, as JSON: it says itself where it ends, so that documents can follow one another."""
    entities = [
        (entity.id, [(m.sentence, m.start, m.end, m.type, m.name) for m in entity.mentions])
        for entity in document.entities
    ]
    facts = [(fact.head, fact.tail, fact.relation, fact.evidence) for fact in document.facts]
    labels = facts, document.negatives
    return json.dumps((document.id, document.sentences, entities, *labels, document.text)).encode()


class FeatureCache:
    """A directory of feature files.

    Args:
        directory: where the files are; see `cache_directory` for the default. Made when first written to.

    Example:
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     cache = FeatureCache(directory)
        ...     written = cache.write("key", lambda path: path.write_text("features"))
        ...     cache.find("key") == written, cache.find("other key")
        (True, None)
    """

    def __init__(self, directory: Path | str | None = None) -> None:
        self.directory = cache_directory(directory)

    def find(self, key: str) -> Path | None:
        """The whole and undamaged file of a key, if there is one; damaged ones are removed."""
        for path in self.directory.glob(f"{key}-*.arrow"):
            if path.stem == f"{key}-{_checksum(path)}":
                return path
            log.warning("%s is damaged; its features are made again", path)
            path.unlink()
        return None

    def write(self, key: str, write: Callable[[Path], object]) -> Path:
        """Let `write` fill a new file, then give it its name in one step: others see all of it or nothing."""
        self.directory.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{key}-", suffix=".unfinished", dir=self.directory)
        os.close(handle)
        unfinished = Path(name)
        try:
            write(unfinished)
            path = self.directory / f"{key}-{_checksum(unfinished)}.arrow"
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
        return path


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
