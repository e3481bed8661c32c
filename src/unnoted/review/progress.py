"""How far a review is: counts, agreement of reviewers, completeness of the labels."""

import json
from dataclasses import asdict
from threading import Lock
from typing import Any

import numpy as np

from unnoted.review.store import ReviewStore, State
from unnoted.suggestions import BelowCutoff, Order, ReviewDecision, estimate_completeness
from unnoted.suggestions.completeness import ENOUGH_DECISIONS, LEVEL

LAST_EVENT = "SELECT coalesce(max(id), 0) FROM events"


def count_progress(store: ReviewStore) -> dict[str, Any]:
    """The figures above the queue, without completeness."""
    rows = store.query("SELECT state, count(*) AS number FROM items WHERE proposed GROUP BY 1")
    states = dict.fromkeys(State, 0) | {State(row["state"]): row["number"] for row in rows}
    reviewers = store.query(
        """SELECT reviewer AS name, sum(verdict = 'accept') AS accepted, sum(verdict = 'reject') AS rejected,
           sum(verdict = 'skip') AS skipped FROM current_decisions GROUP BY 1 ORDER BY count(*) DESC"""
    )
    return {
        "states": states,
        "reviewers": [dict(row) for row in reviewers],
        "agreement": count_agreement(store),
        "last_event": store.value(LAST_EVENT),
    }


def count_agreement(store: ReviewStore) -> list[dict[str, Any]]:
    """For every two reviewers who have decided some of the same facts: how many, and how far they agree."""
    rows = store.query(
        """SELECT one.reviewer, other.reviewer, one.verdict = 'accept', other.verdict = 'accept', count(*)
           FROM current_decisions AS one JOIN current_decisions AS other ON one.item = other.item
           WHERE one.reviewer < other.reviewer AND one.verdict != 'skip' AND other.verdict != 'skip'
           GROUP BY 1, 2, 3, 4"""
    )
    counts: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for one, other, first, second, count in rows:
        counts.setdefault((one, other), {})[first, second] = count
    found = []
    for pair, cells in counts.items():
        four = [cells.get(cell, 0) for cell in ((1, 1), (1, 0), (0, 1), (0, 0))]
        agreed = four[0] + four[3]
        found.append({"reviewers": pair, "both": sum(four), "agreed": agreed, "kappa": cohen_kappa(*four)})
    return found


def cohen_kappa(accepted: int, first_only: int, second_only: int, rejected: int) -> float | None:
    """Cohen's kappa: 1 is full agreement, 0 that of chance; None where each reviewer always decides alike.

    Args:
        accepted: facts that both accept.
        first_only: facts that only the first accepts.
        second_only: facts that only the second accepts.
        rejected: facts that both reject.

    Example:
        >>> cohen_kappa(20, 5, 10, 15), cohen_kappa(3, 0, 0, 0)
        (0.4, None)
    """
    both, agreed = accepted + first_only + second_only + rejected, accepted + rejected
    first, second = accepted + first_only, accepted + second_only
    # By chance, counted in both²: integers, so that full agreement is 1 and not almost 1.
    chance = first * second + (both - first) * (both - second)
    return (agreed * both - chance) / (both * both - chance) if both * both > chance else None


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
            last = self.store.value(LAST_EVENT)
            if last != self._last_event:
                self._estimate, self._last_event = self._compute(), last
            return self._estimate

    def _compute(self) -> dict[str, Any] | None:
        rejected, added = self.store.query(
            """SELECT coalesce(sum(labelled AND state = 'rejected'), 0),
               coalesce(sum(NOT labelled AND NOT proposed AND state = 'accepted'), 0)
               FROM items WHERE labelled OR NOT proposed"""
        )[0]
        labelled = int(self.store.about["labels"]) - int(rejected) + int(added) - self._merged_labels()
        decisions = review_decisions(self.store, self._position)
        found = estimate_completeness(labelled, self._scores, decisions, self._below_cutoff)
        if found.found + found.missing == 0:
            return None
        multiplier = dict(zip(("estimate", "low", "high"), found.multiplier(), strict=True))
        interval = {"estimate": found.estimate, "low": found.low, "high": found.high, "level": LEVEL}
        needed = min(ENOUGH_DECISIONS, len(self._scores))
        return asdict(found) | interval | {"multiplier": multiplier, "needed": needed}

    def _merged_labels(self) -> int:
        """Labels that say the same as others, since entities were merged."""
        again = 0
        for name in self.store.merges():
            same_as, labels = self.store.same_as(name), self.store.document(name).labels
            again += len(labels) - len(
                {(same_as[head], same_as[tail], relation) for head, tail, relation in labels}
            )
        return again


def review_decisions(store: ReviewStore, position: dict[int, int]) -> list[ReviewDecision]:
    """The decided suggestions: what stands now, and how each was brought to a reviewer first.

    The first event about a suggestion is the one that took it out of the undecided, even if it was a skip that
    was decided later, or was undone and decided again. What is not asked, because entities were merged, is left out.

    Args:
        store: the review.
        position: of each suggestion in the list that is sampled.
    """
    rows = store.query(
        """SELECT items.id AS item, state, coalesce(min(decisions.id), 0) AS number,
           coalesce(queue_order, 'score') AS queue_order, coalesce(filters, '{}') AS filters FROM items
           LEFT JOIN decisions ON items.id = item LEFT JOIN events ON events.id = event
           WHERE state != 'open' AND proposed AND NOT labelled
           GROUP BY items.id"""  # of the other columns SQLite takes those of the row that has the minimum
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
