"""Documents as DocRED JSON.

Two fields are this project's own, and other readers pass them over: `text` of a document and `id` of a
mention. With them the round trip loses nothing.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unnoted.documents.formats.json_records import write_list
from unnoted.documents.schema import Document, Entity


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write documents as one DocRED JSON file; returns how many."""
    return write_list(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document in DocRED's form."""
    fields: dict[str, Any] = {
        "title": document.id,
        "sents": document.sentences,
        "vertexSet": [_mentions(entity) for entity in document.entities],
        "labels": [
            {"h": fact.head, "t": fact.tail, "r": fact.relation, "evidence": fact.evidence}
            for fact in document.facts
        ],
    }
    if document.text is not None:
        fields["text"] = document.text
    return fields


def _mentions(entity: Entity) -> list[dict[str, Any]]:
    identifier = {} if entity.id is None else {"id": entity.id}
    return [
        {"name": m.name, "pos": (m.start, m.end), "sent_id": m.sentence, "type": m.type, **identifier}
        for m in entity.mentions
    ]
