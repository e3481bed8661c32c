"""A model at work for many clients: what the web application asks, without the web."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from unnoted.data.document import Document
from unnoted.data.ner import TextReader
from unnoted.errors import DataError
from unnoted.inference import DecisionOptions, Extraction, Extractor
from unnoted.serve.batching_queue import BatchingQueue, QueueClosed, QueueFull
from unnoted.serve.problems import Problem
from unnoted.serve.service_limits import ServiceLimits
from unnoted.serve.service_metrics import ServiceMetrics
from unnoted.utils import describe_error

Results: TypeAlias = list[Future[Extraction]]

PAUSE = 0.005
"""Seconds between two looks whether the queue has room for the next document of a stream."""


class ExtractionService:
    """Everything between a request's documents and their facts.

    Args:
        extractor: with the model.
        name: what the model is called.
        reader: finds the entities of plain text; None where that is not offered.
        limits: how much is taken on at once.

    Attributes:
        stopping: whether no further request is taken.
        under_way: requests that are not yet answered.
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
        self.of_documents = self.limits.of_documents()
        self.metrics = ServiceMetrics()
        self.name = name
        self.stopping = False
        self.under_way = self.accepted = self.answered = 0
        self.reader = reader
        self.relations = extractor.model.relations
        self.types = extractor.entity_types
        self.decoder = extractor.model.decoder
        self.queue = BatchingQueue(extractor, self.limits.queue, self.metrics)
        # One thread: spaCy pipelines are not made for several.
        self._readers = ThreadPoolExecutor(1, "unnoted-entities")

    def line(self, **asked: float | None) -> DecisionOptions:
        """The threshold that a client asks for.

        Raises:
            Problem: 422, if the model has no such threshold.
        """
        try:
            line = DecisionOptions(**asked)
            line.decoder(self.decoder)
        except ValueError as error:
            raise Problem(422, str(error)) from None
        return line

    async def extract(self, documents: Sequence[Document], asked: DecisionOptions) -> list[Extraction]:
        """The facts of documents.

        Raises:
            Problem: 429, if there is no room for them now; 500, if the model fails at one of them.
        """
        waiting = self.submitted(documents, asked)
        try:
            return [await self.awaited(one) for one in waiting]
        finally:
            for one in waiting:
                one.cancel()  # nobody waits for the others any more

    async def submitted_in_turn(self, document: Document, asked: DecisionOptions) -> Future[Extraction]:
        """Put the next document of a stream into the queue as soon as it has room."""
        while not self.queue.free and self.queue.is_working:
            await asyncio.sleep(PAUSE)
        return self.submitted([document], asked)[0]

    def submitted(self, documents: Sequence[Document], asked: DecisionOptions) -> Results:
        """Put documents into the queue.

        Raises:
            Problem: 429, if it has no room for them; 503, if it is closed.
        """
        try:
            return self.queue.submit(documents, asked)
        except QueueFull:
            raise Problem(429, "found the queue full, expected you a little later") from None
        except QueueClosed:
            raise Problem(503, "found the service stopping, expected you at another one") from None

    async def awaited(self, result: Future[Extraction]) -> Extraction:
        """The facts of a document that is in the queue."""
        try:
            return await asyncio.wrap_future(result)
        except (asyncio.CancelledError, TimeoutError):
            raise
        except Exception as error:
            raise Problem(500, f"the model failed at the document ({type(error).__name__})") from error

    async def read(self, texts: Sequence[tuple[str, str]]) -> list[Document]:
        """The documents of plain texts.

        Raises:
            Problem: 422, if a text cannot be used.
        """
        reader = self.reader
        assert reader is not None  # the path exists only then
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._readers, lambda: list(reader.read(texts, limits=self.of_documents)))
        try:
            return await work
        except DataError as error:
            raise Problem.of_document(error) from None
        except ValueError as error:  # spaCy's, of a text that it does not take
            raise Problem(422, f"found a text that cannot be read ({describe_error(error)})") from error

    def close(self) -> None:
        """Finish what was accepted, and accept nothing more."""
        self._readers.shutdown()
        self.queue.close()
