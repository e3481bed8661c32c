"""The web application: paths for programs, and pages for people."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from jinja2 import Environment
from markupsafe import Markup, escape

from unnoted.data.visualization import SCRIPT, STYLE
from unnoted.serve.api_models import ErrorAnswer, ModelAnswer, StatusAnswer, given_schemas
from unnoted.serve.extraction_routes import extraction_routes
from unnoted.serve.extraction_service import ExtractionService
from unnoted.serve.gate import Gate
from unnoted.serve.problems import Problem
from unnoted.serve.service_metrics import CONTENT_TYPE
from unnoted.utils import templates_of

ABOUT = "Facts of whole documents, found by a trained model."


def create_app(
    service: ExtractionService, token: str | None = None, hosts: Collection[str] | None = None
) -> FastAPI:
    """The application of a service.

    Args:
        service: with the model. It is closed when the application shuts down.
        token: what clients must show; None lets everybody in.
        hosts: the names under which it may be called; None allows all.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="unnoted", description=ABOUT, version=version("unnoted"), lifespan=life,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.add_middleware(Gate, service=service, token=token, hosts=hosts)
    app.add_exception_handler(Problem, _answer_problem)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.include_router(extraction_routes(service))
    app.include_router(_status_routes(service))
    app.include_router(_page_routes(app, service, token is not None))
    _describe_requests(app)
    return app


async def _answer_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _answer_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    found = f"{'.'.join(map(str, first['loc'][1:]))}: found {first.get('input')!r:.60}, expected "
    return Problem(422, found + first["msg"].removeprefix("Input should be ").lower()).response()


def _status_routes(service: ExtractionService) -> APIRouter:
    router = APIRouter()

    @router.get("/health", summary="Whether the service is alive", response_description="it is")
    async def health() -> StatusAnswer:
        return StatusAnswer(status="ok")

    @router.get(
        "/ready", summary="Whether the service takes documents now", response_description="it does",
        responses={503: {"model": ErrorAnswer, "description": "it is stopping, or its queue is full"}},
    )  # fmt: skip
    async def ready() -> StatusAnswer:
        if service.stopping or not service.queue.is_working:
            raise Problem(503, "found the service stopping, expected you at another one")
        if not service.queue.free:
            raise Problem(503, "found the queue full, expected you a little later")
        return StatusAnswer(status="ready")

    @router.get(
        "/relations", summary="What the model knows", response_model=ModelAnswer,
        response_description="its relations and types",
    )  # fmt: skip
    async def relations() -> dict[str, Any]:
        return {
            "model": service.name,
            "calibrated": service.decoder.is_calibrated,
            "text": service.reader is not None,
            "types": service.types,
            "relations": [{"id": each, "name": service.relations.name(each)} for each in service.relations],
        }

    @router.get(
        "/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse,
        response_description="in its text format",
    )  # fmt: skip
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    return router


@cache
def _environment() -> Environment:
    made = templates_of("unnoted.serve", "page")
    made.filters["coded"] = coded
    return made


def coded(text: str) -> Markup:
    """A text with what stands in backticks as code, escaped.

    Example:
        >>> coded("`a<b` holds")
        Markup('<code>a&lt;b</code> holds')
    """
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )


def _page_routes(app: FastAPI, service: ExtractionService, needs_token: bool) -> APIRouter:
    """What people look at: a page to try the model on, a page about the paths, and what both are made of."""
    router = APIRouter(include_in_schema=False)
    page = files("unnoted.serve") / "page"
    static = {
        "document.css": (STYLE, "text/css"),
        "icon.svg": ((page / "icon.svg").read_text("utf-8"), "image/svg+xml"),
        "highlight.js": (SCRIPT, "text/javascript"),
        "page.css": ((page / "page.css").read_text("utf-8"), "text/css"),
        "page.js": ((page / "page.js").read_text("utf-8"), "text/javascript"),
    }

    @router.get("/")
    async def index() -> HTMLResponse:
        shown = {"service": service, "takes_text": service.reader is not None, "needs_token": needs_token}
        return HTMLResponse(_environment().get_template("index.html.j2").render(shown))

    @router.get("/docs")
    async def docs() -> HTMLResponse:
        return HTMLResponse(_environment().get_template("api.html.j2").render(api=app.openapi()))

    @router.get("/static/{name}")
    async def part(name: str) -> Response:
        if name not in static:
            return JSONResponse({"error": f"found no {name[:60]!r}"}, 404)
        content, kind = static[name]
        return Response(content, media_type=kind)

    return router


def _describe_requests(app: FastAPI) -> None:
    """Add the schemas of requests, which the application reads itself, to its description."""
    made = app.openapi

    def described() -> dict[str, Any]:
        schema = made()
        schema["components"]["schemas"] |= given_schemas()
        return schema

    app.openapi = described  # type: ignore[method-assign]
