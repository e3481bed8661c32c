"""What a reviewer can say of a fact, and where a fact stands when all have spoken."""

from collections.abc import Collection
from enum import StrEnum


class Verdict(StrEnum):
    """What one reviewer says of one fact."""

    ACCEPT = "accept"
    """It holds."""
    REJECT = "reject"
    """It does not hold."""
    SKIP = "skip"
    """Looked at, and left for later or for others."""


class Standing(StrEnum):
    """Where a fact stands."""

    OPEN = "open"
    """Nobody has said anything."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    """Looked at, and nobody has decided."""
    DISAGREED = "disagreed"
    """Somebody says that it holds, and somebody that it does not."""


def state_of(verdicts: Collection[Verdict]) -> Standing:
    """Where a fact stands, from what each reviewer says of it last.

    Example:
        >>> state_of([Verdict.ACCEPT, Verdict.SKIP]), state_of([Verdict.ACCEPT, Verdict.REJECT])
        (<Standing.ACCEPTED: 'accepted'>, <Standing.DISAGREED: 'disagreed'>)
        >>> state_of([])
        <Standing.OPEN: 'open'>
    """
    accepted, rejected = Verdict.ACCEPT in verdicts, Verdict.REJECT in verdicts
    if accepted and rejected:
        return Standing.DISAGREED
    if accepted or rejected:
        return Standing.ACCEPTED if accepted else Standing.REJECTED
    return Standing.SKIPPED if verdicts else Standing.OPEN
