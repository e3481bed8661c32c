"""How complete the labels are, kept up to date while people decide."""

import json
from dataclasses import asdict
from threading import Lock
from typing import Any

import numpy as np

from unnoted.review.store import ReviewStore
from unnoted.review.verdict import Standing
from unnoted.suggestions.completeness import (
    LEVEL,
    BelowCutoff,
    Completeness,
    ReviewDecision,
    estimate_completeness,
)
from unnoted.suggestions.ranking import Order

HOLDS = {Standing.ACCEPTED: True, Standing.REJECTED: False}
"""What a state says of a fact; in the other states it cannot be told."""


class LiveCompleteness:
    """Reads the scores once, and decisions when there are new ones.

    Args:
        store: the review.
    """

    def __init__(self, store: ReviewStore) -> None:
        self.store, self._lock = store, Lock()
        self._below_cutoff = BelowCutoff(**json.loads(store.about["unlisted"]))
        rows = store.reading.execute(
            "SELECT id, score FROM items WHERE proposed AND NOT labelled ORDER BY id"
        ).fetchall()
        self._position = {row["id"]: position for position, row in enumerate(rows)}
        self._scores = np.clip(np.array([row["score"] for row in rows], dtype=np.float64), 0.0, 1.0)
        self._last = -1
        self._found: Completeness | None = None

    def estimate(self) -> dict[str, Any] | None:
        """The estimate from everything that is decided by now; None while nothing can be said."""
        with self._lock:
            last = int(self.store.reading.execute("SELECT coalesce(max(id), 0) FROM acts").fetchone()[0])
            if self._found is None or last != self._last:
                self._found = estimate_completeness(
                    self._labelled(), self._scores, self._decisions(), self._below_cutoff
                )
                self._last = last
            found = self._found
        if not found.found + found.missing:
            return None
        shares = {"estimate": found.estimate, "low": found.low, "high": found.high, "level": LEVEL}
        return asdict(found) | shares | {"multiplier": found.multiplier()}

    def _decisions(self) -> list[ReviewDecision]:
        """Of each suggestion that is not open, the first act that spoke of it, and what stands now."""
        rows = self.store.reading.execute(
            """SELECT items.id AS item, items.state, acts.stream, acts.filtered, acts.id AS act
               FROM items JOIN acts ON acts.id =
                 (SELECT coalesce(min(CASE WHEN verdict != 'skip' THEN act END), min(act))
                  FROM decisions WHERE item = items.id)
               WHERE state != 'open' AND proposed AND NOT labelled"""
        )
        orders = {order.value: order for order in Order}
        return [
            ReviewDecision(
                self._position[row["item"]],
                HOLDS.get(Standing(row["state"])),
                orders.get(row["stream"], Order.SCORE),
                bool(row["filtered"]),
                row["act"],
            )
            for row in rows
        ]

    def _labelled(self) -> int:
        """Facts in the corpus apart from accepted suggestions."""
        rejected, added = self.store.reading.execute(
            """SELECT coalesce(sum(labelled AND state = 'rejected'), 0),
               coalesce(sum(NOT labelled AND NOT proposed AND state = 'accepted'), 0)
               FROM items WHERE labelled OR NOT proposed"""
        ).fetchone()
        return int(self.store.about["noted"]) - int(rejected) + int(added)
