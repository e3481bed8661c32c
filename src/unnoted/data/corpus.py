"""A corpus: documents, their relation vocabulary and candidate pairs, and the labelled priors counted in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, overload

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, entity_types
from unnoted.errors import DataError, DefectLog
from unnoted.io import TextInput, parse_json, read_whole
from unnoted.priors import Priors
from unnoted.utils import nearest, plural, short_repr

NONE_CLASS = "Na"
"""The none class that DocRED's `rel2id.json` lists among the relations; here it is no relation."""


@dataclass(frozen=True, slots=True)
class RelationVocabulary(Sequence[str]):
    """Relation ids in a fixed order, with readable names and descriptions where known.

    Example:
        >>> relations = RelationVocabulary(("P17", "P26"), {"P26": "spouse"})
        >>> relations.position("P26"), relations.name("P26"), relations.name("P17"), len(relations)
        (1, 'spouse', 'P17', 2)
        >>> relations.position("P27")
        Traceback (most recent call last):
        KeyError: "unknown relation 'P27' (nearest: 'P26')"
    """

    ids: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positions = {relation: index for index, relation in enumerate(self.ids)}
        if len(positions) < len(self.ids):
            raise ValueError(f"a relation is listed twice among {short_repr(self.ids)}")
        object.__setattr__(self, "_positions", positions)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self.ids[index]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, relation: object) -> bool:
        return relation in self._positions

    def position(self, relation: str) -> int:
        """The index of a relation; a `KeyError` names the nearest one that exists."""
        try:
            return self._positions[relation]
        except KeyError:
            raise KeyError(f"unknown relation {relation!r}{nearest(relation, self.ids)}") from None

    def name(self, relation: str) -> str:
        """The readable name of a relation, or its id."""
        return self.names.get(relation, relation)

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> "RelationVocabulary":
        """The relations of the labelled facts, sorted, so that a model does not depend on the order of a file."""
        return cls(tuple(sorted({fact.relation for document in documents for fact in document.facts})))

    @classmethod
    def from_file(cls, path: str | Path) -> "RelationVocabulary":
        """Read a JSON file of relations.

        DocRED's `rel_info.json` (id to name), `rel2id.json` (id to number), a list of ids, or an object of id
        to `{"name": ..., "description": ...}`, of which either may be missing.
        """
        try:
            return cls._from_json(parse_json(read_whole(path)))
        except DataError as error:
            raise DataError.from_defect(replace(error.defect, file=TextInput(path).name)) from None

    @classmethod
    def _from_json(cls, content: object) -> "RelationVocabulary":
        if not isinstance(content, list | dict) or not all(isinstance(id, str) for id in content):
            _refuse(short_repr(content), "a list of relations, or an object of them")
        ids: list[str] = list(content)
        if not all(id.strip() for id in ids):
            _refuse("a relation without a name", "a name")
        if len(set(ids)) < len(ids):
            _refuse("a relation that is listed twice", "each relation once")
        if isinstance(content, list):
            return cls(tuple(ids))
        if content and all(type(number) is int for number in content.values()):
            return cls(_in_order_of_numbers(content))
        texts: dict[str, dict[str, str]] = {"name": {}, "description": {}}
        for relation, given in content.items():
            for key, text in (given if isinstance(given, dict) else {"name": given}).items():
                if key not in texts or not isinstance(text, str):
                    found = f"{short_repr(key)}: {short_repr(text)}"
                    _refuse(found, "a name and a description, both text, or a number", relation)
                if text.strip():
                    texts[key][relation] = text
        return cls(tuple(ids), texts["name"], texts["description"])


def _in_order_of_numbers(numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The relations of a `rel2id.json`: the numbers are the columns of a model, so each occurs once."""
    ordered = sorted(numbers, key=numbers.__getitem__)
    for column, relation in enumerate(ordered, min(max(numbers[ordered[0]], 0), 1)):
        if numbers[relation] != column:
            expected = "the numbers 0 or 1 to the last, each of them once"
            _refuse(str(numbers[relation]), expected, relation)
    return tuple(relation for relation in ordered if relation != NONE_CLASS)


def _refuse(found: str, expected: str, relation: str | None = None) -> NoReturn:
    place = None if relation is None else f"relation {short_repr(relation)}"
    raise DataError(found, expected, place=place)


@dataclass(frozen=True, slots=True)
class Corpus(Sequence[Document]):
    """Documents in memory, their relation vocabulary, candidate pairs, and the log of their reading.

    Args:
        documents: in the order of the files.
        relations: fixes the columns of scores and labels.
        candidates: which entity pairs are scored.
        log: the defects that were found while reading.

    Example:
        >>> from unnoted.data import CandidatePairs
        >>> Corpus((Document("d1", (("It", "rained"),), ()),), RelationVocabulary(("P17",)), CandidatePairs())
        <Corpus: 1 document, 1 relation, 0 facts>
    """

    documents: tuple[Document, ...]
    relations: RelationVocabulary
    candidates: CandidatePairs
    log: DefectLog = field(default_factory=DefectLog, compare=False)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> "Corpus": ...
    def __getitem__(self, index: int | slice) -> "Document | Corpus":
        """A document, or a part of the corpus with the same relations and candidates."""
        if isinstance(index, slice):
            return replace(self, documents=self.documents[index])
        return self.documents[index]

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __repr__(self) -> str:
        parts = (
            plural(len(self.documents), "document"),
            plural(len(self.relations), "relation"),
            plural(sum(len(document.facts) for document in self.documents), "fact"),
        )
        return f"<Corpus: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from unnoted.data.visualization import notebook_list  # needs jinja2, which reading does not

        return notebook_list(repr(self)[1:-1], self.documents, self.relations.names, self.entity_types)

    @property
    def labelled_priors(self) -> Priors:
        """The share of candidate pairs labelled with each relation; multiply it for an overall prior.

        A fact whose pair is no candidate, or whose relation is not in the vocabulary, is not counted. An
        explicit negative counts as any other pair without the label.

        Raises:
            DataError: there are no relations, because no fact is labelled.
        """
        if not self.relations:
            found = f"no fact in {plural(len(self), 'document')}"
            raise DataError(found, "labelled facts to count", file="priors")
        counts = self._count_triples(document.labels for document in self.documents)
        return Priors.from_counts(self.relations.ids, counts, self._pair_count)

    def check_priors(self, priors: Priors) -> None:
        """Refuse overall priors that the explicit negatives contradict.

        Raises:
            DataError: names the relation, its prior and the largest possible one.
        """
        rejected = self._count_triples(document.negatives for document in self.documents)
        pairs = self._pair_count if rejected else 0
        for relation, overall in zip(priors.relations, priors.overall, strict=True):
            count = rejected[relation]
            if count and overall > 1 - count / pairs:
                expected = (
                    f"at most {1 - count / pairs:.3g}: {count} of {plural(pairs, 'pair')} were rejected"
                )
                place, found = f"relation {short_repr(relation)}", f"overall prior {overall:.3g}"
                raise DataError(found, expected, place=place, file="priors")

    @property
    def _pair_count(self) -> int:
        return sum(map(self.candidates.count, self.documents))

    def _count_triples(self, triples: Iterable[Iterable[tuple[int, int, str]]]) -> Counter[str]:
        """How many triples of candidate pairs there are of each relation of the vocabulary."""
        counts: Counter[str] = Counter()
        for document, listed in zip(self.documents, triples, strict=True):
            entities = document.entities
            counts.update(
                relation
                for head, tail, relation in listed
                if relation in self.relations and self.candidates.allows(entities[head], entities[tail])
            )
        return counts

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The types of all mentions, sorted."""
        return tuple(entity_types(self.documents))
