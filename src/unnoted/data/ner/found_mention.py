"""What finds names in text gives: places with types, and what is known of who is meant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class FoundMention:
    """A name at characters `start` to `end` (exclusive) of a text.

    Args:
        start: the first character.
        end: behind the last one.
        type: as whoever found it calls it, such as `PERSON`.
        kb_id: who it is in a knowledge base, if that was looked up.
        cluster: the number of the coreference cluster that it belongs to, if any.
    """

    start: int
    end: int
    type: str
    kb_id: str | None = None
    cluster: int | None = None


@runtime_checkable
class MentionFinder(Protocol):
    """Finds the mentions of texts; a class of your own will do.

    Attributes:
        usual_types: what its types are usually called by relation models, such as `PERSON` → `PER`.
    """

    @property
    def usual_types(self) -> Mapping[str, str]:
        """What its types are usually called."""
        ...

    def find(self, texts: Iterable[str]) -> Iterator[Sequence[FoundMention]]:
        """The mentions of each text, in the order of the texts, of which not many are taken at a time."""
        ...
