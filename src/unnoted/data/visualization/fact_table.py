"""The facts that are drawn with a document: plain ones, or in groups with further columns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


class DrawableFact(Protocol):
    """Whatever has a head, a tail, a relation and evidence, as labelled and predicted facts have."""

    @property
    def head(self) -> int: ...  # noqa: D102
    @property
    def tail(self) -> int: ...  # noqa: D102
    @property
    def relation(self) -> str: ...  # noqa: D102
    @property
    def evidence(self) -> tuple[int, ...]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class FactCell:
    """What a further column says of a fact.

    Attributes:
        text: as it is written.
        strong: whether it stands out; else it is set in a softer colour.
        spoken: what is read aloud before it, where the eye sees it by the look.
    """

    text: str
    strong: bool = True
    spoken: str = ""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact as it is drawn, with a cell for every further column."""

    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()
    cells: tuple[FactCell, ...] = ()


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts under one heading.

    Attributes:
        lines: the facts.
        title: the heading; none if it is empty.
        symbol: stands before each of the facts.
        name: a word for the class `state-NAME`, by which a page may colour the symbol.
    """

    lines: tuple[FactLine, ...]
    title: str = ""
    symbol: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class FactTable:
    """All facts that are drawn with a document.

    Attributes:
        groups: in the order of reading.
        columns: the titles of the further columns.

    Example:
        >>> from unnoted.data.document import Fact
        >>> table = FactTable.of([Fact(0, 1, "spouse", (2,))])
        >>> list(table.lines())
        [FactLine(head=0, tail=1, relation='spouse', evidence=(2,), cells=())]
    """

    groups: tuple[FactGroup, ...]
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: "Iterable[DrawableFact] | FactTable") -> "FactTable":
        """Plain facts in one group without a heading; a table stays what it is."""
        if isinstance(facts, FactTable):
            return facts
        lines = (FactLine(fact.head, fact.tail, fact.relation, tuple(fact.evidence)) for fact in facts)
        return cls((FactGroup(tuple(lines)),))

    def lines(self) -> Iterator[FactLine]:
        """Every fact, in the order of reading."""
        for group in self.groups:
            yield from group.lines
