"""What became of a corpus when its features were made: nothing is left out without being counted."""

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class FeatureReport:
    """Counts over documents; reports of parts of a corpus add up to that of the whole.

    Every fact is counted once: as kept, or under the first reason that keeps it out, in the order below.

    Attributes:
        documents: how many there are.
        tokens: with markers, start and end tokens.
        mentions: all are kept.
        pairs: candidate pairs.
        facts: kept as labels.
        self_facts: relate an entity to itself.
        unknown_relations: facts whose relation is not in the vocabulary, by relation.
        excluded_types: facts whose pair is no candidate, by "head type:tail type".
        repeated_facts: noted before in the same document.
        empty_words: words for which the tokenizer has no token.
        negatives: known negatives that were kept.
        idle_negatives: known negatives of another relation or pair than those that are learnt, which are not.

    Example:
        >>> whole = FeatureReport(facts=2, self_facts=1) + FeatureReport(unknown_relations=Counter(spouse=3))
        >>> whole.left_out, whole.lines()
        (4, ['1 fact(s) relate an entity to itself', "3 fact(s) of the unknown relation 'spouse'"])
    """

    documents: int = 0
    tokens: int = 0
    mentions: int = 0
    pairs: int = 0
    facts: int = 0
    self_facts: int = 0
    unknown_relations: Counter[str] = field(default_factory=Counter)
    excluded_types: Counter[str] = field(default_factory=Counter)
    repeated_facts: int = 0
    empty_words: int = 0
    negatives: int = 0
    idle_negatives: int = 0

    def __add__(self, other: "FeatureReport") -> "FeatureReport":
        return FeatureReport(
            **{part.name: getattr(self, part.name) + getattr(other, part.name) for part in fields(self)}
        )

    @property
    def left_out(self) -> int:
        """How many facts are no label, repeated ones aside."""
        return self.self_facts + self.unknown_relations.total() + self.excluded_types.total()

    def lines(self) -> list[str]:
        """What a user should be told, one sentence a line; empty if there is nothing to tell."""
        told = [
            (self.self_facts, "fact(s) relate an entity to itself"),
            *(
                (n, f"fact(s) of the unknown relation {name!r}")
                for name, n in _sorted(self.unknown_relations)
            ),
            *((n, f"fact(s) between {types}, no candidates") for types, n in _sorted(self.excluded_types)),
            (self.repeated_facts, "fact(s) noted twice, kept once"),
            (self.empty_words, "word(s) without a token"),
            (self.idle_negatives, "known negative(s) of no use: another relation, or no candidates"),
        ]
        return [f"{count} {what}" for count, what in told if count]

    def to_json(self) -> dict[str, int | dict[str, int]]:
        """The counts as JSON values; `from_json` reads them back."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: dict(v) if isinstance(v, Counter) else v for name, v in values.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "FeatureReport":
        """The report that `to_json` wrote."""
        counters = ("unknown_relations", "excluded_types")
        return cls(**(values | {name: Counter(values[name]) for name in counters}))


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items())
