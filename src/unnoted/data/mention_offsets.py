"""Where mentions stand in the raw text of a document, in characters."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from unnoted.data.document import Document, Entity

Offsets: TypeAlias = tuple[tuple[int, int], ...]
"""Start and end (exclusive) of each mention of an entity, in characters."""


class TextPlaces:
    """Finds mentions in the text of a document; nowhere if the document has no text.

    Args:
        document: whose words are the pieces of its text.

    Example:
        >>> from unnoted.data.document import Mention
        >>> entity = Entity((Mention(1, 0, 2, "PER", "Ada Lorne"),))
        >>> words = ("Hello", "!"), ("Ada", "Lorne", ".")
        >>> document = Document("d1", words, (entity,), text="Hello! Ada  Lorne.")
        >>> TextPlaces(document).of(entity)
        ((7, 17),)
    """

    def __init__(self, document: Document) -> None:
        text = document.text
        # Only white space lies between words, so the letters of the words are the letters of the text.
        self._letters = [] if text is None else [at for at, letter in enumerate(text) if not letter.isspace()]
        self._words: Sequence[Sequence[int]] = []
        if text is not None:
            self._words = _letters_before(document)

    def of(self, entity: Entity) -> Offsets:
        """The places of all mentions of an entity."""
        if not self._letters:
            return ()
        return tuple(
            (self._letters[words[mention.start]], self._letters[words[mention.end] - 1] + 1)
            for mention in entity.mentions
            for words in [self._words[mention.sentence]]
        )


def _letters_before(document: Document) -> list[list[int]]:
    """For each sentence, how many letters stand before each of its words, and before its end."""
    before: list[list[int]] = []
    reached = 0
    for sentence in document.sentences:
        lengths = (len("".join(word.split())) for word in sentence)
        before.append(list(accumulate(lengths, initial=reached)))
        reached = before[-1][-1]
    return before
