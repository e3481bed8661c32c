"""How things are timed: works take turns, because the machine is noisy and noise should meet all alike."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The shortest time that `work` took in some rounds: noise only adds."""
    return seconds_in_turns(work, rounds=rounds)[0]


def seconds_in_turns(*works: Callable[[], object], rounds: int = 3) -> list[float]:
    """The shortest time of each of several works that take turns."""
    return [min(taken) for taken in times_in_turns(*works, rounds=rounds)]


def times_in_turns(
    *works: Callable[[], object], rounds: int = 3, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """What each of several works took in each round, in seconds by the clock."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            start = clock()
            work()
            taken.append(clock() - start)
    return times
