"""Do reviewers agree more than they would by chance? Cohen's kappa, between every two of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from unnoted.review.store import ReviewStore


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two reviewers agree on the facts that both have decided.

    Attributes:
        both: how many facts both have decided.
        agreed: on how many they agree.
        kappa: 1 is full agreement, 0 what chance gives; None where it has no value: they share no fact, or
            each always says the same.
    """

    both: int
    agreed: int
    kappa: float | None


def agreement(accepted: int, first_only: int, second_only: int, rejected: int) -> Agreement:
    """Cohen's kappa from the four counts.

    Args:
        accepted: facts that both accept.
        first_only: facts that only the first accepts.
        second_only: facts that only the second accepts.
        rejected: facts that both reject.

    Example:
        >>> agreement(20, 5, 10, 15)
        Agreement(both=50, agreed=35, kappa=0.4)
        >>> agreement(3, 0, 0, 0).kappa is None
        True
    """
    both, agreed = accepted + first_only + second_only + rejected, accepted + rejected
    first, second = accepted + first_only, accepted + second_only
    # By chance, counted in both²: integers, so that full agreement is 1 and not almost 1.
    chance = first * second + (both - first) * (both - second)
    room = both * both - chance
    return Agreement(both, agreed, (agreed * both - chance) / room if room else None)


def agreements(store: ReviewStore) -> dict[tuple[str, str], Agreement]:
    """Every two reviewers who have decided some of the same facts, and how far they agree."""
    rows = store.reading.execute(
        """SELECT one.reviewer, other.reviewer, one.verdict = 'accept', other.verdict = 'accept', count(*)
           FROM standing AS one JOIN standing AS other ON one.item = other.item
           WHERE one.reviewer < other.reviewer AND one.verdict != 'skip' AND other.verdict != 'skip'
           GROUP BY 1, 2, 3, 4"""
    )
    return _by_pair(tuple(row) for row in rows)


def _by_pair(rows: Iterable[tuple[str, str, int, int, int]]) -> dict[tuple[str, str], Agreement]:
    counts: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for one, other, first, second, count in rows:
        counts.setdefault((one, other), {})[first, second] = count
    cells = ((1, 1), (1, 0), (0, 1), (0, 0))
    return {pair: agreement(*(found.get(cell, 0) for cell in cells)) for pair, found in counts.items()}
