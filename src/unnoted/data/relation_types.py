"""Which types each relation connects, learnt from labels: nobody is born in a date."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unnoted.data.candidates import TypePair
from unnoted.data.document import Document
from unnoted.utils import short_repr


@dataclass(frozen=True, slots=True)
class RelationTypes:
    """The types of head and tail that each relation was labelled with.

    Labels are incomplete, but of a relation with many labels hardly any pair of types is missing. Of types
    that no training document has, nothing is known.

    Attributes:
        types: every type that the documents have, sorted.
        pairs: by relation, the types of head and tail, sorted; a relation without a label is not there.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, york = (Entity((Mention(0, i, i + 1, t, t),)) for i, t in enumerate(("PER", "LOC")))
        >>> document = Document("d1", (("Ada", "York"),), (ada, york), (Fact(0, 1, "born in"),))
        >>> found = RelationTypes.of([document])
        >>> found.types, dict(found.pairs)
        (('LOC', 'PER'), {'born in': (('PER', 'LOC'),)})
        >>> found.allows("born in", "LOC", "PER"), found.allows("born in", "LOC", "planet")
        (False, True)
        >>> RelationTypes.from_json(found.to_json()) == found
        True
    """

    types: tuple[str, ...]
    pairs: Mapping[str, tuple[TypePair, ...]]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "RelationTypes":
        """What the facts of documents say."""
        types: set[str] = set()
        pairs: dict[str, set[TypePair]] = {}
        for document in documents:
            kinds = [entity.type for entity in document.entities]
            types.update(mention.type for entity in document.entities for mention in entity.mentions)
            for fact in document.facts:
                pairs.setdefault(fact.relation, set()).add((kinds[fact.head], kinds[fact.tail]))
        return cls(
            tuple(sorted(types)), {relation: tuple(sorted(pairs[relation])) for relation in sorted(pairs)}
        )

    def allows(self, relation: str, head: str, tail: str) -> bool:
        """Whether a relation may connect two types: it was labelled so, or one of them is not known."""
        known = head in self.types and tail in self.types
        return not known or (head, tail) in self.pairs.get(relation, ())

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; `from_json` reads it."""
        pairs = {relation: [list(pair) for pair in pairs] for relation, pairs in self.pairs.items()}
        return {"types": list(self.types), "pairs": pairs}

    @classmethod
    def from_json(cls, value: object) -> "RelationTypes":
        """What `to_json` wrote.

        Raises:
            ValueError: it is something else.
        """
        if not isinstance(value, Mapping) or not _is_written(value.get("types"), value.get("pairs")):
            raise ValueError(
                f"relation_types: found {short_repr(value)}, expected types, and pairs of them for each relation"
            )
        pairs = {
            str(relation): tuple((head, tail) for head, tail in found)
            for relation, found in value["pairs"].items()
        }
        return cls(tuple(value["types"]), pairs)


def _is_written(types: object, pairs: object) -> bool:
    """Whether these are a list of types, and a list of pairs of them for each relation."""
    if not _are_names(types) or not isinstance(pairs, Mapping):
        return False
    lists = list(pairs.values())
    return all(isinstance(found, list) for found in lists) and all(
        _are_names(pair) and len(pair) == 2 for found in lists for pair in found
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
