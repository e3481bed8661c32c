"""How far a review is: counts, pace, agreement of reviewers, completeness of the labels."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

import numpy as np

from unnoted.review.store import ReviewStore, State
from unnoted.suggestions import BelowCutoff, Order, ReviewDecision, estimate_completeness
from unnoted.suggestions.completeness import LEVEL

PACE_WINDOW = timedelta(minutes=5)
"""Decisions a minute are counted over the last minutes: what was before a break does not count."""


def count_progress(store: ReviewStore, reviewer: str) -> dict[str, Any]:
    """The figures above the queue, without completeness."""
    rows = store.query("SELECT state, proposed, count(*) AS number FROM items GROUP BY 1, 2")
    counts = {(State(row["state"]), bool(row["proposed"])): row["number"] for row in rows}
    reviewers = store.query(
        """SELECT reviewer AS name, sum(verdict = 'accept') AS accepted, sum(verdict = 'reject') AS rejected,
           sum(verdict = 'skip') AS skipped FROM current_decisions GROUP BY 1 ORDER BY count(*) DESC"""
    )
    return {
        "states": {state: counts.get((state, True), 0) for state in State},
        "added": sum(
            count for (state, proposed), count in counts.items() if not proposed and state != State.OPEN
        ),
        "pace": measure_pace(store, reviewer, datetime.now(UTC)),
        "reviewers": [dict(row) for row in reviewers],
        "agreement": [
            {"reviewers": pair, "both": found.both, "agreed": found.agreed, "kappa": found.kappa}
            for pair, found in agreements(store).items()
        ],
        "last_event": store.value("SELECT coalesce(max(id), 0) FROM events"),
    }


def measure_pace(store: ReviewStore, reviewer: str, now: datetime) -> float | None:
    """A reviewer's decisions a minute of late; None before there are two."""
    since = (now - PACE_WINDOW).isoformat(timespec="milliseconds")
    rows = store.query(
        """SELECT at FROM events WHERE reviewer = ? AND undoes IS NULL AND at >= ?
           AND id > coalesce((SELECT max(id) FROM events), 0) - 5000 ORDER BY id""",
        (reviewer, since),
    )
    if len(rows) < 2:
        return None
    taken = now - datetime.fromisoformat(rows[0]["at"])
    return (len(rows) - 1) / max(taken.total_seconds() / 60, 1 / 60)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two reviewers agree on the facts that both have decided.

    Attributes:
        both: how many facts both have decided.
        agreed: on how many they agree.
        kappa: Cohen's kappa: 1 is full agreement, 0 that of chance; None where it is undefined, because they
            share no fact, or each always decides alike.
    """

    both: int
    agreed: int
    kappa: float | None


def cohen_kappa(accepted: int, first_only: int, second_only: int, rejected: int) -> Agreement:
    """Cohen's kappa from the four counts.

    Args:
        accepted: facts that both accept.
        first_only: facts that only the first accepts.
        second_only: facts that only the second accepts.
        rejected: facts that both reject.

    Example:
        >>> cohen_kappa(20, 5, 10, 15)
        Agreement(both=50, agreed=35, kappa=0.4)
        >>> cohen_kappa(3, 0, 0, 0).kappa is None
        True
    """
    both, agreed = accepted + first_only + second_only + rejected, accepted + rejected
    first, second = accepted + first_only, accepted + second_only
    # By chance, counted in both²: integers, so that full agreement is 1 and not almost 1.
    chance = first * second + (both - first) * (both - second)
    beyond_chance = both * both - chance
    return Agreement(both, agreed, (agreed * both - chance) / beyond_chance if beyond_chance else None)


def agreements(store: ReviewStore) -> dict[tuple[str, str], Agreement]:
    """Every two reviewers who have decided some of the same facts, and how far they agree."""
    rows = store.query(
        """SELECT one.reviewer, other.reviewer, one.verdict = 'accept', other.verdict = 'accept', count(*)
           FROM current_decisions AS one JOIN current_decisions AS other ON one.item = other.item
           WHERE one.reviewer < other.reviewer AND one.verdict != 'skip' AND other.verdict != 'skip'
           GROUP BY 1, 2, 3, 4"""
    )
    counts: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for one, other, first, second, count in rows:
        counts.setdefault((one, other), {})[first, second] = count
    cells = ((1, 1), (1, 0), (0, 1), (0, 0))
    return {pair: cohen_kappa(*(found.get(cell, 0) for cell in cells)) for pair, found in counts.items()}


class CompletenessEstimate:
    """How complete the labels are: an estimate that is kept up to date while people decide.

    Args:
        store: the review.
    """

    def __init__(self, store: ReviewStore) -> None:
        self.store, self._lock = store, Lock()
        rows = store.query("SELECT id, score FROM items WHERE proposed AND NOT labelled ORDER BY id")
        self._position = {row["id"]: position for position, row in enumerate(rows)}
        self._scores = np.array([row["score"] for row in rows], dtype=np.float64)
        self._below_cutoff = BelowCutoff(**json.loads(store.about["below_cutoff"]))
        self._last_event = -1
        self._estimate: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any] | None:
        """The estimate from all decisions, with that of the label-frequency multiplier; None without facts."""
        with self._lock:
            last = self.store.value("SELECT coalesce(max(id), 0) FROM events")
            if last != self._last_event:
                self._estimate, self._last_event = self._compute(), last
            return self._estimate

    def _compute(self) -> dict[str, Any] | None:
        found = estimate_completeness(
            self._labels(), self._scores, review_decisions(self.store, self._position), self._below_cutoff
        )
        if found.found + found.missing == 0:
            return None
        multiplier, low, high = found.multiplier()
        return {
            **asdict(found),
            "estimate": found.estimate,
            "low": found.low,
            "high": found.high,
            "level": LEVEL,
            "multiplier": {"estimate": multiplier, "low": low, "high": high},
        }

    def _labels(self) -> int:
        """Facts in the corpus apart from accepted suggestions."""
        rejected, added = self.store.query(
            """SELECT coalesce(sum(labelled AND state = 'rejected'), 0),
               coalesce(sum(NOT labelled AND NOT proposed AND state = 'accepted'), 0)
               FROM items WHERE labelled OR NOT proposed"""
        )[0]
        return int(self.store.about["labels"]) - int(rejected) + int(added)


def review_decisions(store: ReviewStore, position: dict[int, int]) -> list[ReviewDecision]:
    """The decided suggestions: what stands now, and how each was brought to a reviewer first.

    The first event about a suggestion is the one that took it out of the undecided, even if it was a skip that
    was decided later, or was undone and decided again.

    Args:
        store: the review.
        position: of each suggestion in the list that is sampled.
    """
    rows = store.query(
        """SELECT item, state, min(decisions.id) AS number, queue_order, filters FROM decisions
           JOIN events ON events.id = event JOIN items ON items.id = item
           WHERE state != 'open' AND proposed AND NOT labelled
           GROUP BY item"""  # of the other columns SQLite takes those of the row that has the minimum
    )
    holds = {State.ACCEPTED: True, State.REJECTED: False}
    return [
        ReviewDecision(
            position[row["item"]],
            holds.get(State(row["state"])),
            Order(row["queue_order"]),
            row["filters"] != "{}",
            row["number"],
        )
        for row in rows
    ]
