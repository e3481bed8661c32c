"""Documents that belong together, with their relations and candidate pairs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from unnoted.common.errors import DataError, Defect, DefectLog, Kind
from unnoted.common.wording import counted
from unnoted.documents.candidates import Candidates
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.schema import Document
from unnoted.priors import Priors


@dataclass(frozen=True, slots=True)
class Corpus(Sequence[Document]):
    """Documents in memory, their relation vocabulary, candidate pairs, and the log of their reading.

    Example:
        >>> from unnoted.documents.candidates import AllPairs
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

        A fact whose pair is no candidate, or whose relation is not in the vocabulary, is not counted.
        """
        if not self.relations:  # those that occur, so none does
            found = f"no fact in {counted(len(self), 'document')}"
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

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The types that mentions have, sorted.

        Example:
            >>> from unnoted.documents.candidates import AllPairs
            >>> from unnoted.documents.generator import generate_documents
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
            counted(len(self.documents), "document"),
            counted(len(self.relations), "relation"),
            counted(sum(len(document.facts) for document in self.documents), "fact"),
        )
        return f"<Corpus: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """The first documents with their labelled facts, drawn in a notebook."""
        from unnoted.documents.rendering import notebook_list  # documents are read without it

        return notebook_list(repr(self)[1:-1], self.documents, self.relations.names, self.entity_types)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)
