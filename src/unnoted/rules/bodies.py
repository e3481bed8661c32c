"""What a rule asks for: the shapes of facts from which another one may follow.

A body is matched against the facts of one document. Every match is an ordered pair of entities, head and
tail of what the rule concludes, with the facts that it rests on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from unnoted.data.document import Triple
from unnoted.utils import lookup

Pair: TypeAlias = tuple[int, int]
"""Head and tail of a conclusion."""

Premises: TypeAlias = tuple[Triple, ...]
"""The facts that a conclusion rests on, in the order of the rule."""

Matches: TypeAlias = Mapping["RuleBody", Mapping[Pair, tuple[Premises, ...]]]
"""The pairs for which each body holds, with every way in which it does."""

Namer: TypeAlias = Callable[[str], str]
"""From the id of a relation to its readable name."""


class RuleBody(Protocol):
    """The shape of the facts that a rule rests on."""

    kind: ClassVar[str]

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the premises, in order."""
        ...

    def line(self, name: Namer) -> str:
        """The body as people read it, with `h` and `t` for head and tail of the conclusion."""
        ...

    def says(self, conclusion: str) -> bool:
        """Whether a body of this shape is itself the conclusion, so that nothing follows."""
        ...


@dataclass(frozen=True, slots=True)
class SamePair:
    """r(h, t): another relation of the same pair.

    Example:
        >>> SamePair("P17").line({"P17": "country"}.__getitem__)
        'country(h, t)'
    """

    kind: ClassVar[str] = "same-pair"
    relation: str

    @property
    def relations(self) -> tuple[str, ...]:
        """The premise's relation."""
        return (self.relation,)

    def line(self, name: Namer) -> str:
        """The body as people read it."""
        return f"{name(self.relation)}(h, t)"

    def says(self, conclusion: str) -> bool:
        """A relation of a pair says itself."""
        return conclusion == self.relation


@dataclass(frozen=True, slots=True)
class Inverse:
    """r(t, h): a relation the other way round; with r itself as the conclusion, r is symmetric.

    Example:
        >>> Inverse("P26").line(str)
        'P26(t, h)'
    """

    kind: ClassVar[str] = "inverse"
    relation: str

    @property
    def relations(self) -> tuple[str, ...]:
        """The premise's relation."""
        return (self.relation,)

    def line(self, name: Namer) -> str:
        """The body as people read it."""
        return f"{name(self.relation)}(t, h)"

    def says(self, conclusion: str) -> bool:
        """The other way round is always something else."""
        return False


@dataclass(frozen=True, slots=True)
class TwoStep:
    """r(h, k) and s(k, t), by way of a third entity k.

    Example:
        >>> TwoStep("P131", "P17").line(str)
        'P131(h, k) & P17(k, t)'
    """

    kind: ClassVar[str] = "two-step"
    first: str
    second: str

    @property
    def relations(self) -> tuple[str, ...]:
        """The premises' relations."""
        return self.first, self.second

    def line(self, name: Namer) -> str:
        """The body as people read it."""
        return f"{name(self.first)}(h, k) & {name(self.second)}(k, t)"

    def says(self, conclusion: str) -> bool:
        """The pair of the conclusion is none of the premises' pairs."""
        return False


BODIES: Mapping[str, Callable[..., RuleBody]] = {
    each.kind: each for each in (SamePair, Inverse, TwoStep)
}  # fmt: skip
"""Every shape by its name in files."""


def body_of(kind: str, relations: Iterable[str]) -> RuleBody:
    """A body from its name and the relations of its premises.

    Example:
        >>> body_of("two-step", ["P131", "P17"])
        TwoStep(first='P131', second='P17')
    """
    return lookup("kind of rule", kind, BODIES)(*relations)


def matches(facts: Iterable[Triple]) -> Matches:
    """All bodies that hold among the facts of one document.

    Example:
        >>> found = matches([(0, 1, "P131"), (1, 2, "P17")])
        >>> found[TwoStep("P131", "P17")]
        {(0, 2): (((0, 1, 'P131'), (1, 2, 'P17')),)}
        >>> found[Inverse("P17")]
        {(2, 1): (((1, 2, 'P17'),),)}
    """
    facts = sorted(set(facts))
    found: dict[RuleBody, dict[Pair, tuple[Premises, ...]]] = defaultdict(dict)
    for body, pair, premises in _each_match(facts):
        found[body][pair] = (*found[body].get(pair, ()), premises)
    return dict(found)


def _each_match(facts: list[Triple]) -> Iterator[tuple[RuleBody, Pair, Premises]]:
    going_out: dict[int, list[Triple]] = defaultdict(list)
    for fact in facts:
        going_out[fact[0]].append(fact)
    for fact in facts:
        head, middle, relation = fact
        yield SamePair(relation), (head, middle), (fact,)
        yield Inverse(relation), (middle, head), (fact,)
        for onward in going_out[middle]:
            _, tail, second = onward
            if tail not in (head, middle):
                yield TwoStep(relation, second), (head, tail), (fact, onward)
