"""Several batches at once on a CPU, each on a thread of its own, in place of one batch on all threads.

A document is small: its matrix products are too short to be shared between cores, and Python stands between
them. Two batches beside each other keep two cores busy. Torch lets go of Python's lock while it computes.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None
) -> Iterator[Result]:
    """The result of each item, in their order; as many are worked on at once as torch has threads.

    While they are, torch has one thread for each of them. With one thread or one item, all is done here, with
    what torch has. At most one finished result for each thread waits to be taken.

    Args:
        work: what is done with an item; by several threads at once.
        items: what there is to do.
        threads: how many at once; by default as many as torch has in this thread.

    Raises:
        Exception: what `work` raised, in the place of its result; what has not begun by then is left out.

    Example:
        >>> list(side_by_side(lambda number: number * number, [3, 1, 2], threads=2))
        [9, 1, 4]
    """
    threads = torch.get_num_threads() if threads is None else threads
    if min(threads, len(items)) < 2:
        yield from map(work, items)
        return
    with _pool(min(threads, len(items))) as pool:
        rest = iter(items)
        begun: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(rest, 2 * threads))
        try:
            while begun:
                yield begun.popleft().result()
                begun.extend(pool.submit(work, item) for item in islice(rest, 1))
        finally:
            pool.shutdown(cancel_futures=True)


def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that torch computes on alone."""
    pool, ready = ThreadPoolExecutor(workers, "unnoted-batch"), Barrier(workers + 1)

    def begin() -> None:
        torch.get_num_threads()  # a thread takes over the common number once, and not after this
        torch.set_num_threads(1)
        ready.wait()

    before = torch.get_num_threads()
    for _ in range(workers):
        pool.submit(begin)
    ready.wait()
    torch.set_num_threads(before)  # the common number is that which was set last
    return pool
