"""Who looks at what just now, so that two reviewers at one queue are not given the same fact."""

import time
from collections.abc import Callable
from threading import Lock

HELD_FOR = 120.0
"""Seconds. Who has looked at a fact for longer without a word has gone for coffee."""


class Presence:
    """Remembers the fact that each reviewer was shown last.

    Args:
        clock: gives seconds.

    Example:
        >>> presence = Presence()
        >>> presence.look("Ada", 7)
        >>> presence.held_from("Bo"), presence.held_from("Ada")
        ([7], [])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._looking: dict[str, tuple[int, float]] = {}

    def look(self, reviewer: str, item: int) -> None:
        """A reviewer is shown a fact."""
        with self._lock:
            self._looking[reviewer] = item, self._clock()

    def held_from(self, reviewer: str) -> list[int]:
        """The facts at which others are looking."""
        since = self._clock() - HELD_FOR
        with self._lock:
            looking = list(self._looking.items())
        return [item for name, (item, at) in looking if name != reviewer and at >= since]
