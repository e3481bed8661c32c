"""Mentions by a GLiNER model, which finds the types that it is asked for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from unnoted.data.ner.found_mention import FoundMention
from unnoted.data.tokenization import split_text
from unnoted.utils import require_extra, short_repr, wrap_errors

CONFIG = "gliner_config.json"
"""The file by which a folder is known as a GLiNER model's."""

GLINER_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "person": "PER",
        "organization": "ORG",
        "location": "LOC",
        "nationality": "LOC",
        "date": "TIME",
        "number": "NUM",
        "event": "MISC",
        "work of art": "MISC",
    }
)
"""What a GLiNER model is asked for on behalf of a model with DocRED's types."""

WORDS = 250
"""Words that are looked at together: GLiNER leaves out what comes after some 380 words."""


class EntityPredictor(Protocol):
    """What is used of a GLiNER model."""

    def predict_entities(self, text: str, labels: list[str], *, threshold: float) -> list[dict[str, Any]]:
        """The entities of a text: dictionaries with `start`, `end` and `label`."""
        ...


def asked_types(known: Collection[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """What to ask a GLiNER model for, and what the relation model calls it.

    Args:
        known: the types that the relation model knows.
        given: replaces all that is usual.

    Raises:
        ValueError: there is nothing to ask for.

    Example:
        >>> asked_types(["PER", "Chemical"])
        {'person': 'PER', 'chemical': 'Chemical'}
    """
    asked = dict(given or {})
    if not asked:
        asked = {label: name for label, name in GLINER_TYPES.items() if name in known}
        asked |= {name.lower(): name for name in known if name not in GLINER_TYPES.values()}
    if not asked:
        raise ValueError("found a model that tells no types apart, expected types to ask GLiNER for")
    return asked


class GlinerMentions:
    """Finds mentions with a GLiNER model, some sentences at a time.

    Args:
        model: has `predict_entities`.
        labels: the types that it is asked for, in words.
        threshold: how sure it must be.

    Example:
        >>> class Model:
        ...     def predict_entities(self, text, labels, *, threshold):
        ...         place = text.find("Ada")
        ...         return [{"start": place, "end": place + 3, "label": labels[0]}] if place >= 0 else []
        >>> list(GlinerMentions(Model(), ["person"]).find(["I met Ada."]))
        [(FoundMention(start=6, end=9, type='person', kb_id=None, cluster=None),)]
    """

    usual_types = GLINER_TYPES

    def __init__(self, model: EntityPredictor, labels: Iterable[str], threshold: float = 0.5) -> None:
        self.model = model
        self.labels = list(labels)
        self.threshold = threshold

    @classmethod
    def load(cls, folder: Path, labels: Iterable[str]) -> "GlinerMentions":
        """The model in a folder; nothing is fetched.

        Raises:
            MissingExtra: GLiNER is not installed.
            ValueError: the folder holds no such model.
        """
        gliner = require_extra("gliner", "gliner")
        with wrap_errors(folder, "no GLiNER model that can be loaded", "a whole one", ValueError):
            return cls(gliner.GLiNER.from_pretrained(str(folder), local_files_only=True), labels)

    def find(self, texts: Iterable[str]) -> Iterator[tuple[FoundMention, ...]]:
        """The mentions of each text."""
        for text in texts:
            yield tuple(mention for start, end in pieces(text) for mention in self._piece(text, start, end))

    def _piece(self, text: str, start: int, end: int) -> Iterator[FoundMention]:
        for entity in self.model.predict_entities(text[start:end], self.labels, threshold=self.threshold):
            if not 0 <= entity["start"] < entity["end"] <= end - start:
                raise ValueError(f"GLiNER: found {short_repr(entity)}, expected a place within the text")
            yield FoundMention(start + entity["start"], start + entity["end"], entity["label"])


def pieces(text: str, words: int = WORDS) -> Iterator[tuple[int, int]]:
    """Cut a text into pieces of whole sentences and not many words; a longer sentence is a piece of its own.

    Example:
        >>> text = "One two. Three four. Five."
        >>> [text[start:end] for start, end in pieces(text, 6)]
        ['One two. Three four.', 'Five.']
    """
    split = split_text(text)
    ends = [*split.sentence_starts[1:], len(split.word_starts)]
    first = 0
    for number, end in enumerate(ends):
        following = ends[number + 1] if number + 1 < len(ends) else None
        if following is None or following - first > words:
            if end > first:
                yield split.word_starts[first], split.word_ends[end - 1]
            first = end
