"""Facts of the texts that other libraries hold, each with an id, and with entities or without."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from unnoted.data.ner import RecognizerSource, TextReader
    from unnoted.inference import DecisionOptions, Extraction, Extractor
    from unnoted.inference.extractor import Source

ENTITIES = "entities"
"""The key of a text's metadata under which its entities stand, as in JSONL (docs/reference/formats.md)."""


class SourceText(NamedTuple):
    """A text, its id, and its entities if they are known."""

    id: str
    text: str
    entities: list[Mapping[str, Any]] | None


class TextExtractor:
    """Extracts the facts of texts.

    Args:
        extractor: with the model.
        entities: what finds the entities of texts that come without, as for `Extractor.extract_text`.
        types: the model's names of the types that are found, as there.
        threshold: which facts are predicted, as for `Extractor.extract`.
    """

    def __init__(
        self,
        extractor: "Extractor",
        entities: "RecognizerSource" = None,
        types: Mapping[str, str] | None = None,
        threshold: "float | DecisionOptions | None" = None,
    ) -> None:
        self.extractor = extractor
        self.entities = entities
        self.types = types
        self.threshold = threshold

    def extract(self, texts: Iterable[SourceText]) -> Iterator["Extraction"]:
        """The facts of each text, in the order of the texts."""
        return self.extractor.extract(self._documents(texts), threshold=self.threshold)

    def _documents(self, texts: Iterable[SourceText]) -> Iterator["Source"]:
        for found, group in groupby(texts, lambda text: text.entities is None):
            if found:
                yield from self._reader.read((text.id, text.text) for text in group)
            else:
                yield from (text._asdict() for text in group)

    @cached_property
    def _reader(self) -> "TextReader":
        return self.extractor.text_reader(self.entities, self.types)
