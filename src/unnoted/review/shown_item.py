"""One fact as a reviewer sees it: in its document, beside what helps to decide."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from unnoted.data.document import Document, Fact
from unnoted.data.visualization import FactGroup, FactRow, FactTable, render_document
from unnoted.review.queue import column
from unnoted.review.store import NotDecided, ReviewStore
from unnoted.suggestions.ranking import Order

EXAMPLES_SHOWN = 2


def shown_item(
    store: ReviewStore, item: int, names: Mapping[str, str], types: Sequence[str]
) -> dict[str, Any]:
    """Everything about one fact.

    Args:
        store: the review.
        item: the fact's number.
        names: readable names of the relations.
        types: all types of entities, in the order of their colours.

    Raises:
        NotDecided: there is no such fact.
    """
    row = store.reading.execute("SELECT * FROM items WHERE id = ?", (item,)).fetchone()
    if row is None:
        raise NotDecided("There is no such suggestion.")
    document = store.document(row["document"])
    pair = row["head"], row["tail"]
    evidence = tuple(json.loads(row["evidence"])) or _evidence_of(document, (*pair, row["relation"]))
    facts = _facts(store, document)
    text = render_document(document, facts, names=names, highlighted=pair, evidence=evidence, types=types)
    return {
        "id": item,
        "document": document.id,
        "head": row["head"],
        "tail": row["tail"],
        "relation": row["relation"],
        "probability": row["probability"],
        "score": row["score"],
        "rule": row["rule"],
        "labelled": bool(row["labelled"]),
        "proposed": bool(row["proposed"]),
        "state": row["state"],
        "evidence": evidence,
        "ranks": {order: row[column(order)] for order in Order},
        "text": str(text),
        "facts": [[fact.head, fact.tail, fact.relation] for fact in facts.rows()],
        "entities": [{"name": entity.name, "type": entity.type} for entity in document.entities],
        "said": said_of(store, item),
        "examples": _examples(store, row["relation"], document.id),
    }


def said_of(store: ReviewStore, item: int) -> list[dict[str, Any]]:
    """What each reviewer says of a fact last."""
    rows = store.reading.execute(
        """SELECT standing.reviewer, verdict, at FROM standing JOIN acts ON acts.id = standing.act
           WHERE item = ? ORDER BY standing.act""",
        (item,),
    )
    return [dict(row) for row in rows]


def likely_relations(store: ReviewStore, head_type: str, tail_type: str) -> list[str]:
    """Relations that are labelled between two types of entities, the most frequent first."""
    rows = store.reading.execute(
        """SELECT relation FROM type_pairs WHERE head_type = ? AND tail_type = ?
           ORDER BY labelled DESC, relation""",
        (head_type, tail_type),
    )
    return [row["relation"] for row in rows]


def _evidence_of(document: Document, triple: tuple[int, int, str]) -> tuple[int, ...]:
    """The sentences that were noted with a labelled fact."""
    return next((fact.evidence for fact in document.facts if fact.triple == triple), ())


def _facts(store: ReviewStore, document: Document) -> FactTable:
    """What is labelled, without what reviewers reject, and what they have accepted."""
    rows = store.reading.execute(
        "SELECT head, tail, relation, evidence, state FROM items WHERE document = ? AND state != 'open'",
        (document.id,),
    ).fetchall()
    states = {(row["head"], row["tail"], row["relation"]): row["state"] for row in rows}
    labelled = [fact for fact in document.facts if states.get(fact.triple) != "rejected"]
    known = document.labels
    accepted = [
        Fact(row["head"], row["tail"], row["relation"], tuple(json.loads(row["evidence"])))
        for row in rows
        if row["state"] == "accepted" and (row["head"], row["tail"], row["relation"]) not in known
    ]
    groups = (FactGroup(_lines(labelled), "Labelled"), FactGroup(_lines(accepted), "Accepted here", "✓"))
    return FactTable(tuple(group for group in groups if group.rows))


def _lines(facts: Sequence[Fact]) -> tuple[FactRow, ...]:
    return tuple(FactRow(fact.head, fact.tail, fact.relation, fact.evidence) for fact in facts)


def _examples(store: ReviewStore, relation: str, document: str) -> list[dict[str, Any]]:
    """Labelled facts of the relation; from other documents if there are enough."""
    rows = store.reading.execute(
        """SELECT document, head_name, tail_name, words FROM examples WHERE relation = ?
           ORDER BY document = ?, position LIMIT ?""",
        (relation, document, EXAMPLES_SHOWN),
    )
    return [dict(row) | {"words": json.loads(row["words"])} for row in rows]
