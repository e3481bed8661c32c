"""What people decide about facts, written into a data file: its format and everything else stay."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from unnoted.data.document import Decision, Document, Fact, Triple, join_entities
from unnoted.data.formats import FORMATS, detect_format
from unnoted.data.formats.records import Edits
from unnoted.data.loading import stream_documents
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import Limits, lock_output, refuse_stream, write_lines
from unnoted.utils import nearest, short_repr

__all__ = ["Decision", "DecisionReport", "apply_decisions"]

PROVENANCE = ".provenance.jsonl"
"""Ending of the file beside a written one, where its format has no place for provenance."""


@dataclass(slots=True)
class DecisionReport:
    """What decisions changed, counted in facts.

    Attributes:
        added: facts that are labelled now.
        removed: facts that were labelled and are not any more.
        rejected: known negatives that are new.
        unchanged: decisions that say what the file said already.
        merged: entities that are now part of others.
        unmerged: entities that would be, and for which the format has no place.
        files: what was written.
    """

    added: int = 0
    removed: int = 0
    rejected: int = 0
    unchanged: int = 0
    merged: int = 0
    unmerged: int = 0
    files: tuple[Path, ...] = ()


def apply_decisions(
    source: str | Path,
    decisions: Iterable[Decision],
    to: str | Path,
    overwrite: bool = False,
    merges: Mapping[str, Sequence[tuple[int, int]]] | None = None,
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
        merges: by the id of a document, pairs of entities that are one. Decisions refer to entities as the source
            numbers them. Some formats have no place for it: then the entities stay apart.

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
        raise DataError(format.name, expected, kind=DefectKind.UNREADABLE, file=str(source))
    edits, report = _plan_edits(stream_documents(source), decisions, merges or {}, format.merges)
    provenance = []
    if not format.keeps_provenance:
        for decision in (decision for edit in edits.values() for decision in edit.decisions):
            if decision.provenance:
                provenance.append(
                    {key: value for key, value in asdict(decision).items() if key != "evidence"}
                )
    beside = Path(f"{to}{PROVENANCE}")
    report.files = (to, beside) if provenance else (to,)
    with lock_output(*report.files, inputs=[source], overwrite=overwrite):
        format.update(source, edits, to)
        if provenance:
            write_lines(beside, provenance)
    return report


def _plan_edits(
    documents: Iterable[Document],
    decisions: Iterable[Decision],
    merges: Mapping[str, Sequence[tuple[int, int]]],
    can_merge: bool,
) -> tuple[dict[str, Edits], DecisionReport]:
    """What changes a document, by its id, accepted facts first; and how much it changes."""
    known = {document.id: document for document in documents}
    every: dict[str, Edits] = {}
    report = DecisionReport()
    for name, document in known.items():
        same_as = join_entities(len(document.entities), merges.get(name, ()))
        merged = len(same_as) - len(set(same_as))
        report.merged += merged if can_merge else 0
        report.unmerged += 0 if can_merge else merged
        every[name] = Edits(document, [], same_as if can_merge else tuple(range(len(same_as))))
    last: dict[tuple[str, Triple], Decision] = {}
    for number, decision in enumerate(decisions):
        _check(decision, number, known)
        key = decision.document, every[decision.document].canonical(decision.triple)
        last.pop(key, None)  # so that the last one also stands last
        last[key] = decision
    for (name, triple), decision in sorted(last.items(), key=lambda each: not each[1].holds):
        edit, document = every[name], known[name]
        is_fact = triple in map(edit.canonical, document.labels)
        is_negative = triple in map(edit.canonical, document.negatives)
        if is_fact if decision.holds else is_negative:
            report.unchanged += 1
            continue
        report.added += decision.holds
        report.rejected += not decision.holds
        report.removed += is_fact
        edit.decisions.append(decision)
    return {name: edit for name, edit in every.items() if edit.decisions or edit.merges}, report


def _check(decision: Decision, number: int, known: Mapping[str, Document]) -> None:
    """Check a decision as if it were the only label of its document."""
    log = DefectLog("decisions")
    with log.locating():
        if decision.document not in known:
            expected = f"the id of a document{nearest(decision.document, known)}"
            found, place = short_repr(decision.document), f"decisions[{number}].document"
            raise DataError(found, expected, decision.document, place)
        label = Fact(*decision.triple, decision.evidence)
        document = replace(known[decision.document], facts=(label,), negatives=())
        validate(document, log, FieldNames(fact=f"decisions[{number}]"), None, Limits.current())
