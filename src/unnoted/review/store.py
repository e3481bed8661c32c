"""The file of a review: what is to be decided, and every decision.

One SQLite file. Decisions are a log of events, to which rows are only added: an undo is one more. When a call
that writes has returned, its event is on disk, whatever happens to the program or to the machine next. Every
event has the order and the filters under which its fact was shown: only what the random order brought without
a filter is a random sample (`unnoted.suggestions.completeness`).
"""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from unnoted.data.document import Document, Triple, entity_types
from unnoted.data.formats import jsonl
from unnoted.data.formats.records import ReadContext
from unnoted.errors import DefectLog
from unnoted.io import content_digest
from unnoted.review.item import find_examples
from unnoted.suggestions import Order, SuggestionSet, rank
from unnoted.utils import plural, short_repr

DOCUMENTS_KEPT = 256
"""So many documents stay parsed: a reviewer comes back to the same ones."""

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
  head_name TEXT NOT NULL, tail_name TEXT NOT NULL, words TEXT NOT NULL,
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
  UNIQUE (document, head, tail, relation)
);

CREATE TABLE events (                 -- one key press, or what comes to the same
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reviewer TEXT NOT NULL,
  at TEXT NOT NULL,                   -- UTC
  key TEXT NOT NULL UNIQUE,           -- chosen by the browser: an event that is sent twice counts once
  queue_order TEXT NOT NULL,          -- the order in which the reviewer saw the queue
  filters TEXT NOT NULL,              -- the filters that were on, as JSON; {} where there were none
  undoes INTEGER REFERENCES events
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
CREATE INDEX items_last_event ON items (last_event);
CREATE INDEX items_apart ON items (labelled, proposed, state) WHERE labelled OR NOT proposed;
CREATE INDEX events_reviewer ON events (reviewer);
CREATE INDEX events_undoes ON events (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX decisions_event ON decisions (event);
CREATE INDEX decisions_item ON decisions (item);
CREATE INDEX current_decisions_reviewer ON current_decisions (reviewer, verdict);
"""


NOT_UNDONE = "NOT EXISTS (SELECT 1 FROM events AS later WHERE later.undoes = events.id)"


class Verdict(StrEnum):
    """A reviewer's decision about one fact."""

    ACCEPT = "accept"
    """It holds."""
    REJECT = "reject"
    """It does not hold."""
    SKIP = "skip"
    """Looked at, and left for later or for others."""


class State(StrEnum):
    """What the decisions of all reviewers about one fact come to."""

    OPEN = "open"
    """Nobody has looked at it."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    """Looked at, and not decided."""
    DISAGREED = "disagreed"
    """Somebody accepts it and somebody rejects it."""


def combine(verdicts: Collection[Verdict]) -> State:
    """The state of a fact, from each reviewer's last verdict.

    Example:
        >>> combine([Verdict.ACCEPT, Verdict.SKIP]), combine([Verdict.ACCEPT, Verdict.REJECT]), combine([])
        (<State.ACCEPTED: 'accepted'>, <State.DISAGREED: 'disagreed'>, <State.OPEN: 'open'>)
    """
    accepted, rejected = Verdict.ACCEPT in verdicts, Verdict.REJECT in verdicts
    if accepted and rejected:
        return State.DISAGREED
    if accepted or rejected:
        return State.ACCEPTED if accepted else State.REJECTED
    return State.SKIPPED if verdicts else State.OPEN


class InvalidDecision(ValueError):
    """A decision that cannot be recorded; says why."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who decides, and how the fact was shown.

    Attributes:
        reviewer: the reviewer's name.
        key: of the event: one that is sent again is recorded once.
        order: the order of the queue.
        filters: the filters of the queue that were on; empty where there were none, and the queue itself chose
            the fact.
    """

    reviewer: str
    key: str
    order: Order
    filters: str = "{}"


@dataclass(frozen=True, slots=True)
class Event:
    """An event that is on disk.

    Attributes:
        id: its number.
        items: the facts that it is about.
        undoes: the event that it undoes, if any.
    """

    id: int
    items: tuple[int, ...]
    undoes: int | None = None


class ReviewStore:
    """A review's file, open for any number of threads; `open_review` makes one.

    There are two connections, one to write and one to read, each of which one thread uses at a time.

    Args:
        path: of the file.

    Raises:
        ValueError: the file is no review.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer, self._reader = self._connect(), self._connect()
        self._write_lock, self._read_lock = Lock(), Lock()
        try:
            self.about = {row["key"]: row["value"] for row in self.query("SELECT key, value FROM about")}
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{path}: this is no file of a review ({error})") from None
        self.document = lru_cache(DOCUMENTS_KEPT)(self._read_document)

    def _connect(self) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=10, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        with suppress(sqlite3.DatabaseError):  # no database: the first query says so
            for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "mmap_size=268435456"):
                connection.execute(f"PRAGMA {setting}")
        return connection

    def close(self) -> None:
        """Close the file."""
        with self._write_lock, self._read_lock:
            self._writer.close()
            self._reader.close()

    # Reading

    def query(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._read_lock:
            return self._reader.execute(sql, values).fetchall()

    def value(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:  # noqa: ANN401
        """The first value of the first row of a query."""
        return self.query(sql, values)[0][0]

    def decisions_of(self, item: int) -> list[dict[str, Any]]:
        """The last decision of each reviewer about a fact."""
        rows = self.query(
            """SELECT current_decisions.reviewer, verdict, at FROM current_decisions
               JOIN events ON events.id = event WHERE item = ? ORDER BY event""",
            (item,),
        )
        return [dict(row) for row in rows]

    def _read_document(self, name: str) -> Document:
        rows = self.query("SELECT record FROM documents WHERE id = ?", (name,))
        if not rows:
            raise InvalidDecision(f"There is no document {short_repr(name)}.")
        context = ReadContext(DefectLog(str(self.path)))
        return jsonl.document_from_record(json.loads(rows[0][0]), context)

    # Deciding

    def decide(self, author: Author, item: int, verdict: Verdict) -> Event:
        """Record a reviewer's verdict on a fact.

        Raises:
            InvalidDecision: there is no such fact.
        """
        with self._transaction():
            return self._find_event(author) or self._record(author, [(item, verdict)])

    def add_fact(self, author: Author, document: str, fact: Triple, instead_of: int | None = None) -> Event:
        """Record a fact that a reviewer adds, or puts in the place of a proposed one.

        Args:
            author: who says so.
            document: the document's id.
            fact: that holds.
            instead_of: the proposed fact that does not hold, if this one takes its place.

        Raises:
            InvalidDecision: there is no such document, entity or relation, or it is labelled already.
        """
        with self._transaction():
            if (recorded := self._find_event(author)) is not None:
                return recorded
            decisions = [] if instead_of is None else [(instead_of, Verdict.REJECT)]
            item = self._find_or_add(self.document(document), fact)
            if item is not None:
                decisions.append((item, Verdict.ACCEPT))
            if not decisions:
                raise InvalidDecision("This fact is labelled already.")
            return self._record(author, decisions)

    def undo(self, author: Author) -> Event | None:
        """Undo a reviewer's last event; None if there is none."""
        with self._transaction():
            if (recorded := self._find_event(author)) is not None:
                return recorded
            last = self._writer.execute(
                f"SELECT id FROM events WHERE reviewer = ? AND undoes IS NULL AND {NOT_UNDONE} ORDER BY id DESC",
                (author.reviewer,),
            ).fetchone()
            return None if last is None else self._record(author, [], undoes=last["id"])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Everything is on disk when the block ends, and nothing is if it raises."""
        with self._write_lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.OperationalError):  # the disk may be full for that as well
                    self._writer.execute("ROLLBACK")
                raise

    def _find_event(self, author: Author) -> Event | None:
        """The same event, if it is here already: a browser that got no answer sends it again."""
        row = self._writer.execute("SELECT id, undoes FROM events WHERE key = ?", (author.key,)).fetchone()
        return (
            None
            if row is None
            else Event(row["id"], self._items_of(row["undoes"] or row["id"]), row["undoes"])
        )

    def _items_of(self, event: int) -> tuple[int, ...]:
        rows = self._writer.execute("SELECT item FROM decisions WHERE event = ? ORDER BY id", (event,))
        return tuple(row["item"] for row in rows)

    def _record(
        self, author: Author, decisions: Sequence[tuple[int, Verdict]], undoes: int | None = None
    ) -> Event:
        """Add an event with its decisions, or one that undoes another, and bring what follows up to date."""
        execute, at = self._writer.execute, datetime.now(UTC).isoformat(timespec="milliseconds")
        added = execute(
            "INSERT INTO events (reviewer, at, key, queue_order, filters, undoes) VALUES (?, ?, ?, ?, ?, ?)",
            (author.reviewer, at, author.key, author.order, author.filters, undoes),
        )
        event = added.lastrowid or 0
        try:
            for item, verdict in decisions:
                execute(
                    "INSERT INTO decisions (event, item, verdict) VALUES (?, ?, ?)", (event, item, verdict)
                )
        except (sqlite3.IntegrityError, OverflowError):
            raise InvalidDecision("There is no such suggestion.") from None
        items = self._items_of(undoes or event)
        for item in items:
            execute("DELETE FROM current_decisions WHERE item = ? AND reviewer = ?", (item, author.reviewer))
            execute(
                f"""INSERT INTO current_decisions (item, reviewer, verdict, event)
                    SELECT item, reviewer, verdict, events.id FROM decisions JOIN events ON events.id = event
                    WHERE item = ? AND reviewer = ? AND {NOT_UNDONE} ORDER BY decisions.id DESC LIMIT 1""",
                (item, author.reviewer),
            )
            rows = execute("SELECT verdict FROM current_decisions WHERE item = ?", (item,))
            state = combine([Verdict(row["verdict"]) for row in rows])
            execute("UPDATE items SET state = ?, last_event = ? WHERE id = ?", (state, event, item))
        return Event(event, items, undoes)

    def _find_or_add(self, document: Document, fact: Triple) -> int | None:
        """The item of a fact, added if there is none yet; None if it is labelled and nobody doubts it."""
        head, tail, relation = fact
        found = self._writer.execute(
            "SELECT id FROM items WHERE document = ? AND head = ? AND tail = ? AND relation = ?",
            (document.id, head, tail, relation),
        ).fetchone()
        if found is not None:
            return int(found["id"])
        if not all(0 <= entity < len(document.entities) for entity in (head, tail)) or head == tail:
            raise InvalidDecision("A fact needs two different entities of the document.")
        if not self._writer.execute("SELECT 1 FROM relations WHERE id = ?", (relation,)).fetchone():
            raise InvalidDecision(f"There is no relation {short_repr(relation)}.")
        if fact in document.labels:
            return None
        names = document.entities[head].name, document.entities[tail].name
        item = int(self._writer.execute("SELECT coalesce(max(id), -1) + 1 FROM items").fetchone()[0])
        # Behind all others in every order.
        self._writer.execute(
            """INSERT INTO items (id, document, head, tail, relation, head_name, tail_name, score, evidence,
               labelled, proposed, by_score, by_document, by_random)
               VALUES (?, ?, ?, ?, ?, ?, ?, 1.0, '[]', 0, 0, ?, ?, ?)""",
            (item, document.id, head, tail, relation, *names, item, item, item),
        )
        return item


# Beginning and opening a review


def review_path(suggestions: Path) -> Path:
    """The default file of the review of a file of suggestions.

    Example:
        >>> review_path(Path("own/suggestions.jsonl.gz")).as_posix()
        'own/suggestions.review.db'
    """
    name = suggestions.name.removesuffix(".gz").removesuffix(".jsonl")
    return suggestions.with_name(f"{name}.review.db")


def is_review(path: Path) -> bool:
    """Whether a file is an SQLite file, as reviews are."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(16) == b"SQLite format 3\0"


def open_existing(path: Path) -> ReviewStore:
    """The review in a file, or the one of a file of suggestions.

    Raises:
        ValueError: there is none.
    """
    place = path if is_review(path) else review_path(path)
    if not is_review(place):
        raise ValueError(f"{place}: there is no review of {path} here: begin one with `unnoted review start`")
    return ReviewStore(place)


def open_review(
    file: Path, database: Path | None = None, log: Callable[[str], None] = lambda line: None
) -> ReviewStore:
    """Begin a review, or continue it.

    Args:
        file: suggestions, or a review that was begun.
        database: the review's file; by default beside the suggestions.
        log: gets lines for the user.

    Raises:
        ValueError: a file is missing, or belongs to other suggestions.
    """
    if is_review(file):
        if database is not None:
            raise ValueError(f"{file}: this is a review: --database goes with suggestions")
        return ReviewStore(file)
    place = review_path(file) if database is None else database
    checksum = content_digest(file)
    if not place.exists():
        suggestions = SuggestionSet.load(file)
        create_store(place, suggestions, file.name, checksum)
        log(f"{plural(len(suggestions.suggestions), 'suggestion')} to review in {place}")
    elif not is_review(place):
        raise ValueError(f"{place}: this is no review: name a new file with --database")
    store = ReviewStore(place)
    if store.about["suggestions_checksum"] != checksum:
        store.close()
        raise ValueError(
            f"{place}: this is the review of other suggestions than {file}: "
            "name a new file with --database, or review that one"
        )
    return store


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
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(partial, isolation_level=None)) as connection:
            # Nothing is lost with a file that is not complete, and the next start makes it anew.
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(TABLES)
            connection.execute("BEGIN")
            for table, rows in _tables(suggestions, file, checksum).items():
                columns = len(connection.execute(f"SELECT * FROM {table}").description)
                marks = ", ".join("?" * columns)
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.execute("COMMIT")
            connection.executescript(INDEXES)
            connection.execute("ANALYZE")
        _sync(partial)
        os.replace(partial, path)
        _sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


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
                each.labelled, True, State.OPEN, 0, *place,
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


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
