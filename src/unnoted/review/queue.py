"""The queue: which facts are shown, in which order, a page at a time."""

from collections.abc import Collection
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from unnoted.review.store import ReviewStore
from unnoted.suggestions import Order

FIRST = -1
"""The rank before the first."""

_JOINED = "items LEFT JOIN current_decisions AS mine ON mine.item = id AND mine.reviewer = :me"


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


_OF_VIEW = {
    View.OPEN: "state = 'open' AND proposed",
    View.MINE: "proposed AND mine.item IS NULL",
    View.DECIDED: "state IN ('accepted', 'rejected', 'disagreed')",
    View.ADDED: "NOT proposed AND state != 'open'",
    View.ALL: "(proposed OR state != 'open')",
}
"""The conditions of views that are not one state."""


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

    def conditions(self) -> str:
        """The filters in SQL; their values go by their names.

        Example:
            >>> Filters(relation="met").conditions()
            "(state = 'open' AND proposed) AND relation = :relation"
        """
        conditions = {
            "relation": "relation = :relation",
            "document": "document = :document",
            "low": "score >= :low",
            "high": "score <= :high",
            "suspicious": "labelled = :suspicious",
            "by": "id IN (SELECT item FROM current_decisions WHERE reviewer = :by)",
        }
        given = self.model_dump(exclude_defaults=True)
        view = _OF_VIEW.get(self.view, f"state = '{self.view}'")
        return " AND ".join([f"({view})", *(sql for name, sql in conditions.items() if name in given)])


def read_queue(
    store: ReviewStore,
    reviewer: str,
    order: Order,
    filters: Filters,
    *,
    after: int = FIRST,
    limit: int = 100,
    held: Collection[int] = (),
) -> list[dict[str, Any]]:
    """The facts of the queue that come after a rank, as one reviewer sees them.

    Args:
        store: the review.
        reviewer: who looks.
        order: of the facts.
        filters: which facts.
        after: the rank of the last one that was shown.
        limit: at most so many.
        held: facts to leave out: others are looking at them.
    """
    rank = f"by_{order.value}"
    left_out = f"id NOT IN ({', '.join(str(int(item)) for item in held)})"
    rows = store.query(
        f"""SELECT id, {rank} AS rank, document, head, tail, head_name, tail_name, relation, score,
            labelled, proposed, state, mine.verdict AS mine FROM {_JOINED}
            WHERE {rank} > :after AND {filters.conditions()} AND {left_out} ORDER BY {rank} LIMIT :limit""",
        filters.model_dump() | {"me": reviewer, "after": after, "limit": limit},
    )
    return [
        dict(row) | {"labelled": bool(row["labelled"]), "proposed": bool(row["proposed"])} for row in rows
    ]


def count_queue(store: ReviewStore, reviewer: str, filters: Filters) -> int:
    """How many facts the queue shows in all."""
    sql = f"SELECT count(*) FROM {_JOINED} WHERE {filters.conditions()}"
    return int(store.value(sql, filters.model_dump() | {"me": reviewer}))
