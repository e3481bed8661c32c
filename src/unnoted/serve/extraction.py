"""From requests to documents, facts and answers: what the paths that extract facts do."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from fastapi import HTTPException, Request, Response
from markupsafe import Markup
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from unnoted.data.document import Document, entity_types
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import ReadContext
from unnoted.data.tokenization import MentionLocator
from unnoted.data.visualization import render_document, render_types
from unnoted.errors import DataError, DefectKind, DefectLog, Severity
from unnoted.inference import Decision, Extraction
from unnoted.inference.writers import count_predicted, fact_table
from unnoted.io import Limits
from unnoted.serve.batching import ExtractionService, QueueClosed, QueueFull
from unnoted.serve.schemas import DocumentRequest, DocumentResponse, EntityResponse, TextRequest
from unnoted.utils import plural
from unnoted.web import first_problem

_LOG = logging.getLogger(__name__)

LINES = "application/x-ndjson"

MAX_CHARACTERS_PER_WORD = 20
"""Characters that a plain text may have for each word that it may have."""

PAUSE = 0.005
"""Seconds between two looks whether the queue takes the next document of a stream."""

RETRY = {"Retry-After": "1"}


def build_document(request: DocumentRequest, number: int, limits: Limits) -> tuple[Document, list[str]]:
    """A document, and notes on its defects; without an id it is called by its number.

    Raises:
        HTTPException: 422, with the document and the field.
    """
    log = DefectLog()
    record = {"id": str(number), **request.model_dump(exclude_unset=True)}
    try:
        document = document_from_record(record, ReadContext(log, limits=limits))
    except DataError as error:
        raise HTTPException(422, error.defect.within_file) from None
    defects = (each for kind, few in log.examples.items() if kind.severity is Severity.DEFECT for each in few)
    return document, [defect.within_file for defect in defects]


def check_text(request: TextRequest, number: int, limits: Limits) -> tuple[str, str]:
    """The id and the text of a request for plain text.

    Raises:
        HTTPException: 422, if it is too long.
    """
    name, most = request.id or str(number), MAX_CHARACTERS_PER_WORD * limits.words
    try:
        limits.check("words", len(request.text.split()), "words", name, "text")
        if len(request.text) > most:
            raise DataError(
                f"{len(request.text):,} characters",
                f"at most {most:,}",
                name,
                "text",
                kind=DefectKind.TOO_LARGE,
            )
    except DataError as error:
        raise HTTPException(422, error.defect.within_file) from None
    return name, request.text


def submit(
    service: ExtractionService, documents: Sequence[Document], threshold: float
) -> list[Future[Extraction]]:
    """Put documents into the queue.

    Raises:
        HTTPException: 429, if it is full, or 503, if it was closed.
    """
    try:
        return service.queue.submit(documents, threshold)
    except QueueFull:
        raise HTTPException(429, "the queue is full, try again later", RETRY) from None
    except QueueClosed:
        raise HTTPException(503, "the service is stopping", RETRY) from None


async def wait_for(service: ExtractionService, results: Sequence[Future[Extraction]]) -> list[Extraction]:
    """The facts of documents that are in the queue, in time; otherwise nobody waits for them any more.

    Raises:
        HTTPException: 504, if they take too long, or 500, if the model failed.
    """
    try:
        async with asyncio.timeout(service.limits.seconds):
            return [await asyncio.wrap_future(one) for one in results]
    except TimeoutError:
        raise HTTPException(504, f"no result after {service.limits.seconds:g} s") from None
    except Exception as error:
        raise HTTPException(500, f"the model failed at the document ({type(error).__name__})") from error
    finally:
        for one in results:
            one.cancel()


def to_record(
    extraction: Extraction, decision: Decision, notes: Sequence[str] = (), with_entities: bool = False
) -> DocumentResponse:
    """One result; with the entities, where the client did not send them."""
    result = extraction.to_json()
    record: DocumentResponse = {
        "id": result["id"],
        "facts": result["facts"],
        "threshold": decision.threshold,
        "expected_precision": decision.precision,
    }
    if with_entities:
        record["entities"] = entity_records(extraction.document)
    if notes:
        record["notes"] = list(notes)
    return record


def entity_records(document: Document) -> list[EntityResponse]:
    """The entities of a document that was given as text, with the characters of their mentions.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> bo = Entity((Mention(0, 2, 3, "PER", "Bo"),))
        >>> entity_records(Document("d", (("I", "met", "Bo", "."),), (bo,), text="I  met Bo."))
        [{'type': 'PER', 'name': 'Bo', 'mentions': [{'start': 7, 'end': 9, 'sentence': 0}]}]
    """
    places = MentionLocator(document)
    records: list[EntityResponse] = []
    for entity in document.entities:
        record: EntityResponse = {"type": entity.type, "name": entity.name, "mentions": []}
        for (start, end), mention in zip(places.spans(entity), entity.mentions, strict=True):
            record["mentions"].append({"start": start, "end": end, "sentence": mention.sentence})
        if entity.id:
            record["id"] = entity.id
        records.append(record)
    return records


def to_json(value: object) -> bytes:
    """A value as JSON; lone surrogates, which UTF-8 cannot hold, are escaped."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def draw(extractions: Sequence[Extraction], service: ExtractionService, threshold: float) -> Markup:
    """Documents with their facts as a fragment of HTML, everything escaped; facts up to a threshold are hidden."""
    types, names = entity_types(extraction.document for extraction in extractions), service.relations.names
    pieces = [Markup('<div class="unnoted-document">{}</div>').format(render_types(types))] if types else []
    for extraction in extractions:
        record = extraction.to_json()
        table = fact_table(record, threshold)
        scores = " ".join(str(fact["score"]) for fact in record["facts"])
        pieces.append(
            Markup(
                '<section class="result"><p class="count"><span data-scores="{}">{}</span> among {}</p>{}</section>'
            ).format(
                scores,
                plural(count_predicted(record, threshold), "fact"),
                plural(len(extraction.document.entities), "entity", "entities"),
                render_document(extraction.document, table, names=names, types=types),
            )
        )
    return Markup("\n").join(pieces)


class _Line(NamedTuple):
    """A line of a stream: its document in the queue, or what is wrong with it."""

    number: int
    result: Future[Extraction] | HTTPException
    notes: Sequence[str] = ()


class StreamedResponse(Response):
    """Answers every line of a request with a line, in their order, while more lines are read.

    A document that cannot be used is answered with `{"error": …, "line": …, "status": …}`, and the next one is
    read. Memory does not grow with the stream: `ServiceLimits.unsent` documents are on their way.

    Args:
        request: its body is read while the answer is sent.
        service: computes.
        decision: which facts are predicted.
    """

    media_type = LINES

    def __init__(self, request: Request, service: ExtractionService, decision: Decision) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self.request, self.service, self.decision = request, service, decision

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
        """Send it; a client that does not read is waited for as long as for an answer."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for record in self._records():
            async with asyncio.timeout(self.service.limits.seconds):
                await send({"type": "http.response.body", "body": to_json(record) + b"\n", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _records(self) -> AsyncIterator[dict[str, Any] | DocumentResponse]:
        queue: asyncio.Queue[_Line | None] = asyncio.Queue(self.service.limits.unsent)
        reading = asyncio.create_task(self._read(queue))
        try:
            while (line := await queue.get()) is not None:
                try:
                    if isinstance(line.result, HTTPException):
                        raise line.result
                    (extraction,) = await wait_for(self.service, [line.result])
                    yield to_record(extraction, self.decision, line.notes)
                except HTTPException as error:
                    yield {"error": error.detail, "line": line.number, "status": error.status_code}
        finally:
            reading.cancel()
            while not queue.empty():
                if (line := queue.get_nowait()) is not None and isinstance(line.result, Future):
                    line.result.cancel()

    async def _read(self, queue: "asyncio.Queue[_Line | None]") -> None:
        """Read the lines of the request into the queue; whatever ends it, None is the last of them."""
        number = 0
        lines = self._lines()
        try:
            while (line := await self._next(lines)) is not None:
                number += 1
                await queue.put(await self._submit_line(line, number))
        except HTTPException as error:
            await queue.put(_Line(number + 1, error))
        except ClientDisconnect:
            pass  # nobody is left to read an error
        except Exception:
            _LOG.exception("reading a stream failed after line %d", number)
            await queue.put(_Line(number + 1, HTTPException(500, "the stream cannot be read")))
        await queue.put(None)

    async def _lines(self) -> AsyncIterator[bytes]:
        """The lines of the request as they arrive, without blank ones."""
        rest, most = b"", self.service.limits.body
        async for part in self.request.stream():
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                if line.strip():
                    yield line
            if len(rest) > most:
                raise HTTPException(413, f"a line may have {most:,} bytes")
        if rest.strip():
            yield rest

    async def _next(self, lines: AsyncIterator[bytes]) -> bytes | None:
        seconds = self.service.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                line = await anext(lines, None)
        except TimeoutError:
            raise HTTPException(408, f"no further line for {seconds:g} s") from None
        if line is not None and self.service.is_stopping():
            raise HTTPException(503, "the service is stopping: send this line and the rest elsewhere")
        return line

    async def _submit_line(self, line: bytes, number: int) -> _Line:
        def build() -> tuple[Document, list[str]]:
            request = DocumentRequest.model_validate_json(line)
            return build_document(request, number, self.service.document_limits)

        try:
            document, notes = await asyncio.to_thread(build)
            while not self.service.queue.free and self.service.queue.is_working:
                await asyncio.sleep(PAUSE)
            (result,) = submit(self.service, [document], self.decision.threshold)
            return _Line(number, result, notes)
        except ValidationError as error:
            return _Line(number, HTTPException(422, first_problem(error.errors(include_url=False))))
        except HTTPException as error:
            return _Line(number, error)
