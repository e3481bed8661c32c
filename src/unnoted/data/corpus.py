"""Documents that belong together, with their relations and candidate pairs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from unnoted.data.candidates import Candidates
from unnoted.data.relations import RelationVocabulary
from unnoted.data.schema import Document
from unnoted.errors import DataError, Defect, DefectLog, Kind
from unnoted.priors import Priors
from unnoted.utils import plural, short_repr


@dataclass(frozen=True, slots=True)
class Corpus(Sequence[Document]):
    """Documents in memory, their relation vocabulary, candidate pairs, and the log of their reading.

    Example:
        >>> from unnoted.data.candidates import AllPairs
        >>> Corpus((Document("d1", (("It", "rained"),), ()),), RelationVocabulary(("P17",)), AllPairs())
        <Corpus: 1 document, 1 relation, 0 facts>
    """

    documents: tuple[Document, ...]
    relations: RelationVocabulary
    candidates: Candidates
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

    @property
    def labelled_priors(self) -> Priors:
        """The share of candidate pairs labelled with each relation; multiply it for an overall prior.

        A fact whose pair is no candidate, or whose relation is not in the vocabulary, is not counted. A pair
        with a known negative is a pair like any other: one for which the relation does not hold.
        """
        if not self.relations:  # those that occur, so none does
            found = f"no fact in {plural(len(self), 'document')}"
            raise DataError(Defect(Kind.MALFORMED, "priors", None, None, found, "labelled facts to count"))
        counts: Counter[str] = Counter()
        for document in self.documents:
            entities = document.entities
            counts.update(
                relation
                for head, tail, relation in document.labels
                if relation in self.relations and self.candidates.allows(entities[head], entities[tail])
            )
        pairs = sum(map(self.candidates.count, self.documents))
        return Priors.from_counts(self.relations.ids, counts, pairs)

    def require_room(self, priors: Priors) -> None:
        """Refuse overall priors above what known negatives leave: what is known to be false is not true.

        Raises:
            DataError: names the relation, its prior and the most that it can be.
        """
        rejected = Counter(
            relation
            for document in self.documents
            for head, tail, relation in document.negatives
            if self.candidates.allows(document.entities[head], document.entities[tail])
        )
        pairs = sum(map(self.candidates.count, self.documents)) if rejected else 0
        for relation, overall in zip(priors.relations, priors.overall, strict=True):
            count = rejected[relation]
            if count and overall > 1 - count / pairs:
                expected = (
                    f"at most {1 - count / pairs:.3g}: {count} of {plural(pairs, 'pair')} were rejected"
                )
                place, found = f"relation {short_repr(relation)}", f"overall prior {overall:.3g}"
                raise DataError(Defect(Kind.MALFORMED, "priors", None, place, found, expected))

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The types that mentions have, sorted.

        Example:
            >>> from unnoted.data.candidates import AllPairs
            >>> from unnoted.data.synthetic import generate_documents
            >>> Corpus(tuple(generate_documents(3)), RelationVocabulary(()), AllPairs()).entity_types
            ('LOC', 'ORG', 'PER', 'WORK')
        """
        return tuple(
            sorted(
                {
                    mention.type
                    for document in self.documents
                    for entity in document.entities
                    for mention in entity.mentions
                }
            )
        )

    def __repr__(self) -> str:
        parts = (
            plural(len(self.documents), "document"),
            plural(len(self.relations), "relation"),
            plural(sum(len(document.facts) for document in self.documents), "fact"),
        )
        return f"<Corpus: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """The first documents with their labelled facts, drawn in a notebook."""
        from unnoted.data.visualization import notebook_list  # documents are read without it

        return notebook_list(repr(self)[1:-1], self.documents, self.relations.names, self.entity_types)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)
