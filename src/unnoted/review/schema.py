"""The tables of a review's file, and a new file with the suggestions that are to be decided."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unnoted.data.document import entity_types
from unnoted.data.formats import jsonl
from unnoted.io import write_binary
from unnoted.review.item import find_examples
from unnoted.suggestions import Order, SuggestionSet, rank

OPEN = "open"
"""The state of an item that nobody has looked at."""

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL UNIQUE,
  record TEXT NOT NULL                -- the document as a line of unnoted's own format
);

CREATE TABLE relations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  labelled INTEGER NOT NULL,          -- how many labels of it there are
  missing REAL, low REAL, high REAL   -- how many more are thought to hold
) WITHOUT ROWID;

CREATE TABLE type_pairs (             -- how often a relation is labelled between two types of entities
  head_type TEXT NOT NULL, tail_type TEXT NOT NULL, relation TEXT NOT NULL, labelled INTEGER NOT NULL,
  PRIMARY KEY (head_type, tail_type, relation)
) WITHOUT ROWID;

CREATE TABLE examples (               -- labelled facts that show what a relation means
  relation TEXT NOT NULL, position INTEGER NOT NULL, document TEXT NOT NULL,
  head_name TEXT NOT NULL, tail_name TEXT NOT NULL, head_type TEXT NOT NULL, tail_type TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (relation, position)
) WITHOUT ROWID;

CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  document TEXT NOT NULL REFERENCES documents,
  head INTEGER NOT NULL, tail INTEGER NOT NULL, relation TEXT NOT NULL REFERENCES relations,
  head_name TEXT NOT NULL, tail_name TEXT NOT NULL,
  score REAL NOT NULL,
  evidence TEXT NOT NULL, rule TEXT,
  labelled INTEGER NOT NULL,          -- a labelled fact that looks wrong
  proposed INTEGER NOT NULL,          -- by the model; 0: added by a reviewer
  state TEXT NOT NULL DEFAULT 'open',
  last_event INTEGER NOT NULL DEFAULT 0,
  by_score INTEGER NOT NULL, by_document INTEGER NOT NULL, by_random INTEGER NOT NULL,
  asked_as INTEGER NOT NULL,          -- the item that says the same since entities were merged; else itself
  UNIQUE (document, head, tail, relation)
);

CREATE TABLE events (                 -- one key press, or what comes to the same
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reviewer TEXT NOT NULL,
  at TEXT NOT NULL,                   -- UTC
  key TEXT NOT NULL UNIQUE,           -- chosen by the browser: an event that is sent twice counts once
  queue_order TEXT NOT NULL,          -- the order in which the reviewer saw the queue
  filters TEXT NOT NULL,              -- the filters that were on, as JSON; {} where there were none
  note TEXT NOT NULL,                 -- what the reviewer wrote about it
  undoes INTEGER REFERENCES events
);

CREATE TABLE merges (                 -- two entities that are one
  event INTEGER NOT NULL REFERENCES events,
  document TEXT NOT NULL REFERENCES documents,
  one INTEGER NOT NULL, other INTEGER NOT NULL
);

CREATE TABLE decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event INTEGER NOT NULL REFERENCES events,
  item INTEGER NOT NULL REFERENCES items,
  verdict TEXT NOT NULL
);

CREATE TABLE current_decisions (      -- the last decision of each reviewer; follows from the log
  item INTEGER NOT NULL REFERENCES items,
  reviewer TEXT NOT NULL,
  verdict TEXT NOT NULL,
  event INTEGER NOT NULL REFERENCES events,
  PRIMARY KEY (item, reviewer)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX items_by_score ON items (by_score);
CREATE INDEX items_by_document ON items (by_document);
CREATE INDEX items_by_random ON items (by_random);
CREATE INDEX items_relation ON items (relation, by_score);
CREATE INDEX items_state ON items (state, proposed);
CREATE INDEX items_asked_as ON items (asked_as);
CREATE INDEX merges_document ON merges (document);
CREATE INDEX items_last_event ON items (last_event);
CREATE INDEX items_apart ON items (labelled, proposed, state) WHERE labelled OR NOT proposed;
CREATE INDEX events_reviewer ON events (reviewer);
CREATE INDEX events_undoes ON events (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX decisions_event ON decisions (event);
CREATE INDEX decisions_item ON decisions (item);
CREATE INDEX current_decisions_reviewer ON current_decisions (reviewer, verdict);
"""


def create_store(path: Path, suggestions: SuggestionSet, file: str, checksum: str) -> None:
    """Write the file of a new review; it appears when it is complete.

    Args:
        path: where to; nothing may be there.
        suggestions: what is reviewed.
        file: the name of the file of suggestions.
        checksum: its SHA-256, by which it is recognised the next time.

    Raises:
        ValueError: there is a file of that name.
    """
    if path.exists():
        raise ValueError(f"{path}: there is a file already where a new review would begin")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(TABLES)
        connection.execute("BEGIN")
        for table, rows in _tables(suggestions, file, checksum).items():
            columns = len(connection.execute(f"SELECT * FROM {table}").description)
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)
        connection.execute("COMMIT")
        connection.executescript(INDEXES)
        connection.execute("ANALYZE")
        write_binary(path, connection.serialize())


def _tables(suggestions: SuggestionSet, file: str, checksum: str) -> dict[str, Iterable[tuple[Any, ...]]]:
    """The rows of each table of a new review."""
    documents, listed = suggestions.documents, suggestions.suggestions
    labels = [(document, fact) for document in documents.values() for fact in document.facts]
    labelled = Counter(fact.relation for _, fact in labels)
    type_pairs = Counter(
        (document.entities[fact.head].type, document.entities[fact.tail].type, fact.relation)
        for document, fact in labels
    )
    missing = {each.relation: (each.missing, each.low, each.high) for each in suggestions.missing}
    about = {
        "suggestions": file,
        "suggestions_checksum": checksum,
        "source": suggestions.source,
        "source_format": suggestions.source_format,
        "source_checksum": suggestions.source_checksum,
        "model": suggestions.model,
        "calibrated": json.dumps(suggestions.calibrated),
        "labels": str(len(labels)),
        "types": json.dumps(entity_types(documents.values())),
        "below_cutoff": json.dumps(asdict(suggestions.below_cutoff)),
    }
    # The place of each item in the orders, as the columns are.
    orders = (Order.SCORE, Order.DOCUMENT, Order.RANDOM)
    places = zip(*(np.argsort(rank(listed, order)).tolist() for order in orders), strict=True)

    def items() -> Iterator[tuple[Any, ...]]:
        for item, (each, place) in enumerate(zip(listed, places, strict=True)):
            head, tail = (documents[each.document].entities[index].name for index in (each.head, each.tail))
            yield (
                item, each.document, *each.triple, head, tail, each.score, json.dumps(each.evidence), each.rule,
                each.labelled, True, OPEN, 0, *place, item,
            )  # fmt: skip

    return {
        "about": about.items(),
        "documents": (
            (name, position, json.dumps(jsonl.record(document), ensure_ascii=False))
            for position, (name, document) in enumerate(documents.items())
        ),
        "relations": (
            (relation, name, description, labelled[relation], *missing.get(relation, (None, None, None)))
            for relation, (name, description) in suggestions.relations.items()
        ),
        "type_pairs": ((*types, count) for types, count in type_pairs.items()),
        "examples": find_examples(documents.values()),
        "items": items(),
    }
