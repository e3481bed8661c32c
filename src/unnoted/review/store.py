"""The file of a review: what is to be decided, and every decision.

One SQLite file. Decisions are a log of events, to which rows are only added: an undo is one more. When a call
that writes has returned, its event is on disk, whatever happens to the program or to the machine next. Every
event has the order and the filters under which its fact was shown: only what the random order brought without
a filter is a random sample (`unnoted.suggestions.completeness`).
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any

from unnoted.data.document import Document, Triple, join_entities
from unnoted.data.formats import jsonl
from unnoted.data.formats.records import ReadContext
from unnoted.errors import DefectLog
from unnoted.io import content_digest
from unnoted.review.schema import OPEN, create_store
from unnoted.suggestions import Order, SuggestionSet
from unnoted.utils import plural, short_repr

DOCUMENTS_KEPT = 256
"""So many documents stay parsed: a reviewer comes back to the same ones."""

NOT_UNDONE = "NOT EXISTS (SELECT 1 FROM events AS later WHERE later.undoes = events.id)"
MERGES = f"""SELECT document, one, other FROM merges JOIN events ON events.id = event
             WHERE (:document IS NULL OR document = :document) AND {NOT_UNDONE}"""


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

    OPEN = OPEN
    """Nobody has looked at it."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    """Looked at, and not decided."""
    DISAGREED = "disagreed"
    """Somebody accepts it and somebody rejects it."""
    MERGED = "merged"
    """Not asked, since entities were merged: another item or a label says the same, or its head is its tail."""


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


def _event_of(vote: sqlite3.Row) -> int:
    return int(vote["event"])


def _first_vote(votes: Iterable[sqlite3.Row]) -> float:
    return min(map(_event_of, votes), default=inf)


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
        note: what the reviewer wrote about it.
    """

    reviewer: str
    key: str
    order: Order
    filters: str = "{}"
    note: str = ""


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
        """The last decision of each reviewer about a fact, also where it was asked under another number."""
        rows = self.query(
            """SELECT current_decisions.reviewer, verdict, at, note, max(event) AS event FROM current_decisions
               JOIN events ON events.id = event JOIN items ON items.id = item
               WHERE asked_as = (SELECT asked_as FROM items WHERE id = ?)
               GROUP BY current_decisions.reviewer ORDER BY event""",
            (item,),
        )
        return [{name: row[name] for name in ("reviewer", "verdict", "at", "note")} for row in rows]

    def same_as(
        self, document: str, execute: Callable[..., Iterable[sqlite3.Row]] | None = None
    ) -> tuple[int, ...]:
        """For each entity of a document the first one that it is; different where entities were merged.

        Args:
            document: its id.
            execute: runs queries in a transaction, to see what that has merged.
        """
        rows = (execute or self.query)(MERGES, {"document": document})
        pairs = [(row["one"], row["other"]) for row in rows]
        return join_entities(len(self.document(document).entities), pairs)

    def merges(self, document: str | None = None) -> dict[str, list[tuple[int, int]]]:
        """Pairs of entities that are one, by the id of their document."""
        found: dict[str, list[tuple[int, int]]] = {}
        for name, one, other in self.query(MERGES, {"document": document}):
            found.setdefault(name, []).append((one, other))
        return found

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

    def merge(self, author: Author, document: str, one: int, other: int) -> Event:
        """Record that two entities of a document are one: facts of either are facts of both.

        Raises:
            InvalidDecision: there is no such document or entity, they are one already, or their ids differ.
        """
        with self._transaction():
            if (recorded := self._find_event(author)) is not None:
                return recorded
            entities = self.document(document).entities
            if not all(0 <= index < len(entities) for index in (one, other)):
                raise InvalidDecision("There is no such entity in the document.")
            same_as = self.same_as(document, self._writer.execute)
            if same_as[one] == same_as[other]:
                raise InvalidDecision("These two are one entity already.")
            pair = same_as[one], same_as[other]
            ids = {each.id for first, each in zip(same_as, entities, strict=True) if first in pair} - {None}
            if len(ids) > 1:
                listed = " and ".join(sorted(map(short_repr, ids)))
                raise InvalidDecision(
                    f"These two have different ids, {listed}: correct the ids in your corpus."
                )
            return self._record(author, [], merge=(document, one, other))

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
        self,
        author: Author,
        decisions: Sequence[tuple[int, Verdict]],
        undoes: int | None = None,
        merge: tuple[str, int, int] | None = None,
    ) -> Event:
        """Add an event with its decisions, or one that undoes another, and bring what follows up to date."""
        execute, at = self._writer.execute, datetime.now(UTC).isoformat(timespec="milliseconds")
        added = execute(
            "INSERT INTO events (reviewer, at, key, queue_order, filters, note, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (author.reviewer, at, author.key, author.order, author.filters, author.note, undoes),
        )
        event = added.lastrowid or 0
        if merge is not None:
            execute("INSERT INTO merges (event, document, one, other) VALUES (?, ?, ?, ?)", (event, *merge))
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
            execute("UPDATE items SET last_event = ? WHERE id = ?", (event, item))
        about = execute(
            """SELECT document FROM merges WHERE event = :event UNION
               SELECT document FROM items JOIN decisions ON items.id = item WHERE event = :event""",
            {"event": undoes or event},
        )
        for row in about.fetchall():
            self._settle(row["document"], event)
        return Event(event, items, undoes)

    def _settle(self, document: str, event: int) -> None:
        """Bring the states of a document's items up to date: what decisions about them come to.

        Items that say the same, because entities were merged, are one question: the labelled one is asked,
        else the one that was decided first, else the one with the highest score.
        """
        execute = self._writer.execute
        same_as = self.same_as(document, execute)
        votes: defaultdict[int, list[sqlite3.Row]] = defaultdict(list)
        for row in execute(
            """SELECT item, reviewer, verdict, event FROM current_decisions
               JOIN items ON items.id = item WHERE document = ?""",
            (document,),
        ):
            votes[row["item"]].append(row)
        rows = execute(
            "SELECT id, head, tail, relation, labelled, state, asked_as FROM items WHERE document = ?",
            (document,),
        ).fetchall()
        same: dict[Triple, list[sqlite3.Row]] = {}
        for row in rows:
            same.setdefault((same_as[row["head"]], same_as[row["tail"]], row["relation"]), []).append(row)
        labels = {(same_as[head], same_as[tail], name) for head, tail, name in self.document(document).labels}
        for triple, group in same.items():
            asked = min(
                group, key=lambda row: (not row["labelled"], _first_vote(votes[row["id"]]), row["id"])
            )
            is_known = triple in labels and not asked["labelled"]
            for row in group:
                if row is not asked or is_known or triple[0] == triple[1]:
                    state = State.MERGED
                else:
                    every = sorted((vote for each in group for vote in votes[each["id"]]), key=_event_of)
                    state = combine({vote["reviewer"]: Verdict(vote["verdict"]) for vote in every}.values())
                if (state, asked["id"]) != (row["state"], row["asked_as"]):
                    execute(
                        "UPDATE items SET state = ?, asked_as = ?, last_event = ? WHERE id = ?",
                        (state, asked["id"], event, row["id"]),
                    )

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
        same_as = self.same_as(document.id, self._writer.execute)
        if same_as[head] == same_as[tail]:
            raise InvalidDecision("A fact needs two different entities of the document.")
        if (same_as[head], same_as[tail], relation) in {
            (same_as[one], same_as[other], name) for one, other, name in document.labels
        }:
            return None
        names = document.entities[head].name, document.entities[tail].name
        item = int(self._writer.execute("SELECT coalesce(max(id), -1) + 1 FROM items").fetchone()[0])
        # Behind all others in every order.
        self._writer.execute(
            """INSERT INTO items (id, document, head, tail, relation, head_name, tail_name, score, evidence,
               labelled, proposed, by_score, by_document, by_random, asked_as)
               VALUES (?, ?, ?, ?, ?, ?, ?, 1.0, '[]', 0, 0, ?, ?, ?, ?)""",
            (item, document.id, head, tail, relation, *names, item, item, item, item),
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
