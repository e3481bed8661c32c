"""The queue: which facts are shown, in which order, a page at a time."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from unnoted.suggestions import Order

if TYPE_CHECKING:
    from unnoted.review.store import ReviewStore

FIRST = -1
"""The rank before the first."""


class View(StrEnum):
    """Which facts are shown, by their state."""

    OPEN = "open"
    MINE = "not-by-me"
    DECIDED = "decided"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    DISAGREED = "disagreed"
    ADDED = "added"
    ALL = "all"


_CONDITIONS = {
    View.OPEN: "state = 'open' AND proposed",
    View.MINE: "proposed AND mine.item IS NULL",
    View.DECIDED: "state IN ('accepted', 'rejected', 'disagreed')",
    View.ACCEPTED: "state = 'accepted'",
    View.REJECTED: "state = 'rejected'",
    View.SKIPPED: "state = 'skipped'",
    View.DISAGREED: "state = 'disagreed'",
    View.ADDED: "NOT proposed AND state != 'open'",
    View.ALL: "(proposed OR state != 'open')",
}


class Filters(BaseModel):
    """Which facts are shown; by default every proposed one that nobody has looked at.

    Attributes:
        view: by state.
        relation: one relation's id.
        document: one document's id.
        low: the lowest score.
        high: the highest score.
        suspicious: True: labelled facts that look wrong only; False: unlabelled facts only.
        by: facts that this reviewer has decided or skipped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    view: View = View.OPEN
    relation: str | None = None
    document: str | None = None
    low: Annotated[float, Field(ge=0, le=1)] = 0.0
    high: Annotated[float, Field(ge=0, le=1)] = 1.0
    suspicious: bool | None = None
    by: str | None = None

    def conditions(self) -> tuple[str, dict[str, Any]]:
        """The filters in SQL, and the values in it.

        Example:
            >>> Filters(relation="met").conditions()
            ("(state = 'open' AND proposed) AND relation = :relation", {'relation': 'met'})
        """
        clauses = [f"({_CONDITIONS[self.view]})"]
        values: dict[str, Any] = {}
        for name, clause in (
            ("relation", "relation = :relation"),
            ("document", "document = :document"),
            ("suspicious", "labelled = :suspicious"),
            ("by", "id IN (SELECT item FROM current_decisions WHERE reviewer = :by)"),
        ):
            if (value := getattr(self, name)) is not None:
                clauses.append(clause)
                values[name] = value
        if self.low > 0:
            clauses.append("score >= :low")
            values["low"] = self.low
        if self.high < 1:
            clauses.append("score <= :high")
            values["high"] = self.high
        return " AND ".join(clauses), values


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue as one reviewer sees it.

    Attributes:
        store: the review.
        reviewer: who looks.
        order: of the facts.
        filters: which facts.
    """

    store: "ReviewStore"
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
        where, values = self.filters.conditions()
        rank = rank_column(self.order)
        if held:
            where += f" AND id NOT IN ({', '.join(str(int(item)) for item in held)})"
        rows = self.store.query(
            f"""SELECT id, {rank} AS rank, document, head, tail, head_name, tail_name, relation, score,
                labelled, proposed, state, mine.verdict AS mine
                FROM items LEFT JOIN current_decisions AS mine ON mine.item = id AND mine.reviewer = :me
                WHERE {rank} > :after AND {where} ORDER BY {rank} LIMIT :limit""",
            values | {"me": self.reviewer, "after": after, "limit": limit},
        )
        return [
            dict(row) | {"labelled": bool(row["labelled"]), "proposed": bool(row["proposed"])} for row in rows
        ]

    def count(self) -> int:
        """How many facts are shown in all."""
        where, values = self.filters.conditions()
        sql = f"""SELECT count(*) FROM items
                  LEFT JOIN current_decisions AS mine ON mine.item = id AND mine.reviewer = :me
                  WHERE {where}"""
        return int(self.store.value(sql, values | {"me": self.reviewer}))


def rank_column(order: Order) -> str:
    """The column of the ranks in an order."""
    return f"by_{order.value}"
