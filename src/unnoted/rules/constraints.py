"""What no rule may conclude: types that a relation never had, and a second tail where there is only one.

Both are read off the noted facts. A second fact of a head is noted only with the share c of true facts that
were noted at all, so that a relation looks more functional than it is: of heads that have two true tails,
about c show both. The share of heads with two noted tails is therefore divided by c.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from unnoted.data.document import Document, Triple

MOST_WITH_TWO = 0.1
"""Up to this share of heads may have a second tail for a relation to be functional."""

FEWEST_HEADS = 20
"""Heads below which a relation is not called functional: nothing can be seen yet."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """The types that each relation may join, and the relations with one tail for a head.

    Attributes:
        types: the (head type, tail type) pairs of each relation; a relation that is not named has none. None
            allows all.
        functional: relations with at most one tail for a head.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> found = Constraints.of(generate_documents(40), {})
        >>> sorted(found.types["born_in"])
        [('PER', 'LOC')]
    """

    types: Mapping[str, frozenset[tuple[str, str]]] | None = field(default_factory=dict)
    functional: frozenset[str] = frozenset()

    @classmethod
    def free(cls) -> "Constraints":
        """Nothing is excluded: for rules that a person has confirmed."""
        return cls(None)

    @classmethod
    def of(cls, documents: Iterable[Document], noted_share: Mapping[str, float]) -> "Constraints":
        """The constraints that the noted facts of documents keep to.

        Args:
            documents: with their noted facts.
            noted_share: of the true facts of a relation, the share that was noted; 1 where it is not given.
        """
        types: dict[str, set[tuple[str, str]]] = defaultdict(set)
        heads: Counter[str] = Counter()
        with_two: Counter[str] = Counter()
        for document in documents:
            entities = document.entities
            tails: Counter[tuple[int, str]] = Counter()
            for head, tail, relation in document.labels:
                types[relation].add((entities[head].type, entities[tail].type))
                tails[head, relation] += 1
            heads.update(relation for _, relation in tails)
            with_two.update(relation for (_, relation), count in tails.items() if count > 1)
        functional = {
            relation for relation, count in heads.items()
            if count >= FEWEST_HEADS
            and with_two[relation] / count / noted_share.get(relation, 1.0) <= MOST_WITH_TWO
        }  # fmt: skip
        return cls({relation: frozenset(pairs) for relation, pairs in types.items()}, frozenset(functional))

    def types_allow(self, document: Document, fact: Triple) -> bool:
        """Whether a fact joins two different entities of types that its relation was noted with."""
        head, tail, relation = fact
        kinds = document.entities[head].type, document.entities[tail].type
        return head != tail and (self.types is None or kinds in self.types.get(relation, ()))

    def has_room(self, fact: Triple, taken: Collection[tuple[int, str]]) -> bool:
        """Whether the head may have this fact beside those that are there.

        Args:
            fact: that is not there yet.
            taken: the (head, relation) of the facts that are there.
        """
        head, _, relation = fact
        return relation not in self.functional or (head, relation) not in taken

    def allow(self, document: Document, fact: Triple, taken: Collection[tuple[int, str]]) -> bool:
        """Whether the fact keeps to all constraints."""
        return self.types_allow(document, fact) and self.has_room(fact, taken)
