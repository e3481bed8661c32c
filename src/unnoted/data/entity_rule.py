"""Which mentions are of one entity, where a source marks mentions and not entities: one rule for all of them.

1. Mentions with the same id are one entity; mentions with different ids never are.
2. Mentions that a coreference link joins are one entity.
3. A mention without id and link belongs to the one such entity that has a mention of its type and normalised
   name; where there is none or there are several, it is one with the other mentions like itself.

The rule is told to users in docs/formats.md.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

COREFERENCE = frozenset({"coref", "coreference", "equiv", "same_as"})
"""Relations that say that two mentions are of one entity, in tools that have no other way to say so."""


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
        groups = group_marks(self.marks, self.links).groups
        return [group for group in groups if any(mark.type is not None for mark in group)]


def is_coreference(relation: str) -> bool:
    """Whether a relation joins two mentions to one entity.

    Example:
        >>> is_coreference("COREF"), is_coreference("same as"), is_coreference("spouse")
        (True, True, False)
    """
    return relation.casefold().replace(" ", "_").replace("-", "_") in COREFERENCE


_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$")


def normalised(name: str) -> str:
    """A name as it is compared: case, width, blanks, a leading article and a closing 's do not count.

    Example:
        >>> normalised("The  World Bank’s"), normalised("ＮＡＳＡ"), normalised("The")
        ('world bank', 'nasa', 'the')
    """
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain))


class GroupedMarks(NamedTuple):
    """What the rule makes of marks.

    Attributes:
        groups: the marks of each entity, in the order of their first marks.
        refused: marks that a link would have joined, and whose entities have different ids.
    """

    groups: list[list[Mark]]
    refused: list[tuple[Mark, Mark]]


def group_marks(marks: Sequence[Mark], links: Iterable[Sequence[str]] = ()) -> GroupedMarks:
    """Put the marks together that are of one entity.

    Args:
        marks: whose refs are all different.
        links: refs of marks that coreference joins; unknown ones are passed over.

    Example:
        >>> ada = Mark("T1", 0, 9, "PER", "Ada Lorne", "Q1")
        >>> she, other = Mark("T2", 11, 14, None, "She"), Mark("T3", 20, 31, "PER", "ada lorne's")
        >>> [[mark.name for mark in group] for group in group_marks([ada, she, other], [("T1", "T2")]).groups]
        [['Ada Lorne', 'She', "ada lorne's"]]
    """
    groups = _Groups([mark.id for mark in marks])
    first_of: dict[object, int] = {}
    for index, mark in enumerate(marks):
        if mark.id is not None:
            groups.join(first_of.setdefault(mark.id, index), index)
    at = {mark.ref: index for index, mark in enumerate(marks)}
    anchored = {index for index, mark in enumerate(marks) if mark.id is not None}
    refused = []
    for refs in links:
        known = [at[ref] for ref in refs if ref in at]
        anchored.update(known)
        refused += [
            (marks[known[0]], marks[index]) for index in known[1:] if not groups.join(known[0], index)
        ]
    called: defaultdict[object, set[int]] = defaultdict(set)
    for index in anchored:
        called[_kind(marks[index])].add(groups.root(index))
    for index, mark in enumerate(marks):
        if index not in anchored:
            kind = _kind(mark)
            owners = called[kind]
            groups.join(next(iter(owners)) if len(owners) == 1 else first_of.setdefault(kind, index), index)
    return GroupedMarks([[marks[index] for index in group] for group in groups.listed()], refused)


def _kind(mark: Mark) -> tuple[str | None, str]:
    return mark.type, normalised(mark.name)


class _Groups:
    """Sets of numbers that grow together, each with at most one id; known by its smallest number."""

    def __init__(self, ids: list[str | None]) -> None:
        self.parents = list(range(len(ids)))
        self.ids = ids

    def root(self, index: int) -> int:
        while self.parents[index] != index:
            self.parents[index] = self.parents[self.parents[index]]
            index = self.parents[index]
        return index

    def join(self, first: int, second: int) -> bool:
        """Join two sets, unless they have different ids; whether they are one now."""
        low, high = sorted((self.root(first), self.root(second)))
        ids = {self.ids[low], self.ids[high]} - {None}
        if len(ids) > 1:
            return False
        self.parents[high] = low
        self.ids[low] = next(iter(ids), None)
        return True

    def listed(self) -> list[list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)
        for index in range(len(self.parents)):
            found[self.root(index)].append(index)
        return list(found.values())
