"""The file of a review: what is to be decided, and everything that was decided.

One SQLite file. What was said is a log of acts, to which rows are only added: an undo is one more. When a
call that writes has returned, its act is on disk, whatever happens to the program or to the machine next.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock, local

from unnoted.data.document import Document, Triple
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import ReadContext
from unnoted.errors import DefectLog
from unnoted.review.store_schema import FORMAT
from unnoted.review.verdict import Verdict, state_of
from unnoted.utils import short_repr

CARRIED = "carried"
"""The stream of what was decided in a round before; an undo does not reach back there."""

DOCUMENTS_KEPT = 256
"""So many documents stay parsed: a reviewer comes back to the same ones."""


class NotDecided(ValueError):
    """What was asked for cannot be written down; says why."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who acts, with which key the act can be recognised, in which order and whether filtered the queue was seen."""

    reviewer: str
    key: str
    stream: str
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """An act that is on disk.

    Attributes:
        id: its number.
        items: the facts that it speaks of.
        undoes: the act that it takes back, if any.
    """

    id: int
    items: tuple[int, ...]
    undoes: int | None = None


class ReviewStore:
    """A review's file, open for any number of threads; `unnoted.review.store_making.make_store` makes one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._local = local()
        self._connections: list[sqlite3.Connection] = []
        self._writer = self._connected()
        self.about = _about(self._writer, path)
        self.document = lru_cache(DOCUMENTS_KEPT)(self._document)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    @property
    def reading(self) -> sqlite3.Connection:
        """This thread's connection, for reading."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connected()
        found: sqlite3.Connection = self._local.connection
        return found

    def decide(self, by: Signature, item: int, verdict: Verdict) -> Act:
        """Write down what a reviewer says of a fact."""
        with self._acting(by) as act:
            return act.done or act.say((item, verdict))

    def state_fact(self, by: Signature, document: str, fact: Triple, instead_of: int | None = None) -> Act:
        """Write down a fact that a reviewer states: a further one, or in the place of one that was proposed.

        Args:
            by: who says so.
            document: the document's id.
            fact: what holds.
            instead_of: the proposed fact that does not hold, if this one takes its place.

        Raises:
            NotDecided: there is no such document, entity or relation, or it is labelled already.
        """
        with self._acting(by) as act:
            if (done := act.done) is not None:
                return done
            rejected = [] if instead_of is None else [(instead_of, Verdict.REJECT)]
            item = act.item_of(self.document(document), fact)
            if item is None and not rejected:
                raise NotDecided("This fact is labelled already.")
            stated = [] if item is None else [(item, Verdict.ACCEPT)]
            return act.say(*rejected, *stated)

    def undo(self, by: Signature) -> Act | None:
        """Take back a reviewer's last act, or nothing if there is none."""
        with self._acting(by) as act:
            return act.done or act.undo()

    def _document(self, name: str) -> Document:
        found = self.reading.execute("SELECT record FROM documents WHERE id = ?", (name,)).fetchone()
        if found is None:
            raise NotDecided(f"There is no document {short_repr(name)}.")
        return document_from_record(json.loads(found[0]), ReadContext(DefectLog(str(self.path))))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: on disk when the block ends, and without a trace if it raises."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.OperationalError):  # the disk may be full for that as well
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _acting(self, by: Signature) -> Iterator["_Transaction"]:
        """One act, in a transaction of its own."""
        with self.writing() as connection:
            yield _Transaction(connection, by)

    def _connected(self) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=10, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "mmap_size=268435456"):
            connection.execute(f"PRAGMA {setting}")
        self._connections.append(connection)
        return connection


def _about(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """What the file says of itself; refuses other files."""
    try:
        about = dict(map(tuple, connection.execute("SELECT key, value FROM about")))
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path}: found {error}, expected the file of a review") from None
    if about.get("format") != str(FORMAT):
        raise ValueError(f"{path}: found format {about.get('format')}, expected {FORMAT}")
    return about


class _Transaction:
    """What is written within one transaction."""

    def __init__(self, connection: sqlite3.Connection, by: Signature) -> None:
        self.connection, self.by = connection, by

    @property
    def done(self) -> Act | None:
        """The same act, if it is here already: a browser that got no answer sends it again."""
        found = self.connection.execute(
            "SELECT id, undoes FROM acts WHERE key = ?", (self.by.key,)
        ).fetchone()
        if found is None:
            return None
        return Act(found["id"], self._items_of(found["undoes"] or found["id"]), found["undoes"])

    def say(self, *decisions: tuple[int, Verdict]) -> Act:
        """Add an act with its decisions."""
        act = self._add_act(None)
        try:
            self.connection.executemany(
                "INSERT INTO decisions (act, item, verdict) VALUES (?, ?, ?)",
                [(act, item, verdict) for item, verdict in decisions],
            )
        except (sqlite3.IntegrityError, OverflowError):
            raise NotDecided("There is no such suggestion.") from None
        items = [item for item, _ in decisions]
        self._settle(items, act)
        return Act(act, tuple(items))

    def undo(self) -> Act | None:
        """Add an act that takes back the reviewer's last one."""
        last = self.connection.execute(
            """SELECT id FROM acts WHERE reviewer = ? AND undoes IS NULL AND stream != ?
               AND NOT EXISTS (SELECT 1 FROM acts AS later WHERE later.undoes = acts.id)
               ORDER BY id DESC LIMIT 1""",
            (self.by.reviewer, CARRIED),
        ).fetchone()
        if last is None:
            return None
        act = self._add_act(last["id"])
        items = self._items_of(last["id"])
        self._settle(items, act)
        return Act(act, items, last["id"])

    def item_of(self, document: Document, fact: Triple) -> int | None:
        """The item of a fact, made if there is none yet; None if it is labelled and nobody doubts it."""
        head, tail, relation = fact
        found = self.connection.execute(
            "SELECT id FROM items WHERE document = ? AND head = ? AND tail = ? AND relation = ?",
            (document.id, head, tail, relation),
        ).fetchone()
        if found is not None:
            return int(found["id"])
        if not all(0 <= entity < len(document.entities) for entity in (head, tail)) or head == tail:
            raise NotDecided("A fact needs two different entities of the document.")
        if not self.connection.execute("SELECT 1 FROM relations WHERE id = ?", (relation,)).fetchone():
            raise NotDecided(f"There is no relation {short_repr(relation)}.")
        return None if fact in document.labels else add_item(self.connection, document, fact)

    def _add_act(self, undoes: int | None) -> int:
        by = self.by
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        added = self.connection.execute(
            "INSERT INTO acts (reviewer, at, key, stream, filtered, undoes) VALUES (?, ?, ?, ?, ?, ?)",
            (by.reviewer, at, by.key, by.stream, by.filtered, undoes),
        )
        return added.lastrowid or 0

    def _items_of(self, act: int) -> tuple[int, ...]:
        rows = self.connection.execute("SELECT item FROM decisions WHERE act = ? ORDER BY id", (act,))
        return tuple(row["item"] for row in rows)

    def _settle(self, items: Sequence[int], act: int) -> None:
        for item in items:
            settle(self.connection, item, self.by.reviewer, act)


def settle(connection: sqlite3.Connection, item: int, reviewer: str, act: int) -> None:
    """Bring what follows from the log up to date, for one item and one reviewer."""
    last = connection.execute(
        """SELECT acts.id, verdict FROM decisions JOIN acts ON acts.id = decisions.act
           WHERE item = ? AND reviewer = ?
           AND NOT EXISTS (SELECT 1 FROM acts AS later WHERE later.undoes = acts.id)
           ORDER BY decisions.id DESC LIMIT 1""",
        (item, reviewer),
    ).fetchone()
    connection.execute("DELETE FROM standing WHERE item = ? AND reviewer = ?", (item, reviewer))
    if last is not None:
        said = (item, reviewer, last["verdict"], last["id"])
        connection.execute("INSERT INTO standing (item, reviewer, verdict, act) VALUES (?, ?, ?, ?)", said)
    rows = connection.execute("SELECT verdict FROM standing WHERE item = ?", (item,))
    state = state_of([Verdict(row["verdict"]) for row in rows])
    connection.execute("UPDATE items SET state = ?, last_act = ? WHERE id = ?", (state, act, item))


def add_item(connection: sqlite3.Connection, document: Document, fact: Triple) -> int:
    """A new item that no model proposed; it stands behind all others in every order."""
    head, tail, relation = fact
    item = connection.execute("SELECT coalesce(max(id), -1) + 1 FROM items").fetchone()[0]
    labelled = fact in document.labels
    names = document.entities[head].name, document.entities[tail].name
    connection.execute(
        """INSERT INTO items (id, document, head, tail, relation, head_name, tail_name, probability, score,
           evidence, labelled, proposed, by_score, by_document, by_random)
           VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 1.0, '[]', ?, 0, ?, ?, ?)""",
        (item, document.id, head, tail, relation, *names, labelled, *[item] * 3),
    )
    return int(item)
