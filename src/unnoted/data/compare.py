"""Comparison of two labellings of the same documents: which facts one of them misses.

The ratio of true to labelled facts is what a prior multiplier has to be; it differs by relation.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from unnoted.data.document import Document, Entity

PSEUDO_LABELS = 5
"""So many labels with the multiplier of all relations are added to those of each: a few say little."""


@dataclass(frozen=True, slots=True)
class RelationComparison:
    """One relation under the labellings A and B."""

    relation: str
    in_a: int
    in_b: int
    in_both: int

    @property
    def missed(self) -> int:
        """Facts of B that A does not have."""
        return self.in_b - self.in_both

    @property
    def only_a(self) -> int:
        """Facts of A that B does not have."""
        return self.in_a - self.in_both

    @property
    def ratio(self) -> float | None:
        """Facts in B for each in A; None where A has none."""
        return self.in_b / self.in_a if self.in_a else None

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return asdict(self) | {"missed": self.missed, "only_a": self.only_a, "ratio": self.ratio}


@dataclass(slots=True)
class LabellingComparison:
    """Two labellings of the same documents, A and B.

    Attributes:
        compared: the number of documents.
        not_compared: ids of the others, by reason.
        in_a: facts of A by relation.
        in_b: facts of B.
        in_both: facts of both.
    """

    compared: int = 0
    not_compared: dict[str, list[str]] = field(
        default_factory=lambda: {"entities differ": [], "words differ": [], "only in A": [], "only in B": []}
    )
    in_a: Counter[str] = field(default_factory=Counter)
    in_b: Counter[str] = field(default_factory=Counter)
    in_both: Counter[str] = field(default_factory=Counter)

    @property
    def overall(self) -> RelationComparison:
        """All relations together."""
        counts = self.in_a.total(), self.in_b.total(), self.in_both.total()
        return RelationComparison("all relations", *counts)

    @property
    def relations(self) -> list[RelationComparison]:
        """Each relation, the most frequent of B first."""
        names = sorted(self.in_a.keys() | self.in_b.keys(), key=lambda name: (-self.in_b[name], name))
        return [RelationComparison(n, self.in_a[n], self.in_b[n], self.in_both[n]) for n in names]

    @property
    def median_ratio(self) -> float | None:
        """The median over the relations that A has."""
        ratios = [row.ratio for row in self.relations if row.ratio is not None]
        return median(ratios) if ratios else None

    def priors(self, relations: Collection[str]) -> dict[str, dict[str, float]]:
        """What `Priors.from_file` reads: multipliers by relation, shrunk towards that of all (`*`), at least 1.

        Raises:
            ValueError: A has no facts.

        Example:
            >>> from collections import Counter
            >>> found = LabellingComparison(in_a=Counter(spouse=5, child=15), in_b=Counter(spouse=25, child=15))
            >>> found.priors(["spouse", "child", "born in"])
            {'*': {'multiplier': 2.0}, 'spouse': {'multiplier': 3.5}, 'child': {'multiplier': 1.25}}
        """
        if self.overall.ratio is None:
            raise ValueError("the first labelling has no facts to compare; give documents that have some")
        overall = max(1.0, self.overall.ratio)

        def shrunk(row: RelationComparison) -> float:
            return max(1.0, (row.in_b + PSEUDO_LABELS * overall) / (row.in_a + PSEUDO_LABELS))

        rows = {row.relation: shrunk(row) for row in self.relations if row.relation in relations}
        return {name: {"multiplier": round(value, 4)} for name, value in {"*": overall, **rows}.items()}

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "documents_compared": self.compared,
            "not_compared": {reason.replace(" ", "_"): ids for reason, ids in self.not_compared.items()},
            "overall": self.overall.to_json(),
            "median_ratio": self.median_ratio,
            "relations": [row.to_json() for row in self.relations],
        }


def compare_labels(a: Iterable[Document], b: Iterable[Document]) -> LabellingComparison:
    """Compare two labellings of the same documents, which are matched by id.

    Entities are matched by their mentions, because their order may differ between labellings. A document
    whose words or entities differ is listed instead.
    """
    result = LabellingComparison()
    others = {document.id: document for document in b}
    for document in a:
        other = others.pop(document.id, None)
        if other is None:
            result.not_compared["only in A"].append(document.id)
        elif document.sentences != other.sentences:
            result.not_compared["words differ"].append(document.id)
        elif (mapping := match_entities(document, other)) is None:
            result.not_compared["entities differ"].append(document.id)
        else:
            labels = {(mapping[head], mapping[tail], relation) for head, tail, relation in document.labels}
            result.compared += 1
            result.in_a.update(relation for *_, relation in labels)
            result.in_b.update(relation for *_, relation in other.labels)
            result.in_both.update(relation for *_, relation in labels & other.labels)
    result.not_compared["only in B"] = list(others)
    return result


def match_entities(document: Document, other: Document) -> Sequence[int] | None:
    """For each entity of `document`, its index in `other`; None unless they match one to one.

    Entities match by the places of their mentions; where several have the same places, by types and names,
    then by order.
    """
    by_places: defaultdict[frozenset[tuple[int, int, int]], list[int]] = defaultdict(list)
    for index, entity in enumerate(other.entities):
        by_places[_places(entity)].append(index)
    mapping: list[int] = []
    for entity in document.entities:
        candidates = by_places[_places(entity)]
        if not candidates:
            return None
        equal = (index for index in candidates if other.entities[index].mentions == entity.mentions)
        mapping.append(next(equal, candidates[0]))
        candidates.remove(mapping[-1])
    return mapping if len(mapping) == len(other.entities) else None


def _places(entity: Entity) -> frozenset[tuple[int, int, int]]:
    return frozenset(mention.span for mention in entity.mentions)
