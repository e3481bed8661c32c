"""How complete the labels are, kept up to date while people decide."""

import json
from dataclasses import asdict
from threading import Lock
from typing import Any

import numpy as np

from unnoted.review.store import ReviewStore
from unnoted.review.verdict import Standing
from unnoted.suggestions.completeness import LEVEL, UNDECIDED, Completeness, completeness, random_sample
from unnoted.suggestions.suggestion import Unlisted

HOLDS = {Standing.ACCEPTED: 1, Standing.REJECTED: 0}
"""What a state says of a fact; the other states leave it undecided."""


class LiveCompleteness:
    """Reads all suggestions once, and then only those that have changed.

    Args:
        store: the review.
    """

    def __init__(self, store: ReviewStore) -> None:
        self.store, self._lock = store, Lock()
        self._unlisted = Unlisted(**json.loads(store.about["unlisted"]))
        rows = store.reading.execute(
            "SELECT id, score FROM items WHERE proposed AND NOT labelled ORDER BY by_audit"
        ).fetchall()
        # In the random order, so that its beginning is the beginning here.
        self._places = {row["id"]: place for place, row in enumerate(rows)}
        self._chance = np.clip(np.array([row["score"] for row in rows], dtype=np.float64), 0.0, 1.0)
        self._holds = np.full(len(rows), UNDECIDED, dtype=np.int8)
        self._seen = np.zeros(len(rows), dtype=np.bool_)
        self._last = -1
        self._found: Completeness | None = None

    def estimate(self) -> dict[str, Any] | None:
        """The estimate from everything that is decided by now; None while nothing can be said."""
        with self._lock:
            if self._update() or self._found is None:
                order = np.arange(len(self._chance))
                self._found = completeness(
                    self._noted(), self._chance, self._holds, random_sample(order, self._seen), self._unlisted
                )
            found = self._found
        return asdict(found) | {"level": LEVEL} if found.found + found.missing > 0 else None

    def _update(self) -> bool:
        """Take over what has changed; whether anything has."""
        last = int(self.store.reading.execute("SELECT coalesce(max(id), 0) FROM acts").fetchone()[0])
        if last == self._last:
            return False
        rows = self.store.reading.execute(
            "SELECT id, state FROM items WHERE last_act > ? AND last_act <= ?", (max(self._last, 0), last)
        )
        for item, state in rows:
            if (place := self._places.get(item)) is not None:
                self._holds[place] = HOLDS.get(Standing(state), UNDECIDED)
                self._seen[place] = state != Standing.OPEN
        self._last = last
        return True

    def _noted(self) -> int:
        """Facts in the corpus apart from accepted suggestions."""
        rejected, added = self.store.reading.execute(
            """SELECT coalesce(sum(labelled AND state = 'rejected'), 0),
               coalesce(sum(NOT labelled AND NOT proposed AND state = 'accepted'), 0)
               FROM items WHERE labelled OR NOT proposed"""
        ).fetchone()
        return int(self.store.about["noted"]) - int(rejected) + int(added)
