"""The web application: paths for programs, and a page to try the model on."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from importlib.metadata import version
from importlib.resources import files
from ipaddress import ip_address
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from pydantic import Field

from unnoted.data.document import Document
from unnoted.data.visualization import SCRIPT, SLIDER_SCRIPT, STYLE
from unnoted.errors import DataError
from unnoted.inference import Decision, DecisionOptions
from unnoted.inference.writers import score_slider
from unnoted.serve.batching import ExtractionService
from unnoted.serve.extraction import (
    LINES,
    RETRY,
    StreamedResponse,
    build_document,
    check_text,
    draw,
    submit,
    to_json,
    to_record,
    wait_for,
)
from unnoted.serve.schemas import (
    DocumentResponse,
    Documents,
    ErrorResponse,
    Texts,
)
from unnoted.utils import describe_error, nearest, short_repr, templates_of
from unnoted.web import ASGIApp, Guard, Message, Receive, Send, add_error_handlers, server_names

Share = Annotated[float | None, Field(ge=0, le=1)]

STREAM = "/extract/stream"
WORK = frozenset({"/extract", "/extract/text", STREAM})
"""Paths that keep the model busy."""

OPEN = frozenset({"/", "/health", "/ready", "/docs", "/openapi.json"})
"""Paths that need no token: they show nothing of anybody's documents. So do the parts of pages."""

SWAGGER_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data: https://fastapi.tiangolo.com; "
    "script-src 'unsafe-inline' https://cdn.jsdelivr.net; style-src 'unsafe-inline' https://cdn.jsdelivr.net"
)
"""What the page /docs may load; it comes with FastAPI and takes its script from a CDN."""

ERRORS = {
    400: "the body cannot be read",
    401: "the token is missing or wrong",
    408: "the request did not arrive in time",
    413: "the request is too large",
    422: "a document or an option cannot be used; says which, and why",
    429: "the queue is full; `Retry-After` says when to try again",
    500: "the model failed at a document",
    503: "the service is busy or stopping; `Retry-After` says when to try again",
    504: "no result in time",
}


def create_app(
    service: ExtractionService, token: str | None = None, hosts: Collection[str] | None = None
) -> FastAPI:
    """The application of a service.

    Args:
        service: with the model. It is closed when the application shuts down.
        token: what clients must show; None lets everybody in.
        hosts: the names by which it may be called; None allows all.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="unnoted", description="Facts of whole documents, found by a trained model.",
        version=version("unnoted"), lifespan=lifespan, docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.add_middleware(RequestLimits, service=service)
    app.add_middleware(
        Guard,
        token=token,
        hosts=hosts,
        private=lambda path: path not in OPEN and not path.startswith("/static/"),
    )
    add_error_handlers(app)
    _add_extraction(app, service)
    _add_status(app, service)
    _add_pages(app, service, token is not None)
    return app


def serve(
    service: ExtractionService, host: str = "127.0.0.1", port: int = 8000, token: str | None = None
) -> None:
    """Serve until a signal comes, then finish what was accepted.

    Args:
        service: with the model.
        host: the address to listen at.
        port: the port to listen at.
        token: what clients must show; None lets everybody in.
    """
    config = uvicorn.Config(
        create_app(service, token, server_names(host) if is_loopback(host) else None),
        host=host, port=port, log_level="warning", access_log=False, server_header=False,
        timeout_keep_alive=30, timeout_graceful_shutdown=max(1, round(service.limits.drain)),
    )  # fmt: skip
    server = uvicorn.Server(config)
    service.is_stopping = lambda: server.should_exit
    # At its end the server raises the signal again, for the handler that it found; the caller has more to do.
    handlers = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run()
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Example:
        >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class RequestLimits:
    """ASGI middleware that counts requests, refuses those that are too many, and limits their bodies.

    Args:
        app: the application.
        service: with the limits and metrics.
    """

    def __init__(self, app: ASGIApp, service: ExtractionService) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        service, path = self.service, scope["path"]
        label = path if path in WORK | OPEN | {"/metrics"} else "other"
        status, complete, started = 500, False, time.perf_counter()

        async def send_and_count(message: Message) -> None:
            nonlocal status, complete
            await send(message)
            status = message.get("status", status)
            complete = message["type"] == "http.response.body" and not message.get("more_body")

        refusal = self._refusal() if path in WORK else None
        accepted = path in WORK and refusal is None
        service.accepted += accepted
        service.in_flight += 1
        service.metrics.in_flight.set(service.in_flight)
        try:
            if refusal is not None:
                await JSONResponse({"error": refusal}, 503, RETRY)(scope, receive, send_and_count)
            elif accepted and path != STREAM:
                await self.app(scope, self._limit_body(receive), send_and_count)
            else:
                await self.app(scope, receive, send_and_count)
        finally:
            service.in_flight -= 1
            service.answered += accepted and complete
            service.metrics.in_flight.set(service.in_flight)
            service.metrics.requests.labels(label, status).inc()
            service.metrics.seconds.labels(label).observe(time.perf_counter() - started)

    def _refusal(self) -> str | None:
        if self.service.is_stopping():
            return "the service is stopping"
        if self.service.in_flight >= self.service.limits.requests:
            return "too many requests in flight"
        return None

    def _limit_body(self, receive: Receive) -> Receive:
        """Receives a body that must be complete in time, and not too large."""
        limits, size, complete = self.service.limits, 0, False

        async def receive_within_limits() -> Message:
            nonlocal size, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout(limits.seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the request did not arrive within {limits.seconds:g} s") from None
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if size > limits.body:
                raise HTTPException(
                    413, f"a request may have {limits.body:,} bytes; {STREAM} takes any number"
                )
            return message

        return receive_within_limits


def _add_extraction(app: FastAPI, service: ExtractionService) -> None:
    """The paths that extract facts."""
    limits = service.limits
    bearer = Depends(HTTPBearer(auto_error=False))  # described here; checked by the guard
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorResponse, "description": reason} for status, reason in ERRORS.items()
    }
    described: dict[str, Any] = {"response_class": Response, "dependencies": [bearer]}
    answer: dict[int | str, dict[str, Any]] = {
        200: {
            "model": DocumentResponse | list[DocumentResponse],
            "description": "one result for a document, a list for a list; a drawing if `Accept` is text/html",
            "content": {"text/html": {"schema": {"type": "string"}}},
        }
    }

    def decision(
        request: Request,
        threshold: Annotated[
            Share, Query(description="facts with a score above this; by default the model's threshold")
        ] = None,
        target_precision: Annotated[
            Share, Query(description="of a calibrated model: the expected precision")
        ] = None,
        target_recall: Annotated[
            Share, Query(description="of a calibrated model: the expected recall")
        ] = None,
    ) -> Decision:
        for name in request.query_params:
            if name not in (known := [field.name for field in fields(DecisionOptions)]):
                raise HTTPException(422, f"unknown parameter {short_repr(name)}{nearest(name, known)}")
        try:
            return service.decision(DecisionOptions(threshold, target_precision, target_recall))
        except ValueError as error:
            raise HTTPException(422, str(error)) from None

    Decided = Annotated[Decision, Depends(decision)]

    def check_count(count: int) -> None:
        if count > limits.documents:
            raise HTTPException(
                413, f"a request may have {limits.documents:,} documents; {STREAM} takes any number"
            )

    @app.post("/extract", summary="Facts of documents with entities", responses=answer | errors, **described)
    async def extract(request: Request, documents: Documents, decision: Decided) -> Response:
        given = documents if isinstance(documents, list) else [documents]
        check_count(len(given))

        def build() -> list[tuple[Document, list[str]]]:
            return [
                build_document(one, number, service.document_limits) for number, one in enumerate(given, 1)
            ]

        built = await asyncio.to_thread(build)
        found = [document for document, _ in built]
        if _wants_page(request):
            return await _respond_with_page(service, found, decision)
        extractions = await wait_for(service, submit(service, found, decision.threshold))
        records = [
            to_record(one, decision, notes) for one, (_, notes) in zip(extractions, built, strict=True)
        ]
        return _respond(records, isinstance(documents, list))

    stream_answer: dict[int | str, dict[str, Any]] = {
        200: {
            "description": "a line of JSON for each line",
            "content": {LINES: {"schema": {"type": "string"}}},
        }
    }

    @app.post(
        STREAM, summary="Facts of documents in a stream of JSON lines", responses=stream_answer | errors, **described,
        openapi_extra={"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}},
    )  # fmt: skip
    async def extract_stream(request: Request, decision: Decided) -> Response:
        return StreamedResponse(request, service, decision)

    if (reader := service.reader) is None:

        @app.post("/extract/text", include_in_schema=False)
        def refuse_text() -> Response:
            raise HTTPException(404, "plain text is not taken here: start with --entities PIPELINE")

        return

    @app.post("/extract/text", summary="Facts of plain text", responses=answer | errors, **described)
    async def extract_text(request: Request, texts: Texts, decision: Decided) -> Response:
        given = texts if isinstance(texts, list) else [texts]
        check_count(len(given))
        checked = [check_text(one, number, service.document_limits) for number, one in enumerate(given, 1)]
        loop = asyncio.get_running_loop()
        try:
            documents = await loop.run_in_executor(
                service.reader_thread, lambda: list(reader.read(checked, limits=service.document_limits))
            )
        except DataError as error:
            raise HTTPException(422, error.defect.within_file) from None
        except ValueError as error:  # spaCy's, of a text that it does not take
            raise HTTPException(422, f"a text cannot be read: {describe_error(error)}") from error
        if _wants_page(request):
            return await _respond_with_page(service, documents, decision)
        extractions = await wait_for(service, submit(service, documents, decision.threshold))
        records = [to_record(one, decision, with_entities=True) for one in extractions]
        return _respond(records, isinstance(texts, list))


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _respond_with_page(
    service: ExtractionService, documents: Sequence[Document], decision: Decision
) -> Response:
    """Documents drawn with their facts, also with less probable ones, which the page's slider shows."""
    extractions = await wait_for(service, submit(service, documents, decision.lowest_shown))
    return HTMLResponse(await asyncio.to_thread(lambda: str(draw(extractions, service, decision.threshold))))


def _respond(records: Sequence[DocumentResponse], as_list: bool) -> Response:
    return Response(to_json(records if as_list else records[0]), media_type="application/json")


def _add_status(app: FastAPI, service: ExtractionService) -> None:
    """The paths that describe the service."""

    @app.get("/health", summary="Whether the service is alive")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    unavailable: dict[int | str, dict[str, Any]] = {
        503: {"model": ErrorResponse, "description": "it is stopping, or its queue is full"}
    }

    @app.get("/ready", summary="Whether the service takes documents now", responses=unavailable)
    async def ready() -> dict[str, str]:
        if service.is_stopping() or not service.queue.is_working:
            raise HTTPException(503, "the service is stopping", RETRY)
        if not service.queue.free:
            raise HTTPException(503, "the queue is full", RETRY)
        return {"status": "ready"}

    @app.get("/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=service.metrics.CONTENT_TYPE)


def _add_pages(app: FastAPI, service: ExtractionService, needs_token: bool) -> None:
    """A page to try the model on, FastAPI's page about the paths, and the parts of the first."""
    page = files("unnoted.serve") / "page"
    static = {
        "style.css": (STYLE, "text/css"),
        "highlight.js": (SCRIPT, "text/javascript"),
        "icon.svg": ((page / "icon.svg").read_text("utf-8"), "image/svg+xml"),
        "slider.js": (SLIDER_SCRIPT, "text/javascript"),
        "page.js": ((page / "page.js").read_text("utf-8"), "text/javascript"),
    }
    template = templates_of("unnoted.serve", "page").get_template("index.html.j2")

    @app.get("/", include_in_schema=False)
    async def index() -> HTMLResponse:
        decision = service.decision()
        values = {
            "service": service,
            "takes_text": service.reader is not None,
            "needs_token": needs_token,
            "decision": decision,
            "slider": score_slider(decision),
        }
        return HTMLResponse(template.render(values))

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        response = get_swagger_ui_html(openapi_url="openapi.json", title="unnoted")
        response.headers["content-security-policy"] = SWAGGER_POLICY
        return response

    @app.get("/static/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        if name not in static:
            raise HTTPException(404, "there is no such part of the page")
        content, kind = static[name]
        return Response(content, media_type=kind)
