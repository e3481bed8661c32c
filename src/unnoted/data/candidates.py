"""Which ordered pairs of entities may stand in a relation.

A candidate pair without a fact is unlabelled. A pair that is no candidate is never scored: it is outside the
task, as a gene "treating" a disease is outside ChemDisGene's.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document, Entity
from unnoted.utils import nearest, short_repr

Indices: TypeAlias = NDArray[np.int32]
"""Entity indices within a document."""

TypePair: TypeAlias = tuple[str, str]
"""The types of head and tail."""

JSONCandidates: TypeAlias = str | list[list[str]] | dict[str, str | list[list[str]]]
"""What a rule is written as in JSON: "all", a list of [head type, tail type], or either of them under
"in one sentence"."""

LABELLED = "labelled"
"""The name of `labelled_types`, or of all pairs where that is None, in a setting."""

MOST_UNSEEN = 0.01
"""The share of facts that type pairs without a label may hold, as estimated, for them to be left out."""

IN_ONE_SENTENCE = "in one sentence"
"""What follows a rule, on a command line or in JSON, whose pairs must be mentioned in one sentence."""


class Candidates(Protocol):
    """A rule that says which ordered pairs of a document's entities are scored.

    Pairs come ordered by head, then by tail; that order is the order of the rows of scores and labels.
    """

    def arrays(self, document: Document) -> tuple[Indices, Indices]:
        """The heads and the tails of the document's pairs."""
        ...

    def pairs(self, document: Document) -> list[tuple[int, int]]:
        """The document's pairs as (head, tail)."""
        ...

    def count(self, document: Document) -> int:
        """How many pairs the document has, without listing them."""
        ...

    def allows(self, head: Entity, tail: Entity) -> bool:
        """Whether two different entities make a pair."""
        ...

    @property
    def types(self) -> frozenset[TypePair] | None:
        """The (head type, tail type) that pairs may have; None for any."""
        ...

    def to_json(self) -> JSONCandidates:
        """The rule as a JSON value; `from_json` reads it back."""
        ...


def listed(arrays: tuple[Indices, Indices], entities: int) -> list[tuple[int, int]]:
    """Heads and tails as a list of (head, tail), in which each index is one object: there may be millions."""
    numbers = list(range(entities))
    return [(numbers[head], numbers[tail]) for head, tail in zip(*arrays, strict=True)]


@dataclass(frozen=True, slots=True)
class AllPairs:
    """Every ordered pair of two different entities, as in DocRED.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> entity = Entity((Mention(0, 0, 1, "PER", "Ada"),))
        >>> document = Document("d1", (("Ada",),), (entity, entity, entity))
        >>> AllPairs().pairs(document)
        [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
        >>> AllPairs().count(document), AllPairs().to_json()
        (6, 'all')
    """

    def arrays(self, document: Document) -> tuple[Indices, Indices]:
        """The heads and the tails of the document's pairs, ordered by head, then by tail."""
        return _all_ordered(len(document.entities))

    def pairs(self, document: Document) -> list[tuple[int, int]]:
        """The document's pairs as (head, tail), ordered by head, then by tail."""
        return list(permutations(range(len(document.entities)), 2))

    def count(self, document: Document) -> int:
        """How many pairs the document has."""
        entities = len(document.entities)
        return entities * (entities - 1)

    def allows(self, head: Entity, tail: Entity) -> bool:
        """Always."""
        return True

    @property
    def types(self) -> None:
        """Any."""
        return None

    def to_json(self) -> str:
        """The rule as a JSON value."""
        return "all"


FEW = 256
"""Up to how many entities the pairs are kept for the next document of that size."""


def _all_ordered(entities: int) -> tuple[Indices, Indices]:
    return _kept_pairs(entities) if entities <= FEW else _ordered(entities)


@lru_cache(maxsize=64)
def _kept_pairs(entities: int) -> tuple[Indices, Indices]:
    return _ordered(entities)


def _ordered(entities: int) -> tuple[Indices, Indices]:
    """Every ordered pair, made without anything larger than the result."""
    numbers = np.arange(entities, dtype=np.int32)
    heads = np.repeat(numbers, max(entities - 1, 0))
    tails = np.tile(numbers[:-1], entities)
    tails += tails >= heads  # passes over the head itself
    for array in (heads, tails):
        array.flags.writeable = False  # shared by every document of this size
    return heads, tails


@dataclass(frozen=True, slots=True)
class TypePairs:
    """The ordered pairs of two different entities whose types are among `types`.

    An entity's type is `Entity.type`, that of its first mention.

    Args:
        types: the allowed (head type, tail type).

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> drug, disease = (Entity((Mention(0, 0, 1, type, type),)) for type in ("Chemical", "Disease"))
        >>> document = Document("d1", (("words",),), (disease, drug, drug))
        >>> rule = TypePairs(frozenset({("Chemical", "Disease")}))
        >>> rule.pairs(document), rule.count(document)
        ([(1, 0), (2, 0)], 2)
        >>> from_json(rule.to_json()) == rule
        True
    """

    types: frozenset[TypePair]

    def arrays(self, document: Document) -> tuple[Indices, Indices]:
        """The heads and the tails of the document's pairs, ordered by head, then by tail."""
        types = [entity.type for entity in document.entities]
        tails_of = {
            head_type: np.array([(head_type, tail_type) in self.types for tail_type in types], dtype=bool)
            for head_type in set(types)
        }
        allowed = np.array([tails_of[head_type] for head_type in types], dtype=bool)
        allowed = allowed.reshape(len(types), len(types))  # also when there is no entity
        np.fill_diagonal(allowed, False)
        heads, tails = allowed.nonzero()
        return heads.astype(np.int32), tails.astype(np.int32)

    def pairs(self, document: Document) -> list[tuple[int, int]]:
        """The document's pairs as (head, tail), ordered by head, then by tail."""
        return listed(self.arrays(document), len(document.entities))

    def count(self, document: Document) -> int:
        """How many pairs the document has, from the number of entities of each type."""
        having = Counter(entity.type for entity in document.entities)
        return sum(having[head] * (having[tail] - (head == tail)) for head, tail in self.types)

    def allows(self, head: Entity, tail: Entity) -> bool:
        """Whether their types are among `types`."""
        return (head.type, tail.type) in self.types

    def to_json(self) -> list[list[str]]:
        """The rule as a JSON value, the same for equal rules."""
        return [list(pair) for pair in sorted(self.types)]


@dataclass(frozen=True, slots=True)
class InOneSentence:
    """The pairs of another rule for which some sentence mentions both entities.

    This is what distant supervision assumes: a label from a database says that a fact is known, and
    what states it is a sentence that mentions both. A label of two entities that never meet is then no label.

    Args:
        rule: the other one.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> ada, ben, cy = (Entity((Mention(s, 0, 1, "PER", "w"),)) for s in (0, 0, 1))
        >>> document = Document("d1", (("Ada", "Ben"), ("Cy",)), (ada, ben, cy))
        >>> rule = InOneSentence(AllPairs())
        >>> rule.pairs(document), rule.allows(ada, cy), rule.to_json()
        ([(0, 1), (1, 0)], False, {'in one sentence': 'all'})
    """

    rule: AllPairs | TypePairs

    def arrays(self, document: Document) -> tuple[Indices, Indices]:
        """The heads and the tails of the document's pairs, ordered by head, then by tail."""
        heads, tails = self.rule.arrays(document)
        mentioned = np.zeros((len(document.entities), len(document.sentences)), dtype=np.float32)  # [E, S]
        for number, entity in enumerate(document.entities):
            mentioned[number, list(entity.sentences)] = 1
        meet = (mentioned @ mentioned.T > 0)[heads, tails]  # [P]
        return heads[meet], tails[meet]

    def pairs(self, document: Document) -> list[tuple[int, int]]:
        """The document's pairs as (head, tail), ordered by head, then by tail."""
        return listed(self.arrays(document), len(document.entities))

    def count(self, document: Document) -> int:
        """How many pairs the document has."""
        return len(self.arrays(document)[0])

    def allows(self, head: Entity, tail: Entity) -> bool:
        """Whether the other rule does, and a sentence mentions both."""
        return self.rule.allows(head, tail) and not head.sentences.isdisjoint(tail.sentences)

    @property
    def types(self) -> frozenset[TypePair] | None:
        """Those of the other rule."""
        return self.rule.types

    def to_json(self) -> dict[str, str | list[list[str]]]:
        """The rule as a JSON value."""
        return {IN_ONE_SENTENCE: self.rule.to_json()}


def observed(documents: Iterable[Document]) -> TypePairs:
    """The type pairs that stand in some fact of the documents."""
    return TypePairs(
        frozenset(
            (document.entities[fact.head].type, document.entities[fact.tail].type)
            for document in documents
            for fact in document.facts
        )
    )


def labelled_types(documents: Iterable[Document]) -> TypePairs | None:
    """The type pairs of labelled facts, if they hold nearly all facts; None if too few labels say so.

    The share of facts whose type pair has no label yet is estimated by that of labels which are the only
    one of their type pair (Good and Turing): with many labels of few types there are none, with few labels
    there are many.

    Args:
        documents: with labels.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, kelm = (Entity((Mention(0, i, i + 1, t, t),)) for i, t in enumerate(("PER", "LOC")))
        >>> document = Document("d1", (("Ada", "Kelm"),), (ada, kelm), (Fact(0, 1, "born in"),))
        >>> labelled_types([document]), labelled_types([document] * 2)
        (None, TypePairs(types=frozenset({('PER', 'LOC')})))
    """
    labels = Counter(
        (document.entities[fact.head].type, document.entities[fact.tail].type)
        for document in documents
        for fact in document.facts
    )
    single = sum(count == 1 for count in labels.values())
    return TypePairs(frozenset(labels)) if single <= MOST_UNSEEN * labels.total() and labels else None


def from_json(value: object) -> AllPairs | TypePairs | InOneSentence:
    """The rule that `to_json` wrote.

    Raises:
        ValueError: if the value is no such rule.
    """
    rule = value.get(IN_ONE_SENTENCE) if isinstance(value, dict) and len(value) == 1 else value
    found: AllPairs | TypePairs
    if rule == "all":
        found = AllPairs()
    elif isinstance(rule, list) and all(map(_is_type_pair, rule)):
        found = TypePairs(frozenset((head, tail) for head, tail in rule))
    else:
        raise ValueError(
            f'candidate pairs: found {short_repr(value)}, expected "all" or a list of [head type, tail type], '
            f'or either under "{IN_ONE_SENTENCE}"'
        )
    return found if rule is value else InOneSentence(found)


def _is_type_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(type, str) for type in value)


TYPES_LISTED = 50
"""How many entity types a message lists."""


def known_types(types: Collection[str]) -> str:
    """The entity types that documents have, as a message lists what was expected of candidate pairs.

    Example:
        >>> known_types({"PER", "LOC"})
        'pairs of the types that the documents have: LOC, PER'
    """
    rest = f" and {len(types) - TYPES_LISTED} more" if len(types) > TYPES_LISTED else ""
    listed_types = ", ".join(sorted(types)[:TYPES_LISTED])
    return f"pairs of the types that the documents have: {listed_types}{rest}"


def parse(text: str, known: Collection[str] | None = None) -> AllPairs | TypePairs | InOneSentence:
    """The rule that a command line names: "all", or "Chemical:Disease,Chemical:Gene".

    "in one sentence" may follow either.

    Args:
        text: what the user wrote.
        known: the entity types of the data; a type outside them is refused. None allows any.

    Raises:
        ValueError: if it names no rule; the message says which part and what was expected.

    Example:
        >>> parse("all"), parse("Chemical:Gene").to_json()
        (AllPairs(), [['Chemical', 'Gene']])
        >>> parse("Chemical:Gene in one sentence").to_json()
        {'in one sentence': [['Chemical', 'Gene']]}
        >>> parse("Gene:Diseas", known=("Disease", "Gene"))
        Traceback (most recent call last):
        ValueError: candidate pairs: found type 'Diseas', expected one of Disease, Gene (nearest: 'Disease')
    """
    plain = text.strip().removesuffix(f" {IN_ONE_SENTENCE}")
    rule: AllPairs | TypePairs = AllPairs()
    if plain.strip() != "all":
        rule = TypePairs(frozenset(_parse_pair(part, known) for part in plain.split(",")))
    return rule if plain == text.strip() else InOneSentence(rule)


def _parse_pair(part: str, known: Collection[str] | None) -> TypePair:
    types = [type.strip() for type in part.split(":")]
    if len(types) != 2 or not all(types):
        raise ValueError(f"candidate pairs: found {short_repr(part)}, expected HeadType:TailType, or all")
    for type in types:
        if known is not None and type not in known:
            expected = ", ".join(sorted(known)) + nearest(type, known)
            raise ValueError(f"candidate pairs: found type {short_repr(type)}, expected one of {expected}")
    return types[0], types[1]
