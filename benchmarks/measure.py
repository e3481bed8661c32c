"""How things are timed: the best of a few rounds, because the machine is noisy and noise only adds."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The shortest time that `work` took in some rounds."""
    return seconds_in_turns(work, rounds=rounds)[0]


def seconds_in_turns(*works: Callable[[], object], rounds: int = 3) -> list[float]:
    """The shortest time of each of several works that take turns, so that noise meets all alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]
