"""Documents of all requests in one queue, and threads that compute what waits there together."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition

import torch

from unnoted.data.document import Document
from unnoted.inference import DecisionOptions, Extraction, Extractor
from unnoted.inference.parallel import start_workers
from unnoted.serve.service_metrics import ServiceMetrics

AT_ONCE = 64
"""Documents that are taken from the queue at a time: enough to sort by length, few enough to wait for."""

AT_ONCE_BESIDE_OTHERS = 8
"""Documents that one of several threads takes, a batch: what it leaves, another begins before it is done."""

_LOG = logging.getLogger(__name__)


class QueueFull(Exception):
    """There is no room for the documents now."""


class QueueClosed(Exception):
    """Nothing more is accepted."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that waits, with the line that was asked for, and where its facts are awaited."""

    document: Document
    asked: DecisionOptions
    result: Future[Extraction] = field(default_factory=Future)


class BatchingQueue:
    """Computes documents of many requests together, in the order in which they came.

    While some are computed, others gather; nothing waits for company when there is nothing else to do. On a
    CPU there are as many threads as torch has, which share what waits, and each computes its part alone: no
    core is idle until the last of a batch is done.

    Args:
        extractor: used by the threads of the queue.
        room: documents that may wait or be computed at a time.
        metrics: where it is counted.

    Example:
        >>> from types import SimpleNamespace
        >>> extractor = SimpleNamespace(device="cpu", extract=lambda documents, threshold: [
        ...     Extraction(document, ()) for document in documents])
        >>> queue = BatchingQueue(extractor, 8, ServiceMetrics())
        >>> (result,) = queue.submit([Document("d1", (("It", "rained"),), ())], DecisionOptions())
        >>> result.result().document.id
        'd1'
        >>> queue.close()
    """

    def __init__(self, extractor: Extractor, room: int, metrics: ServiceMetrics) -> None:
        self.extractor = extractor
        self.room = room
        self.metrics = metrics
        self._waiting: deque[_Waiting] = deque()
        self._inside = 0
        self._closed = False
        self._changed = Condition()
        count = torch.get_num_threads() if extractor.device == "cpu" else 1
        self._idle = count
        self._most = AT_ONCE if count == 1 else AT_ONCE_BESIDE_OTHERS
        self._threads = start_workers(count, self._work, "unnoted-extractor")

    @property
    def free(self) -> int:
        """How many documents there is room for."""
        return self.room - self._inside

    @property
    def is_working(self) -> bool:
        """Whether documents are accepted and computed."""
        return not self._closed and all(thread.is_alive() for thread in self._threads)

    def submit(self, documents: Sequence[Document], asked: DecisionOptions) -> list[Future[Extraction]]:
        """Put documents into the queue, all or none.

        A future that is cancelled before its turn costs nothing.

        Raises:
            QueueFull: there is not room for all of them.
            QueueClosed: the queue was closed.
        """
        added = [_Waiting(document, asked) for document in documents]
        with self._changed:
            if self._closed:
                raise QueueClosed
            if len(added) > self.free:
                raise QueueFull
            self._inside += len(added)
            self._waiting.extend(added)
            self._changed.notify_all()
        self.metrics.waiting.set(self._inside)
        for one in added:
            one.result.add_done_callback(self._leave)
        return [one.result for one in added]

    def close(self) -> None:
        """Accept nothing more, compute what is there, and stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _leave(self, result: Future[Extraction]) -> None:
        with self._changed:
            self._inside -= 1
        self.metrics.waiting.set(self._inside)

    def _work(self) -> None:
        while taken := self._take():
            started = time.perf_counter()
            self._compute(taken)
            self.metrics.computing.inc(time.perf_counter() - started)
            with self._changed:
                self._idle += 1

    def _take(self) -> list[_Waiting]:
        """A thread's share of the documents that wait, all with the same line; none at the end."""
        taken: list[_Waiting] = []
        with self._changed:
            while not taken:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return []
                share = min(-(-len(self._waiting) // self._idle), self._most)
                asked = self._waiting[0].asked
                while self._waiting and len(taken) < share and self._waiting[0].asked == asked:
                    taken.append(self._waiting.popleft())
            self._idle -= 1
        return taken

    def _compute(self, taken: list[_Waiting]) -> None:
        running = [one for one in taken if one.result.set_running_or_notify_cancel()]
        if not running:
            return
        self.metrics.batches.observe(len(running))
        try:
            found = list(
                self.extractor.extract([one.document for one in running], threshold=running[0].asked)
            )
        except Exception as error:
            self._fail(running, error)
            return
        self.metrics.documents.inc(len(found))
        self.metrics.facts.inc(sum(len(extraction.facts) for extraction in found))
        for one, extraction in zip(running, found, strict=True):
            one.result.set_result(extraction)

    def _fail(self, running: list[_Waiting], error: Exception) -> None:
        """One document at which the model fails must not take the others with it: each is tried alone."""
        if len(running) == 1:
            _LOG.exception("the model failed at document %r", running[0].document.id, exc_info=error)
            self.metrics.failures.inc()
            running[0].result.set_exception(error)
            return
        for one in running:
            try:
                (extraction,) = self.extractor.extract([one.document], threshold=one.asked)
            except Exception as again:
                self._fail([one], again)
            else:
                self.metrics.documents.inc()
                self.metrics.facts.inc(len(extraction.facts))
                one.result.set_result(extraction)
