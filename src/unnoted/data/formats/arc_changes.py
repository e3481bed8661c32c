"""Decisions about facts as changes of the arcs between marks, which is what annotation tools keep."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unnoted.data.decided import FactDecision, Mending
from unnoted.data.document import Triple
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.fields import expect, take, take_list
from unnoted.data.formats.marked_text import arc_between, lifted
from unnoted.errors import DefectLog

UNNAMED = "related"
"""The relation of an arc that was drawn and not labelled."""
NOTE = "unnoted"
"""The field that keeps what a tool has no place for: known negatives, and who decided."""


@dataclass(slots=True)
class ArcChanges:
    """What is to be done to one marked text.

    Attributes:
        added: arcs of facts that are labelled now, with their decisions.
        gone: places of arcs that are not any more; several arcs may be one fact.
        rejected: arcs of facts that became known negatives, with their decisions.
        restored: places of known negatives that are none any more.
    """

    added: list[tuple[MarkedArc, FactDecision]] = field(default_factory=list)
    gone: list[MarkedArc] = field(default_factory=list)
    rejected: list[tuple[MarkedArc, FactDecision]] = field(default_factory=list)
    restored: list[MarkedArc] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.rejected or self.restored)

    @classmethod
    def of(cls, marked: MarkedText, mending: Mending) -> "ArcChanges":
        """What the decisions change in a marked text; it is counted."""
        entities = marked.entities
        owners = {mark.ref: number for number, group in enumerate(entities) for mark in group}
        quiet = DefectLog()
        noted, negatives = (
            list(lifted(arcs, owners, marked.id, quiet)) for arcs in (marked.arcs, marked.negatives)
        )
        changes = mending.changes(marked.id, noted, negatives)
        return cls(
            _arcs(changes.facts, entities),
            _matching(marked.arcs, owners, changes.no_facts),
            _arcs(changes.negatives, entities),
            _matching(marked.negatives, owners, changes.no_negatives),
        )


def _arcs(decisions: list[FactDecision], entities: list[list[Mark]]) -> list[tuple[MarkedArc, FactDecision]]:
    return [(arc_between(entities, decision.triple), decision) for decision in decisions]


def _matching(arcs: Iterable[MarkedArc], owners: Mapping[str, int], triples: set[Triple]) -> list[MarkedArc]:
    return [arc for arc in arcs if (owners.get(arc.head), owners.get(arc.tail), arc.relation) in triples]


def noted_negatives(note: object, title: str, place: str) -> list[MarkedArc]:
    """The known negatives of a note; there is none where there is no note."""
    if note is None:
        return []
    fields: dict[str, Any] = expect(note, dict, title, place)
    arcs = []
    for number, each in enumerate(
        take_list(fields, "negatives", dict, title, place) if "negatives" in fields else []
    ):
        where = f"{place}.negatives[{number}]"
        head, tail, relation = (take(each, key, str, title, where) for key in ("head", "tail", "relation"))
        arcs.append(MarkedArc(head, tail, relation, where))
    return arcs


def written_note(arcs: Iterable[MarkedArc]) -> dict[str, Any]:
    """A note with known negatives."""
    return {"negatives": [{"head": a.head, "tail": a.tail, "relation": a.relation} for a in arcs]}


def changed_note(note: object, changes: ArcChanges) -> dict[str, Any]:
    """A note after the changes: its known negatives, and the provenance of every decision that has one."""
    fields = dict(note) if isinstance(note, dict) else {}
    restored = {arc.place.rpartition("negatives")[2] for arc in changes.restored}
    kept = [each for number, each in enumerate(fields.get("negatives", [])) if f"[{number}]" not in restored]
    kept += written_note(arc for arc, _ in changes.rejected)["negatives"]
    said = [
        {"head": arc.head, "tail": arc.tail, "relation": arc.relation, "holds": decision.holds}
        | {"provenance": dict(decision.provenance)}
        for arc, decision in [*changes.added, *changes.rejected]
        if decision.provenance
    ]
    if kept or "negatives" in fields:
        fields["negatives"] = kept
    if said:
        fields["provenance"] = [*fields.get("provenance", []), *said]
    return fields
