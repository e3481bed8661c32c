"""What people decide about facts, and what came of it when a file was mended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from unnoted.data.contents import file_text
from unnoted.data.document import Document, Triple
from unnoted.errors import DataError, Defect, Kind
from unnoted.utils import nearest, short_repr


@dataclass(frozen=True, slots=True)
class FactDecision:
    """What a person said of one fact.

    Attributes:
        document: the id of its document.
        head: the index of an entity.
        tail: the index of another one.
        relation: from head to tail.
        holds: whether it holds; if not, it becomes a known negative.
        evidence: sentences that support it.
        provenance: who, when, by which model, how probable: whatever JSON can hold.

    Example:
        >>> FactDecision("d1", 0, 2, "spouse", holds=False, provenance={"by": "ada"}).triple
        (0, 2, 'spouse')
    """

    document: str
    head: int
    tail: int
    relation: str
    holds: bool
    evidence: tuple[int, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def triple(self) -> Triple:
        """The fact without its evidence."""
        return self.head, self.tail, self.relation


@dataclass(slots=True)
class MendReport:
    """What was changed, counted in facts.

    Attributes:
        added: facts that are labelled now.
        removed: facts that were labelled and are not any more.
        rejected: known negatives that were none before.
        unchanged: decisions that say what the file said already.
        files: what was written.
    """

    added: int = 0
    removed: int = 0
    rejected: int = 0
    unchanged: int = 0
    files: tuple[Path, ...] = ()


@dataclass(slots=True)
class Mending:
    """Files that belong together, while they are mended; what a format's `mend` is given.

    Attributes:
        sources: the files, in order.
        documents: what they hold, by id.
        decisions: by document, then by fact; of several about one fact the last.
        report: counts what is done.
        negatives: text to be written beside, by a format that has no room for known negatives.
        unplaced: decisions whose provenance the format has no room for.
    """

    sources: tuple[Path, ...]
    documents: Mapping[str, Document]
    decisions: Mapping[str, Mapping[Triple, FactDecision]]
    report: MendReport = field(default_factory=MendReport)
    negatives: str = ""
    unplaced: list[FactDecision] = field(default_factory=list)

    @classmethod
    def of(
        cls, sources: tuple[Path, ...], documents: Iterable[Document], decisions: Iterable[FactDecision]
    ) -> "Mending":
        """Gather decisions by document, and check that each could be made.

        Raises:
            DataError: a decision names a document, an entity or a sentence that is not there.
        """
        known = {document.id: document for document in documents}
        by_document: dict[str, dict[Triple, FactDecision]] = {}
        for number, decision in enumerate(decisions):
            _check(decision, number, known)
            of_document = by_document.setdefault(decision.document, {})
            of_document.pop(decision.triple, None)  # so that the last one also stands last
            of_document[decision.triple] = decision
        return cls(sources, known, by_document)

    def text(self, index: int = 0) -> str:
        """The text of one of the files as it is."""
        return file_text(self.sources[index])

    def changes(self, document: str, noted: Iterable[Triple], negatives: Iterable[Triple]) -> "Changes":
        """What is to be done to a document that has these facts and known negatives; it is counted."""
        facts, rejected = set(noted), set(negatives)
        changes = Changes()
        for triple, decision in self.decisions.get(document, {}).items():
            there, against = (facts, rejected) if decision.holds else (rejected, facts)
            if triple in against:
                (changes.no_negatives if decision.holds else changes.no_facts).add(triple)
            if triple not in there:
                (changes.facts if decision.holds else changes.negatives).append(decision)
        self.report.added += len(changes.facts)
        self.report.rejected += len(changes.negatives)
        self.report.removed += len(changes.no_facts)
        self.report.unchanged += len(self.decisions.get(document, {})) - len(changes.facts)
        self.report.unchanged -= len(changes.negatives)
        return changes


@dataclass(slots=True)
class Changes:
    """What is to be done to one document: what to add, and what to take away."""

    facts: list[FactDecision] = field(default_factory=list)
    negatives: list[FactDecision] = field(default_factory=list)
    no_facts: set[Triple] = field(default_factory=set)
    no_negatives: set[Triple] = field(default_factory=set)


def _check(decision: FactDecision, number: int, known: Mapping[str, Document]) -> None:
    document = known.get(decision.document)
    if document is None:
        hint = nearest(decision.document, known)
        _refuse(decision, number, "document", short_repr(decision.document), f"the id of a document{hint}")
    entities, sentences = len(document.entities), len(document.sentences)
    for name, entity in (("head", decision.head), ("tail", decision.tail)):
        if not 0 <= entity < entities:
            _refuse(decision, number, name, short_repr(entity), f"an entity index below {entities}")
    if decision.head == decision.tail:
        _refuse(decision, number, "tail", short_repr(decision.tail), "another entity than the head")
    if not decision.relation.strip():
        _refuse(decision, number, "relation", short_repr(decision.relation), "the name of a relation")
    for sentence in decision.evidence:
        if not 0 <= sentence < sentences:
            _refuse(decision, number, "evidence", short_repr(sentence), f"sentences below {sentences}")


def _refuse(decision: FactDecision, number: int, field: str, found: str, expected: str) -> NoReturn:
    place = f"decisions[{number}].{field}"
    raise DataError(Defect(Kind.MALFORMED, "decisions", decision.document, place, found, expected))
