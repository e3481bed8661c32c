"""Which mentions are of one entity, where a source marks mentions and not entities.

The rule, in this order: the same id; a coreference link between them; and for a mention that has neither, the
same type and the same name, however it is spaced or capitalised.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    def groups(self) -> list[list[Mark]]:
        """The marks that the rule of this module puts together, in order of their first mark."""
        return [[self.marks[index] for index in group] for group in group_marks(self.marks, self.links)]

    @property
    def entities(self) -> list[list[Mark]]:
        """The marks of each entity: a group of which no mark says of what type it is, is none."""
        return [group for group in self.groups if any(mark.type is not None for mark in group)]


def is_coreference(relation: str) -> bool:
    """Whether a relation joins two mentions to one entity.

    Example:
        >>> is_coreference("COREF"), is_coreference("same as"), is_coreference("spouse")
        (True, True, False)
    """
    return relation.casefold().replace(" ", "_").replace("-", "_") in COREFERENCE


def group_marks(marks: Sequence[Mark], links: Iterable[Sequence[str]] = ()) -> list[list[int]]:
    """The indices of the marks of each entity, in order of their first mark.

    A mark without id and link joins the one linked entity that is called like it; where several are, it
    stands with the other marks of its kind.

    Example:
        >>> ada = Mark("T1", 0, 9, "PER", "Ada Lorne", "Q1")
        >>> she, other = Mark("T2", 11, 14, None, "She"), Mark("T3", 20, 29, "PER", "ada lorne")
        >>> group_marks([ada, she, other], [("T1", "T2")])
        [[0, 1, 2]]
    """
    groups = _Groups(len(marks))
    linked = {ref for refs in links for ref in refs}
    anchored = {index for index, mark in enumerate(marks) if mark.id is not None or mark.ref in linked}
    first_of: dict[tuple[str, object], int] = {}
    for index, mark in enumerate(marks):
        if mark.id is not None:
            groups.join(first_of.setdefault(("id", mark.id), index), index)
    at = {mark.ref: index for index, mark in enumerate(marks)}
    for refs in links:
        known = [at[ref] for ref in refs if ref in at]
        for index in known[1:]:
            groups.join(known[0], index)
    called: defaultdict[object, set[int]] = defaultdict(set)
    for index in anchored:
        called[_kind(marks[index])].add(groups.root(index))
    for index, mark in enumerate(marks):
        if index not in anchored:
            owners = called[_kind(mark)]
            alike = next(iter(owners)) if len(owners) == 1 else first_of.setdefault(("", _kind(mark)), index)
            groups.join(alike, index)
    return groups.listed()


def _kind(mark: Mark) -> tuple[str | None, str]:
    return mark.type, " ".join(mark.name.split()).casefold()


class _Groups:
    """Sets of numbers that grow together; each is known by its smallest number."""

    def __init__(self, size: int) -> None:
        self.parents = list(range(size))

    def root(self, index: int) -> int:
        while self.parents[index] != index:
            self.parents[index] = self.parents[self.parents[index]]
            index = self.parents[index]
        return index

    def join(self, first: int, second: int) -> None:
        low, high = sorted((self.root(first), self.root(second)))
        self.parents[high] = low

    def listed(self) -> list[list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)
        for index in range(len(self.parents)):
            found[self.root(index)].append(index)
        return list(found.values())
