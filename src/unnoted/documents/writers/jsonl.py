"""Documents as unnoted JSONL, one a line (docs/formats.md)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unnoted.documents.formats.json_records import write_lines
from unnoted.documents.schema import Document, Entity, Mention


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write documents one a line; returns how many."""
    return write_lines(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document in unnoted's form; what follows from the rest is left out.

    The words are written even where the text is, so that a later way to split text changes no document.
    """
    fields: dict[str, Any] = {"id": document.id}
    if document.text is not None:
        fields["text"] = document.text
    fields["sentences"] = document.sentences
    fields["entities"] = [_entity(document, entity) for entity in document.entities]
    fields["facts"] = [
        {"head": fact.head, "tail": fact.tail, "relation": fact.relation, "evidence": fact.evidence}
        for fact in document.facts
    ]
    return fields


def _entity(document: Document, entity: Entity) -> dict[str, Any]:
    fields: dict[str, Any] = {} if entity.id is None else {"id": entity.id}
    fields["type"] = entity.type
    fields["mentions"] = [_mention(document, mention, entity.type) for mention in entity.mentions]
    return fields


def _mention(document: Document, mention: Mention, inherited: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"sentence": mention.sentence, "start": mention.start, "end": mention.end}
    if mention.type != inherited:
        fields["type"] = mention.type
    if mention.name != " ".join(document.words_of(mention)):
        fields["name"] = mention.name
    return fields
