"""The next round of a review: what was decided in the last one is kept."""

import sqlite3
from dataclasses import dataclass

from unnoted.data.document import Document, Triple
from unnoted.review.store import CARRIED, NotDecided, ReviewStore, add_item, settle

RESUMED = "resumed"
"""Under this key a review says which ones it continues."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What came over from the round before.

    Attributes:
        kept: decisions that stand in this round as well.
        lost: decisions about facts whose document, entities or relation are not the same any more.
    """

    kept: int
    lost: int


def carry(store: ReviewStore, before: ReviewStore) -> Carried | None:
    """Take over what every reviewer said last; what was skipped is asked again.

    Facts are matched by document, head, tail and relation. One that is not suggested any more, because it is
    labelled now or known not to hold, is kept beside the queue.

    Args:
        store: the review that begins.
        before: the one whose decisions are kept.

    Returns:
        What was done; None if this had been done before.
    """
    name = str(before.path.resolve())
    kept = lost = 0
    rows = before.reading.execute(
        """SELECT document, head, tail, items.relation, head_name, tail_name, probability, evidence, proposed,
           items.model, reviewer, verdict, acts.at, acts.key FROM
           (SELECT item, verdict, act FROM standing WHERE verdict != 'skip') AS said
           JOIN items ON items.id = said.item JOIN acts ON acts.id = said.act ORDER BY acts.id"""
    ).fetchall()
    with store.writing() as connection:
        found = connection.execute("SELECT 1 FROM about WHERE key = ?", (f"{RESUMED} {name}",))
        if found.fetchone() is not None:
            return None
        relations = {row["id"] for row in connection.execute("SELECT id FROM relations")}
        for row in rows:
            document = _same_document(store, row)
            if document is None or row["relation"] not in relations:
                lost += 1
                continue
            item = _item(connection, document, row, before.about["model"])
            _repeat(connection, item, row)
            kept += 1
        summary = f"{kept} kept, {lost} lost"
        connection.execute("INSERT INTO about VALUES (?, ?)", (f"{RESUMED} {name}", summary))
    return Carried(kept, lost)


def _same_document(store: ReviewStore, row: sqlite3.Row) -> Document | None:
    """The document of a decision, if its two entities are still the ones that the reviewer saw."""
    try:
        document = store.document(row["document"])
    except NotDecided:
        return None
    for index, name in ((row["head"], row["head_name"]), (row["tail"], row["tail_name"])):
        if index >= len(document.entities) or document.entities[index].name != name:
            return None
    return document


def _item(connection: sqlite3.Connection, document: Document, row: sqlite3.Row, model: str) -> int:
    fact: Triple = row["head"], row["tail"], row["relation"]
    found = connection.execute(
        "SELECT id FROM items WHERE document = ? AND head = ? AND tail = ? AND relation = ?",
        (document.id, *fact),
    ).fetchone()
    if found is not None:
        return int(found["id"])
    item = add_item(connection, document, fact)
    judged = row["model"] or (model if row["proposed"] else None)
    connection.execute(
        "UPDATE items SET probability = ?, evidence = ?, model = ? WHERE id = ?",
        (row["probability"], row["evidence"], judged, item),
    )
    return item


def _repeat(connection: sqlite3.Connection, item: int, row: sqlite3.Row) -> None:
    """Say it again, with the name and the time of then."""
    act = connection.execute(
        "INSERT INTO acts (reviewer, at, key, stream, filtered) VALUES (?, ?, ?, ?, TRUE)",
        (row["reviewer"], row["at"], f"{CARRIED}-{item}-{row['key']}"[:200], CARRIED),
    ).lastrowid
    said = (act, item, row["verdict"])
    connection.execute("INSERT INTO decisions (act, item, verdict) VALUES (?, ?, ?)", said)
    settle(connection, item, row["reviewer"], act or 0)
