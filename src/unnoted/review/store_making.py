"""From suggestions to the file in which they are reviewed."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unnoted.data.formats import jsonl
from unnoted.data.visualization import entity_types
from unnoted.review.examples import examples_of
from unnoted.review.store_schema import FORMAT, INDEXES, TABLES
from unnoted.suggestions.ranking import Order, rank
from unnoted.suggestions.store import SuggestionSet


def make_store(path: Path, found: SuggestionSet, file: str, checksum: str) -> None:
    """Write the file of a new review; it appears when it is complete.

    Args:
        path: where to; nothing may be there.
        found: what is reviewed.
        file: what the file of suggestions is called.
        checksum: its SHA-256, by which it is recognised the next time.

    Raises:
        ValueError: there is a file of that name.
    """
    if path.exists():
        raise ValueError(f"{path}: found a file, expected none where a new review begins")
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(partial, isolation_level=None)) as connection:
            # Nothing is lost with a file that is not complete, and the next start makes it anew.
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(TABLES)
            connection.execute("BEGIN")
            _fill(connection, found, file, checksum)
            connection.execute("COMMIT")
            connection.executescript(INDEXES)
            connection.execute("ANALYZE")
        _sync(partial)
        os.replace(partial, path)
        _sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, found: SuggestionSet, file: str, checksum: str) -> None:
    about = {
        "unnoted": "review",
        "format": str(FORMAT),
        "suggestions": file,
        "suggestions_checksum": checksum,
        "source": found.source,
        "source_format": found.source_format,
        "source_checksum": found.source_checksum,
        "model": found.model,
        "noted": str(sum(len(document.facts) for document in found.documents.values())),
        "types": json.dumps(entity_types(found.documents.values())),
        "unlisted": json.dumps(asdict(found.below_cutoff)),
    }
    _insert(connection, "about", about.items())
    documents = found.documents.values()
    _insert(connection, "documents", (
        (document.id, position, json.dumps(jsonl.record(document), ensure_ascii=False))
        for position, document in enumerate(documents)
    ))  # fmt: skip
    _insert(connection, "relations", _relations(found))
    pairs = Counter(
        (document.entities[fact.head].type, document.entities[fact.tail].type, fact.relation)
        for document in documents
        for fact in document.facts
    )
    _insert(connection, "type_pairs", ((*key, count) for key, count in pairs.items()))
    _insert(connection, "examples", (
        (relation, position, each.document, each.head_name, each.tail_name, json.dumps(each.words))
        for relation, examples in examples_of(documents).items()
        for position, each in enumerate(examples)
    ))  # fmt: skip
    _insert(connection, "items", _items(found))


def _relations(found: SuggestionSet) -> Iterator[tuple[Any, ...]]:
    labelled = Counter(fact.relation for document in found.documents.values() for fact in document.facts)
    missing = {each.relation: (each.missing, each.low, each.high) for each in found.missing}
    for relation, (name, description) in found.relations.items():
        nothing = (None, None, None)
        yield (relation, name, description, labelled[relation], *missing.get(relation, nothing))


def _items(found: SuggestionSet) -> Iterator[tuple[Any, ...]]:
    ranks = [_ranks(rank(found.suggestions, order).tolist()) for order in Order]
    for item, each in enumerate(found.suggestions):
        entities = found.documents[each.document].entities
        yield (
            item, each.document, *each.triple, entities[each.head].name, entities[each.tail].name,
            each.score if found.calibrated else None, each.score, json.dumps(each.evidence), each.rule, each.labelled, True, None,
            "open", 0, *(place[item] for place in ranks),
        )  # fmt: skip


def _ranks(order: list[int]) -> list[int]:
    """The place of every suggestion in an order."""
    ranks = [0] * len(order)
    for place, item in enumerate(order):
        ranks[item] = place
    return ranks


def _insert(connection: sqlite3.Connection, table: str, rows: Any) -> None:  # noqa: ANN401
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return
    marks = ", ".join("?" * len(first))
    statement = f"INSERT INTO {table} VALUES ({marks})"
    connection.execute(statement, first)
    connection.executemany(statement, iterator)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
