"""Candidate pairs: which ordered entity pairs of a document are scored.

A candidate pair without a fact is unlabelled. A pair that is no candidate is never scored: it is outside the
task, as a gene that "treats" a disease is outside ChemDisGene's.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document, Entity
from unnoted.utils import nearest, short_repr

Indices: TypeAlias = NDArray[np.int32]
"""Entity indices within a document."""

TypePair: TypeAlias = tuple[str, str]
"""The types of head and tail."""

JSONCandidates: TypeAlias = str | list[list[str]] | dict[str, str | list[list[str]]]
"""Candidate pairs in JSON: "all", a list of [head type, tail type], or {"intra_sentence": either of them}."""

LARGEST_UNSEEN_SHARE = 0.01
"""The estimated share of facts of type pairs without a label up to which these type pairs are left out."""

_SUFFIX = "intra-sentence"
_KEY = "intra_sentence"


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """The ordered pairs of two different entities that are scored, by default all of them.

    Pairs come ordered by head, then by tail: the order of the rows of scores and labels. An entity's type is
    that of its first mention.

    Args:
        types: the (head type, tail type) of the pairs; None for any.
        intra_sentence: only pairs that some sentence mentions both entities of, as distant supervision assumes.

    Example:
        >>> from unnoted.data import Mention
        >>> ada, ben, kelm = (
        ...     Entity((Mention(sentence, 0, 1, type, "w"),)) for sentence, type in ((0, "PER"), (1, "PER"), (1, "LOC"))
        ... )
        >>> document = Document("d1", (("w",), ("w",)), (ada, ben, kelm))
        >>> [side.tolist() for side in CandidatePairs().index_pairs(document)]
        [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
        >>> people = CandidatePairs(frozenset({("PER", "LOC")}))
        >>> [side.tolist() for side in people.index_pairs(document)], people.count(document)
        ([[0, 1], [2, 2]], 2)
        >>> CandidatePairs(people.types, intra_sentence=True).count(document)
        1
    """

    types: frozenset[TypePair] | None = None
    intra_sentence: bool = False

    def index_pairs(self, document: Document) -> tuple[Indices, Indices]:
        """The heads and the tails of the document's candidate pairs, as entity indices."""
        entities = document.entities
        allowed = np.ones((len(entities), len(entities)), dtype=bool)  # [E, E]
        if self.types is not None:
            numbers = {type: number for number, type in enumerate({entity.type for entity in entities})}
            table = np.zeros((len(numbers), len(numbers)), dtype=bool)
            for head, tail in self.types:
                if head in numbers and tail in numbers:
                    table[numbers[head], numbers[tail]] = True
            of_entity = np.array([numbers[entity.type] for entity in entities], dtype=np.intp)
            allowed &= table[of_entity[:, None], of_entity]
        if self.intra_sentence:
            mentioned = np.zeros((len(entities), len(document.sentences)), dtype=np.float32)  # [E, S]
            for number, entity in enumerate(entities):
                mentioned[number, list(entity.sentences)] = 1
            allowed &= mentioned @ mentioned.T > 0
        np.fill_diagonal(allowed, False)
        heads, tails = allowed.nonzero()  # each [P]
        return heads.astype(np.int32), tails.astype(np.int32)

    def count(self, document: Document) -> int:
        """The number of candidate pairs of a document, without listing them if it can be done."""
        if self.intra_sentence:
            return len(self.index_pairs(document)[0])
        entities = len(document.entities)
        if self.types is None:
            return entities * (entities - 1)
        having = Counter(entity.type for entity in document.entities)
        return sum(having[head] * (having[tail] - (head == tail)) for head, tail in self.types)

    def allows(self, head: Entity, tail: Entity) -> bool:
        """Whether two different entities are a candidate pair."""
        return (self.types is None or (head.type, tail.type) in self.types) and not (
            self.intra_sentence and head.sentences.isdisjoint(tail.sentences)
        )

    @classmethod
    def from_facts(cls, documents: Iterable[Document]) -> "CandidatePairs":
        """The type pairs of the labelled facts."""
        return cls(frozenset(_count_type_pairs(documents)))

    def to_json(self) -> JSONCandidates:
        """A JSON value for `from_json`, the same for equal candidates."""
        types = "all" if self.types is None else [list(pair) for pair in sorted(self.types)]
        return {_KEY: types} if self.intra_sentence else types

    @classmethod
    def from_json(cls, value: object) -> "CandidatePairs":
        """The candidates that `to_json` wrote.

        Example:
            >>> CandidatePairs.from_json({"intra_sentence": [["PER", "LOC"]]})
            CandidatePairs(types=frozenset({('PER', 'LOC')}), intra_sentence=True)
        """
        intra_sentence = isinstance(value, dict) and list(value) == [_KEY]
        types = value[_KEY] if isinstance(value, dict) and intra_sentence else value
        if types == "all":
            return cls(None, intra_sentence)
        if isinstance(types, list) and all(
            isinstance(pair, list) and [type(each) for each in pair] == [str, str] for pair in types
        ):
            return cls(frozenset((head, tail) for head, tail in types), intra_sentence)
        raise ValueError(
            f'candidate pairs must be "all", a list of [head type, tail type], or {{"{_KEY}": either}}, '
            f"not {short_repr(value)}"
        )

    @classmethod
    def parse(cls, text: str, known: Collection[str] | None = None) -> "CandidatePairs":
        """The candidates that a command line names: "all", "Chemical:Disease,Chemical:Gene", "all intra-sentence".

        Args:
            text: type pairs, or "all"; "intra-sentence" may follow either.
            known: the entity types of the data; a type outside them is refused. None allows any.

        Raises:
            ValueError: it names no candidate pairs; the message says which part and what is valid.

        Example:
            >>> CandidatePairs.parse("Chemical:Gene intra-sentence").to_json()
            {'intra_sentence': [['Chemical', 'Gene']]}
            >>> CandidatePairs.parse("Gene:Diseas", known=("Disease", "Gene"))
            Traceback (most recent call last):
            ValueError: unknown entity type 'Diseas', expected one of Disease, Gene (nearest: 'Disease')
        """
        types = text.strip().removesuffix(f" {_SUFFIX}").strip()
        pairs = None
        if types != "all":
            pairs = frozenset(_parse_pair(part, known) for part in types.split(","))
        return cls(pairs, intra_sentence=text.strip().endswith(f" {_SUFFIX}"))

    def __str__(self) -> str:
        types = "all" if self.types is None else ", ".join(map(":".join, sorted(self.types)))
        return f"{types} {_SUFFIX}" if self.intra_sentence else types


def labelled_candidates(documents: Iterable[Document]) -> CandidatePairs | None:
    """The type pairs of the labelled facts if they hold nearly all facts; None if the labels are too few to tell.

    The share of facts whose type pair has no label is estimated by the share of labels that are the only one
    of their type pair (Good 1953, the Good-Turing estimate).

    Example:
        >>> from unnoted.data import Fact, Mention
        >>> ada, kelm = (Entity((Mention(0, i, i + 1, t, t),)) for i, t in enumerate(("PER", "LOC")))
        >>> document = Document("d1", (("Ada", "Kelm"),), (ada, kelm), (Fact(0, 1, "born in"),))
        >>> print(labelled_candidates([document]), labelled_candidates([document] * 2))
        None PER:LOC
    """
    labels = _count_type_pairs(documents)
    seen_once = sum(count == 1 for count in labels.values())
    trusted = labels and seen_once <= LARGEST_UNSEEN_SHARE * labels.total()
    return CandidatePairs(frozenset(labels)) if trusted else None


def _count_type_pairs(documents: Iterable[Document]) -> Counter[TypePair]:
    return Counter(
        (document.entities[fact.head].type, document.entities[fact.tail].type)
        for document in documents
        for fact in document.facts
    )


def list_types(types: Collection[str], at_most: int = 50) -> str:
    """Entity types as a message lists them."""
    rest = f" and {len(types) - at_most} more" if len(types) > at_most else ""
    return ", ".join(sorted(types)[:at_most]) + rest


def _parse_pair(part: str, known: Collection[str] | None) -> TypePair:
    types = [type.strip() for type in part.split(":")]
    if len(types) != 2 or not all(types):
        raise ValueError(f"candidate pairs must be all, or HeadType:TailType,..., not {short_repr(part)}")
    for type in types:
        if known is not None and type not in known:
            valid = f"expected one of {list_types(known)}{nearest(type, known)}"
            raise ValueError(f"unknown entity type {short_repr(type)}, {valid}")
    return types[0], types[1]
