"""What documents have that not every format has a place for, counted while they are written."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from unnoted.data.document import Document
from unnoted.utils import plural


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Something that documents have: what one and several of it are called, and how many a document has."""

    one: str
    many: str
    number: Callable[[Document], int]


TEXT = DocumentPart("text", "texts", lambda document: int(document.text is not None))
IDS = DocumentPart(
    "id of an entity",
    "ids of entities",
    lambda document: sum(entity.id is not None for entity in document.entities),
)
MENTIONS = DocumentPart(
    "mention", "mentions", lambda document: sum(len(entity.mentions) for entity in document.entities)
)
EVIDENCE = DocumentPart(
    "fact's evidence",
    "facts' evidence",
    lambda document: sum(bool(fact.evidence) for fact in document.facts),
)
NEGATIVES = DocumentPart("known negative", "known negatives", lambda document: len(document.negatives))

MARKED_LACK = (EVIDENCE,)
"""What formats have no place for that mark mentions in a text."""
ROWS_LACK = (TEXT, EVIDENCE)
"""What formats have no place for that have words and no text."""
PREDICTIONS_LACK = (TEXT, IDS, MENTIONS, NEGATIVES)
"""What is no part of a file of predictions."""


@dataclass(slots=True)
class LeftBehind:
    """Counts what a format has no place for.

    Args:
        lacks: the parts of documents that the format lacks.

    Example:
        >>> from unnoted.data.document import Fact
        >>> left = LeftBehind(MARKED_LACK)
        >>> _ = list(left.watch([Document("1", (), (), (Fact(0, 1, "spouse", (0,)),))]))
        >>> left.told()
        ["1 fact's evidence"]
    """

    lacks: Collection[DocumentPart]
    counts: Counter[DocumentPart] = field(default_factory=Counter)

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents, counted on their way."""
        for document in documents:
            for part in self.lacks:
                self.counts[part] += part.number(document)
            yield document

    def told(self) -> list[str]:
        """What was left behind, in words."""
        return [plural(self.counts[part], part.one, part.many) for part in self.lacks if self.counts[part]]
