"""What people decide about facts, and a data file with these decisions: its format and everything else stay."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from unnoted.data.document import Document, Triple
from unnoted.data.formats import FORMATS, detect_format
from unnoted.data.formats.records import FileContent, write_content
from unnoted.data.loading import stream_documents
from unnoted.errors import DataError, Defect, Kind
from unnoted.io import lock_output, refuse_stream
from unnoted.utils import nearest, short_repr

PROVENANCE = ".provenance.jsonl"
"""Ending of the file beside a written one, where its format has no place for provenance."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about one fact.

    Attributes:
        document: the id of its document.
        head: the index of an entity.
        tail: the index of another one.
        relation: from head to tail.
        holds: whether it holds; if not, it becomes a known negative.
        evidence: sentences that support it.
        provenance: who, when, by which model, with which score: whatever JSON can hold.

    Example:
        >>> Decision("d1", 0, 2, "spouse", holds=False, provenance={"by": "ada"}).triple
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
class DecisionReport:
    """What decisions changed, counted in facts.

    Attributes:
        added: facts that are labelled now.
        removed: facts that were labelled and are not any more.
        rejected: known negatives that are new.
        unchanged: decisions that say what the file said already.
        files: what was written.
    """

    added: int = 0
    removed: int = 0
    rejected: int = 0
    unchanged: int = 0
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """What decisions change in one document; the update function of its format gets them.

    Attributes:
        document: as it was read.
        added: decisions whose facts become labels.
        rejected: decisions whose facts become known negatives.
        removed: facts that are no labels any more.
        restored: known negatives that are none any more.
    """

    document: Document
    added: list[Decision] = field(default_factory=list)
    rejected: list[Decision] = field(default_factory=list)
    removed: set[Triple] = field(default_factory=set)
    restored: set[Triple] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.added or self.rejected or self.removed or self.restored)

    @property
    def decisions(self) -> list[Decision]:
        """The decisions that add something."""
        return [*self.added, *self.rejected]

    def apply(
        self,
        record: Mapping[str, Any],
        facts: str,
        triple_of: Callable[[Any], Triple],
        entry: Callable[[Decision], dict[str, Any]],
    ) -> dict[str, Any]:
        """A JSON record with its lists of facts and `negatives` changed.

        Args:
            record: of the document.
            facts: the key of its list of facts.
            triple_of: the fact of an entry of either list.
            entry: the new entry of a decision; its provenance is added.
        """
        changed = dict(record)
        for key, gone, new in (
            (facts, self.removed, self.added),
            ("negatives", self.restored, self.rejected),
        ):
            kept = [each for each in record.get(key, []) if triple_of(each) not in gone]
            for decision in new:
                provenance = {"provenance": dict(decision.provenance)} if decision.provenance else {}
                kept.append(entry(decision) | provenance)
            if kept or key in record:
                changed[key] = kept
        return changed


def apply_decisions(
    source: str | Path, decisions: Iterable[Decision], to: str | Path, overwrite: bool = False
) -> DecisionReport:
    """Write a data file with the facts that people added, and without those that they rejected.

    An accepted fact is labelled; one that is labelled already stays as it is. A rejected fact becomes a known
    negative, and a label of it is removed. Of several decisions about one fact the last counts. Provenance is
    written beside the fact, or to `<to>.provenance.jsonl` where the format has no place for it.

    The file keeps its format and every field that is not read here, and records that nothing changes are
    copied verbatim. So it still fits the tool that it came from. It is held in memory.

    Args:
        source: a file in a format that can be updated.
        decisions: about facts of its documents.
        to: where to.
        overwrite: replace files that are there already. The source itself is never written over.

    Raises:
        DataError: the file cannot be read or updated, or a decision names what it does not have.
        ValueError: a file is source and output, or is there already.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "corpus.jsonl")
        ...     _ = path.write_text('{"id": "1", "text": "Ada met Bo.", "mine": 1.5, "entities": ['
        ...                         '{"type": "PER", "mentions": [{"start": 0, "end": 3}]},'
        ...                         '{"type": "PER", "mentions": [{"start": 8, "end": 10}]}]}')
        ...     decided = [Decision("1", 0, 1, "met", holds=True), Decision("1", 1, 0, "spouse", holds=False)]
        ...     report = apply_decisions(path, decided, Path(folder, "new.jsonl"))
        ...     print(Path(folder, "new.jsonl").read_text()[-130:])
        ...     report.added, report.rejected
         "end": 10}]}], "facts": [{"head": 0, "tail": 1, "relation": "met"}],\
 "negatives": [{"head": 1, "tail": 0, "relation": "spouse"}]}
        (1, 1)
    """
    source, to = Path(source), Path(to)
    refuse_stream(source)
    format = detect_format(source)
    if format.update is None:
        valid = ", ".join(each.name for each in FORMATS.values() if each.update)
        expected = f"a format that can be updated ({valid})"
        raise DataError(Defect(Kind.UNREADABLE, str(source), None, None, format.name, expected))
    edits, report = plan_edits(stream_documents(source), decisions)
    contents: dict[Path, FileContent] = {to: format.update(source, edits)}
    if not format.keeps_provenance:
        lines = [
            _provenance_line(each) for edit in edits.values() for each in edit.decisions if each.provenance
        ]
        if lines:
            contents[Path(f"{to}{PROVENANCE}")] = "".join(lines)
    with lock_output(*contents, inputs=[source], overwrite=overwrite):
        for path, content in contents.items():
            write_content(path, content)
    report.files = tuple(contents)
    return report


def plan_edits(
    documents: Iterable[Document], decisions: Iterable[Decision]
) -> tuple[dict[str, Edits], DecisionReport]:
    """What decisions change in documents, by document id; documents that nothing changes are left out.

    Raises:
        DataError: a decision names a document, an entity or a sentence that is not there.
    """
    known = {document.id: document for document in documents}
    last: dict[tuple[str, Triple], Decision] = {}
    for number, decision in enumerate(decisions):
        _check(decision, number, known)
        last.pop((decision.document, decision.triple), None)  # so that the last one also stands last
        last[decision.document, decision.triple] = decision
    edits: dict[str, Edits] = {}
    report = DecisionReport()
    for (name, triple), decision in last.items():
        document = known[name]
        edit = edits.setdefault(name, Edits(document))
        is_fact, is_negative = triple in document.labels, triple in document.negatives
        if decision.holds:
            edit.restored.update([triple] if is_negative else [])
            edit.added.extend([] if is_fact else [decision])
            report.added += not is_fact
        else:
            edit.removed.update([triple] if is_fact else [])
            edit.rejected.extend([] if is_negative else [decision])
            report.removed += is_fact
            report.rejected += not is_negative
        report.unchanged += is_fact if decision.holds else is_negative
    return {name: edit for name, edit in edits.items() if edit}, report


def _check(decision: Decision, number: int, known: Mapping[str, Document]) -> None:
    def refuse(field: str, found: object, expected: str) -> NoReturn:
        place = f"decisions[{number}].{field}"
        raise DataError(
            Defect(Kind.MALFORMED, "decisions", decision.document, place, short_repr(found), expected)
        )

    document = known.get(decision.document)
    if document is None:
        refuse("document", decision.document, f"the id of a document{nearest(decision.document, known)}")
    entities, sentences = len(document.entities), len(document.sentences)
    for name, entity in (("head", decision.head), ("tail", decision.tail)):
        if not 0 <= entity < entities:
            refuse(name, entity, f"an entity index below {entities}")
    if decision.head == decision.tail:
        refuse("tail", decision.tail, "another entity than the head")
    if not decision.relation.strip():
        refuse("relation", decision.relation, "the name of a relation")
    for sentence in decision.evidence:
        if not 0 <= sentence < sentences:
            refuse("evidence", sentence, f"sentences below {sentences}")


def _provenance_line(decision: Decision) -> str:
    fields = {
        "document": decision.document,
        "head": decision.head,
        "tail": decision.tail,
        "relation": decision.relation,
        "holds": decision.holds,
        "provenance": dict(decision.provenance),
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
