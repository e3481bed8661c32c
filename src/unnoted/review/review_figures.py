"""How far a review has come, and how fast it goes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from unnoted.review.agreement import agreements
from unnoted.review.store import CARRIED, ReviewStore
from unnoted.review.verdict import Standing

PACE_WINDOW = timedelta(minutes=5)
"""Decisions a minute are counted over the last minutes: what was before a break does not count."""


def progress(store: ReviewStore, reviewer: str) -> dict[str, Any]:
    """The figures that are shown above the queue."""
    rows = store.reading.execute("SELECT state, proposed, count(*) FROM items GROUP BY 1, 2")
    counts = {(Standing(state), bool(proposed)): count for state, proposed, count in rows}
    return {
        "states": {state: counts.get((state, True), 0) for state in Standing},
        "added": sum(
            count for (state, by_model), count in counts.items() if not by_model and state != "open"
        ),
        "mine": _said_by(store, reviewer),
        "pace": pace(store, reviewer, datetime.now(UTC)),
        "reviewers": _reviewers(store),
        "agreement": [
            {"reviewers": pair, "both": found.both, "agreed": found.agreed, "kappa": found.kappa}
            for pair, found in agreements(store).items()
        ],
        "last_act": _last_act(store),
    }


def pace(store: ReviewStore, reviewer: str, now: datetime) -> float | None:
    """A reviewer's decisions a minute of late; None before there are two."""
    since = (now - PACE_WINDOW).isoformat(timespec="milliseconds")
    rows = store.reading.execute(
        """SELECT at FROM acts WHERE reviewer = ? AND undoes IS NULL AND stream != ? AND at >= ?
           AND id > coalesce((SELECT max(id) FROM acts), 0) - 5000 ORDER BY id""",
        (reviewer, CARRIED, since),
    ).fetchall()
    if len(rows) < 2:
        return None
    taken = now - datetime.fromisoformat(rows[0][0])
    return (len(rows) - 1) / max(taken.total_seconds() / 60, 1 / 60)


def _said_by(store: ReviewStore, reviewer: str) -> int:
    found = store.reading.execute("SELECT count(*) FROM standing WHERE reviewer = ?", (reviewer,))
    return int(found.fetchone()[0])


def _reviewers(store: ReviewStore) -> list[dict[str, Any]]:
    rows = store.reading.execute(
        """SELECT reviewer AS name, sum(verdict = 'accept') AS accepted, sum(verdict = 'reject') AS rejected,
           sum(verdict = 'skip') AS skipped FROM standing GROUP BY 1 ORDER BY count(*) DESC"""
    )
    return [dict(row) for row in rows]


def _last_act(store: ReviewStore) -> int:
    return int(store.reading.execute("SELECT coalesce(max(id), 0) FROM acts").fetchone()[0])
