"""The paths that extract facts."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from unnoted.data.document import Document
from unnoted.inference import Extraction
from unnoted.serve.answers import answer, drawn
from unnoted.serve.api_models import DocumentResult, ErrorAnswer, one_or_many
from unnoted.serve.extraction_service import ExtractionService
from unnoted.serve.problems import Problem
from unnoted.serve.requests_read import (
    JSON,
    LINES,
    aside,
    content_type,
    document_of,
    parsed,
    several,
    text_of,
    whole_body,
)
from unnoted.serve.streaming import StreamedAnswer

Threshold = Annotated[
    float | None, Query(ge=0, le=1, description="predict facts of at least this confidence")
]
Precision = Annotated[
    float | None,
    Query(
        alias="target_precision", ge=0, le=1, description="of a calibrated model: this precision is expected"
    ),
]
Recall = Annotated[
    float | None,
    Query(alias="target_recall", ge=0, le=1, description="of a calibrated model: this recall is expected"),
]

REFUSALS = {
    401: "the token is missing or wrong",
    408: "the request did not arrive in time",
    413: "the request is too large",
    415: "the request is of another type",
    422: "a document cannot be used; says which one, and what is wrong with it",
    429: "the queue is full; `Retry-After` says when to come again",
    500: "the model failed at a document",
    503: "the service is busy or stopping; `Retry-After` says when to come again",
    504: "no result in time",
}


def _described(name: str, *more: str) -> dict[str, Any]:
    """What OpenAPI says of a path beyond its arguments: its body and all its answers."""
    content: dict[str, Any] = {"text/html": {"schema": {"type": "string"}}}
    bodies: dict[str, Any] = {JSON: {"schema": one_or_many(name)}}
    for kind in more:
        bodies[kind] = {"schema": {"type": "string"}}
        content[kind] = {"schema": {"type": "string"}}
    return {
        "responses": {
            200: {
                "description": "one result for a document, a list for a list, a line for a line; drawn, "
                "where `Accept` asks for text/html",
                "model": DocumentResult | list[DocumentResult],
                "content": content,
            },
            **{status: {"description": why, "model": ErrorAnswer} for status, why in REFUSALS.items()},
        },
        "openapi_extra": {"requestBody": {"required": True, "content": bodies}},
        "response_class": Response,
    }


def extraction_routes(service: ExtractionService) -> APIRouter:
    """The paths that extract facts with a service."""
    router = APIRouter()

    @router.post("/extract", summary="Facts of documents with entities", **_described("GivenDocument", LINES))
    async def extract(
        request: Request, threshold: Threshold = None, precision: Precision = None, recall: Recall = None
    ) -> Response:
        asked = service.line(threshold=threshold, target_precision=precision, target_recall=recall)
        if content_type(request) == LINES:
            return StreamedAnswer(request, service, asked)
        value, size = await _value(request, service)

        def read() -> tuple[list[Document], list[list[str]]]:
            listed = several(value, service.limits.documents, "document")
            pairs = [document_of(one, number, service.of_documents) for number, one in enumerate(listed, 1)]
            return [document for document, _ in pairs], [notes for _, notes in pairs]

        async with _in_time(service, 504, "found no result"):
            documents, notes = await aside(size, read)
            found = await service.extract(documents, asked)
        return await _answered(request, service, isinstance(value, list), found, notes)

    if service.reader is None:
        return router

    @router.post("/extract/text", summary="Facts of plain text", **_described("GivenText"))
    async def extract_text(
        request: Request, threshold: Threshold = None, precision: Precision = None, recall: Recall = None
    ) -> Response:
        asked = service.line(threshold=threshold, target_precision=precision, target_recall=recall)
        value, _ = await _value(request, service)
        listed = several(value, service.limits.documents, "text")
        texts = [text_of(one, number, service.of_documents) for number, one in enumerate(listed, 1)]
        async with _in_time(service, 504, "found no result"):
            found = await service.extract(await service.read(texts), asked)
        return await _answered(
            request, service, isinstance(value, list), found, [[]] * len(found), entities=True
        )

    return router


@asynccontextmanager
async def _in_time(service: ExtractionService, status: int, late: str) -> AsyncIterator[None]:
    seconds = service.limits.seconds
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Problem(status, f"{late} after {seconds:g} s, expected it by then") from None


async def _value(request: Request, service: ExtractionService) -> tuple[object, int]:
    """The JSON value of a request, and how many bytes it had."""
    if (kind := content_type(request)) != JSON:
        raise Problem(415, f"found {kind[:60] or 'no type'}, expected Content-Type: {JSON}")
    async with _in_time(service, 408, "found an unfinished request"):
        body = await whole_body(request, service.limits.body)
    return await aside(len(body), lambda: parsed(body)), len(body)


async def _answered(
    request: Request,
    service: ExtractionService,
    many: bool,
    found: Sequence[Extraction],
    notes: Sequence[Sequence[str]],
    entities: bool = False,
) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(await asyncio.to_thread(lambda: str(drawn(found, service.relations))))
    results = [answer(one, few, entities) for one, few in zip(found, notes, strict=True)]
    return Response(json.dumps(results if many else results[0], ensure_ascii=False), media_type=JSON)
