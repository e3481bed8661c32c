"""Marked text, as annotation tools have it: spans and relations between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from unnoted.data.entity_clustering import cluster_mentions


@dataclass(frozen=True, slots=True)
class Mark:
    """A mention as a tool marks it: characters `start` to `end` (exclusive) of a text.

    Attributes:
        ref: what the tool calls it, such as `T1`.
        start: the first character.
        end: the first character after it.
        type: None where only a coreference link says what it is.
        name: the marked text, as the tool has it.
        id: its entity's id in a knowledge base, if it has one.
        place: where it stands in the source, for messages.
    """

    ref: str
    start: int
    end: int
    type: str | None
    name: str
    id: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class MarkedArc:
    """A relation between two marks, given by their refs."""

    head: str
    tail: str
    relation: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with marks, arcs between them, and the groups of marks that coreference links join.

    `negatives` are arcs of which a person said that they do not hold.

    `words` has the characters of each word, and `sentences` those at which sentences start, where the source
    knows them.
    """

    id: str
    text: str
    marks: Sequence[Mark] = ()
    arcs: Sequence[MarkedArc] = ()
    links: Sequence[Sequence[str]] = ()
    negatives: Sequence[MarkedArc] = ()
    words: Sequence[tuple[int, int]] | None = None
    sentences: Sequence[int] | None = None

    @property
    def entities(self) -> list[list[Mark]]:
        """The marks of each entity: a group of which no mark says of what type it is, is none."""
        groups = cluster_mentions(self.marks, self.links).groups
        return [group for group in groups if any(mark.type is not None for mark in group)]
