"""The queue: which facts are shown, in which order, a page at a time."""

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from unnoted.review.store import ReviewStore
from unnoted.suggestions.ranking import Order

FIRST = -1
"""The rank before the first."""


class View(Enum):
    """Which facts are shown, by what was said of them: its name, and the condition in SQL."""

    OPEN = "open", "state = 'open' AND proposed"
    MINE = "not-by-me", "proposed AND mine.item IS NULL"
    DECIDED = "decided", "state IN ('accepted', 'rejected', 'disagreed')"
    ACCEPTED = "accepted", "state = 'accepted'"
    REJECTED = "rejected", "state = 'rejected'"
    SKIPPED = "skipped", "state = 'skipped'"
    DISAGREED = "disagreed", "state = 'disagreed'"
    ADDED = "added", "NOT proposed AND state != 'open'"
    ALL = "all", "(proposed OR state != 'open')"

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return self.value[0]

    @property
    def condition(self) -> str:
        """Its condition."""
        return self.value[1]


VIEWS = {view.slug: view for view in View}


@dataclass(frozen=True, slots=True)
class Filters:
    """What is shown; everything by default that nobody has decided.

    Attributes:
        view: by what was said.
        relation: one relation's id.
        document: one document's id.
        low: the least probability.
        high: the largest probability.
        doubtful: True: labelled facts that look wrong only; False: facts that are not labelled only.
        by: facts of which this reviewer has said something.
    """

    view: View = View.OPEN
    relation: str | None = None
    document: str | None = None
    low: float = 0.0
    high: float = 1.0
    doubtful: bool | None = None
    by: str | None = None

    def conditions(self) -> tuple[str, dict[str, Any]]:
        """The filters in SQL, and the values in it."""
        said = [f"({self.view.condition})"]
        values: dict[str, Any] = {"low": self.low, "high": self.high}
        if self.relation is not None:
            said.append("relation = :relation")
            values["relation"] = self.relation
        if self.document is not None:
            said.append("document = :document")
            values["document"] = self.document
        if self.low > 0:
            said.append("score >= :low")
        if self.high < 1:
            said.append("score <= :high")
        if self.doubtful is not None:
            said.append("labelled = :labelled")
            values["labelled"] = self.doubtful
        if self.by is not None:
            said.append("id IN (SELECT item FROM standing WHERE reviewer = :by)")
            values["by"] = self.by
        return " AND ".join(said), values


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue as one reviewer sees it.

    Attributes:
        store: the review.
        reviewer: who looks.
        order: in which order.
        filters: at what.
    """

    store: ReviewStore
    reviewer: str
    order: Order
    filters: Filters = field(default_factory=Filters)

    def page(self, after: int = FIRST, limit: int = 100, held: Collection[int] = ()) -> list[dict[str, Any]]:
        """The facts that come after a rank.

        Args:
            after: the rank of the last one that was shown.
            limit: at most so many.
            held: facts to leave out: others are looking at them.
        """
        said, values = self.filters.conditions()
        rank = column(self.order)
        if held:
            said += f" AND id NOT IN ({', '.join(str(int(item)) for item in held)})"
        rows = self.store.reading.execute(
            f"""SELECT id, {rank} AS rank, document, head, tail, head_name, tail_name, relation, probability,
                score, labelled, proposed, state, mine.verdict AS mine
                FROM items LEFT JOIN standing AS mine ON mine.item = id AND mine.reviewer = :me
                WHERE {rank} > :after AND {said} ORDER BY {rank} LIMIT :limit""",
            values | {"me": self.reviewer, "after": after, "limit": limit},
        )
        return [_row(row) for row in rows]

    def count(self) -> int:
        """How many facts are shown in all."""
        said, values = self.filters.conditions()
        found = self.store.reading.execute(
            f"""SELECT count(*) FROM items
                LEFT JOIN standing AS mine ON mine.item = id AND mine.reviewer = :me WHERE {said}""",
            values | {"me": self.reviewer},
        )
        return int(found.fetchone()[0])


def column(order: Order) -> str:
    """The column of the ranks in an order."""
    return f"by_{order.value}"


def _row(row: sqlite3.Row) -> dict[str, Any]:
    fields = dict(row)
    for key in ("labelled", "proposed"):
        fields[key] = bool(fields[key])
    return fields
