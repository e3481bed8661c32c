"""Several batches at once on a CPU, each on a thread of its own; tasks on a Ray cluster.

A document is small: its matrix products are too short to be shared between cores, and Python runs between
them. Two batches side by side keep two cores busy, as torch releases Python's lock while it computes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import chdir, contextmanager
from itertools import islice
from threading import Barrier, Thread
from typing import TypeVar

import torch

from unnoted.utils import require_extra

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None
) -> Iterator[Result]:
    """The result of each item, in their order; as many are computed at once as torch has threads.

    While they are, torch computes each on one thread. With one thread or one item, all is computed here, with
    all threads of torch. At most one finished result for each thread waits to be taken.

    Args:
        work: called with an item, from several threads at once.
        items: the items.
        threads: how many at once; by default as many as torch has in this thread.

    Raises:
        Exception: what `work` raised, in the place of its result; items that have not begun are left out.

    Example:
        >>> list(map_parallel(lambda number: number * number, [3, 1, 2], threads=2))
        [9, 1, 4]
    """
    threads = torch.get_num_threads() if threads is None else threads
    if min(threads, len(items)) < 2:
        yield from map(work, items)
        return
    with _single_threaded_pool(min(threads, len(items))) as pool:
        rest = iter(items)
        begun: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(rest, 2 * threads))
        try:
            while begun:
                yield begun.popleft().result()
                begun.extend(pool.submit(work, item) for item in islice(rest, 1))
        finally:
            pool.shutdown(cancel_futures=True)


def start_workers(count: int, work: Callable[[], None], name: str) -> list[Thread]:
    """Start threads that do the same work; what one of them computes with torch runs on that one alone.

    Args:
        count: how many; a single one has all threads of torch.
        work: what each does.
        name: what they are called.
    """
    if count == 1:
        threads = [Thread(target=work, name=name, daemon=True)]
        threads[0].start()
        return threads
    with _one_thread_each(count) as begin:

        def run() -> None:
            begin()
            work()

        threads = [Thread(target=run, name=f"{name}-{number}", daemon=True) for number in range(count)]
        for thread in threads:
            thread.start()
    return threads


def _single_threaded_pool(workers: int) -> ThreadPoolExecutor:
    pool = ThreadPoolExecutor(workers, "unnoted-batch")
    with _one_thread_each(workers) as begin:
        for _ in range(workers):
            pool.submit(begin)
    return pool


@contextmanager
def _one_thread_each(count: int) -> Iterator[Callable[[], None]]:
    """Gives what each of so many threads must call first, and waits until all have."""
    ready, before = Barrier(count + 1), torch.get_num_threads()

    def begin() -> None:
        torch.get_num_threads()  # a thread takes over the common number once, and not after this
        torch.set_num_threads(1)
        ready.wait()

    yield begin
    ready.wait()
    torch.set_num_threads(before)  # the common number is that which was set last


ON_THE_WAY = 1_000
"""Tasks that Ray has at a time: enough for a cluster to see that it must grow."""


def map_on_ray(
    work: Callable[[Item], Result], items: Iterable[Item], address: str, cpus: int = 1, gpus: int = 1
) -> Iterator[tuple[Item, Result | Exception]]:
    """Each item with its result, as they are finished, from tasks on a Ray cluster.

    A task whose worker is lost is done again, up to three times, on whichever machine is free; the error is given
    in place of its result after that.

    Args:
        work: called with an item, in another process, maybe on another machine: paths must be absolute.
        items: the items.
        address: of the cluster, as `ray.init` takes it.
        cpus: that a task takes.
        gpus: that a task takes, if the cluster has any.

    Raises:
        MissingExtra: Ray is not installed.
        Exception: what `work` raised.
    """
    ray = require_extra("ray", "ray")
    starts = not ray.is_initialized()
    with chdir("/"):  # Ray puts the working directory on the import path of its workers
        ray.init(address, ignore_reinit_error=True)
    gpus = min(gpus, int(ray.cluster_resources().get("GPU", 0)))

    # Without a limit of calls: a worker would be ended, and its model with it, after each task on a GPU.
    @ray.remote(num_cpus=cpus, num_gpus=gpus, max_calls=0)  # type: ignore[untyped-decorator]
    def perform(item: Item) -> Result:
        return work(item)

    rest = iter(items)
    running = {perform.remote(item): item for item in islice(rest, ON_THE_WAY)}
    try:
        while running:
            done, _ = ray.wait(list(running))
            for each in done:
                item = running.pop(each)
                running |= {perform.remote(more): more for more in islice(rest, 1)}
                try:
                    result = ray.get(each)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    result = error
                yield item, result
    finally:
        if starts:
            ray.shutdown()
