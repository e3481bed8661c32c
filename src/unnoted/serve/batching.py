"""Documents of all requests in one queue, and threads that compute together what waits there."""

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Condition

import torch
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from unnoted.data.document import Document
from unnoted.data.ner import TextReader
from unnoted.inference import Extraction, Extractor
from unnoted.inference.parallel import start_workers
from unnoted.io import MEBI, Limits, variable

MAX_TAKEN = 64
"""Documents that are taken from the queue at a time: enough to sort by length, few enough to wait for."""

MAX_TAKEN_OF_SEVERAL = 8
"""Documents that one of several threads takes, a batch: what it leaves, another begins before it is done."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """How much a service takes on at once, so that no client takes its memory or its time from the others.

    Attributes:
        requests: requests in flight; further ones are answered with 503.
        queue: documents that wait or are computed; a request with more than is left gets 429.
        body: bytes of a JSON request, or of one line of a stream; beyond it, 413.
        documents: documents of one JSON request; beyond it, 413. A stream may have any number.
        words: words of a document; beyond it, 422.
        entities: entities of a document, whose pairs are scored; beyond it, 422.
        seconds: until a request, or the next document of a stream, is answered; beyond it, 504, or 408 if the
            request itself did not arrive.
        unsent: documents of one stream that wait, are computed, or have results that the client has not read;
            beyond it, nothing more is read from that client.
        drain: seconds that a service which is stopping waits for the requests that it has accepted.

    Raises:
        ValueError: a limit is not above 0.

    Example:
        >>> ServiceLimits(queue=0)
        Traceback (most recent call last):
        ValueError: queue must be above 0, not 0
    """

    requests: int = 128
    queue: int = 1024
    body: int = 8 * MEBI
    documents: int = 256
    words: int = 20_000
    entities: int = 400
    seconds: float = 60.0
    unsent: int = 512
    drain: float = 60.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"{name} must be above 0, not {value}")

    def for_documents(self) -> Limits:
        """The limits of a document; an environment variable takes precedence over what is set here."""
        own = {
            name: getattr(self, name) for name in ("words", "entities") if variable(name) not in os.environ
        }
        return replace(Limits.current(), **own)


class ServiceMetrics:
    """The counters of one service for Prometheus, in a registry of their own.

    Example:
        >>> metrics = ServiceMetrics()
        >>> metrics.documents.inc(3)
        >>> "unnoted_documents_total 3.0" in metrics.text()
        True
    """

    CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "unnoted_requests", "Answered requests.", ("path", "status"), registry=registry
        )
        self.seconds = Histogram("unnoted_request_seconds", "Time to answer.", ("path",), registry=registry)
        self.in_flight = Gauge("unnoted_requests_in_flight", "Requests in flight.", registry=registry)
        self.waiting = Gauge(
            "unnoted_queue_documents", "Documents that wait or are computed.", registry=registry
        )
        self.documents = Counter("unnoted_documents", "Processed documents.", registry=registry)
        self.facts = Counter("unnoted_facts", "Predicted facts.", registry=registry)
        self.failures = Counter(
            "unnoted_failed_documents", "Documents at which the model failed.", registry=registry
        )

    def text(self) -> str:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self.registry).decode()


class QueueFull(Exception):
    """The documents would exceed the capacity."""


class QueueClosed(Exception):
    """Nothing more is accepted."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that waits, the threshold of its facts, and where they are awaited."""

    document: Document
    threshold: float
    result: Future[Extraction] = field(default_factory=Future)


class BatchingQueue:
    """Computes documents of many requests together, in the order in which they came.

    While some are computed, others gather; nothing waits for company when there is nothing else to do. On a CPU
    there are as many threads as torch has, which share what waits, and each computes its part alone: no core
    is idle until the last of a batch is done.

    Args:
        extractor: used by the threads of the queue.
        capacity: documents that may wait or be computed at a time.
        metrics: where it is counted.

    Example:
        >>> from types import SimpleNamespace
        >>> extractor = SimpleNamespace(device="cpu", extract=lambda documents, threshold: [
        ...     Extraction(document, ()) for document in documents])
        >>> queue = BatchingQueue(extractor, 8, ServiceMetrics())
        >>> (result,) = queue.submit([Document("d1", (("It", "rained"),), ())], 0.5)
        >>> result.result().document.id
        'd1'
        >>> queue.close()
    """

    def __init__(self, extractor: Extractor, capacity: int, metrics: ServiceMetrics) -> None:
        self.extractor = extractor
        self.capacity = capacity
        self.metrics = metrics
        self._waiting: deque[_Waiting] = deque()
        self._inside = 0
        self._closed = False
        self._changed = Condition()
        count = torch.get_num_threads() if extractor.device == "cpu" else 1
        self._idle = count
        self._max_taken = MAX_TAKEN if count == 1 else MAX_TAKEN_OF_SEVERAL
        self._threads = start_workers(count, self._work, "unnoted-extractor")

    @property
    def free(self) -> int:
        """How many documents may be added now."""
        return self.capacity - self._inside

    @property
    def is_working(self) -> bool:
        """Whether documents are accepted and computed."""
        return not self._closed and all(thread.is_alive() for thread in self._threads)

    def submit(self, documents: Sequence[Document], threshold: float) -> list[Future[Extraction]]:
        """Put documents into the queue, all or none.

        A future that is cancelled before its turn costs nothing.

        Raises:
            QueueFull: they are more than `free`.
            QueueClosed: the queue was closed.
        """
        added = [_Waiting(document, threshold) for document in documents]
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
            if running := [one for one in taken if one.result.set_running_or_notify_cancel()]:
                self._compute(running)
            with self._changed:
                self._idle += 1

    def _take(self) -> list[_Waiting]:
        """A thread's share of the documents that wait, all with the same threshold; none at the end."""
        taken: list[_Waiting] = []
        with self._changed:
            while not taken:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return []
                share = min(-(-len(self._waiting) // self._idle), self._max_taken)
                threshold = self._waiting[0].threshold
                while self._waiting and len(taken) < share and self._waiting[0].threshold == threshold:
                    taken.append(self._waiting.popleft())
            self._idle -= 1
        return taken

    def _compute(self, running: list[_Waiting]) -> None:
        try:
            documents = [one.document for one in running]
            extractions = list(self.extractor.extract(documents, threshold=running[0].threshold))
        except Exception as error:
            if len(running) > 1:  # a document at which the model fails must not take the others with it
                for one in running:
                    self._compute([one])
                return
            _LOG.exception("the model failed at document %r", running[0].document.id)
            self.metrics.failures.inc()
            running[0].result.set_exception(error)
            return
        for one, extraction in zip(running, extractions, strict=True):
            self.metrics.documents.inc()
            self.metrics.facts.inc(len(extraction.facts))
            one.result.set_result(extraction)


class ExtractionService:
    """A model at work for many clients: the queue with its limits, metrics and state.

    Args:
        extractor: with the model.
        name: what the model is called.
        reader: finds the entities of plain text; None where that is not offered.
        limits: how much is taken on at once.

    Attributes:
        is_stopping: returns whether no further request is taken.
        in_flight: requests that are not yet answered.
        accepted: requests for facts that were let in.
        answered: of them, those whose answer was sent to its end.
    """

    def __init__(
        self,
        extractor: Extractor,
        name: str = "",
        reader: TextReader | None = None,
        limits: ServiceLimits | None = None,
    ) -> None:
        self.limits = limits or ServiceLimits()
        self.document_limits = self.limits.for_documents()
        self.metrics = ServiceMetrics()
        self.name = name
        self.is_stopping: Callable[[], bool] = lambda: False
        self.in_flight = self.accepted = self.answered = 0
        self.reader = reader
        self.relations = extractor.model.relations
        self.types = extractor.entity_types
        self.decision = extractor.decision
        self.queue = BatchingQueue(extractor, self.limits.queue, self.metrics)
        self.reader_thread = ThreadPoolExecutor(1, "unnoted-entities")  # spaCy pipelines are not thread-safe

    def close(self) -> None:
        """Finish what was accepted, and accept nothing more."""
        self.reader_thread.shutdown()
        self.queue.close()
