"""What every request passes: whether it may come in, how many are inside, and what every answer carries."""

import hmac
import time
from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unnoted.serve.extraction_service import ExtractionService
from unnoted.serve.problems import Problem

WORK = frozenset({"/extract", "/extract/text"})
"""Paths that keep the model busy."""

OPEN = frozenset({"/", "/health", "/ready", "/docs", "/openapi.json"})
"""Paths that need no token: they tell nothing of anybody's documents. So does what pages are made of."""

KNOWN = WORK | OPEN | {"/relations", "/metrics"}
STATIC = "/static/"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CARRIED = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Gate:
    """Stands before the application.

    Args:
        app: the application.
        service: knows the limits, and whether it is stopping.
        token: what a client must show; None lets everybody in.
        hosts: the names under which the service may be called; None allows all. A service on the loopback
            address allows its own names only, so that no web page can reach it under another.
    """

    def __init__(
        self,
        app: ASGIApp,
        service: ExtractionService,
        token: str | None = None,
        hosts: Collection[str] | None = None,
    ) -> None:
        self.app = app
        self.service = service
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        service, path = self.service, scope["path"]
        label = path if path in KNOWN else "other"
        status, started, complete = 500, time.perf_counter(), False

        async def sent(message: Message) -> None:
            nonlocal status, complete
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in CARRIED.items():
                    headers.setdefault(name, value)
                if service.stopping:
                    headers["Connection"] = "close"
            await send(message)
            complete = message["type"] == "http.response.body" and not message.get("more_body")

        problem = self._problem(scope, Headers(scope=scope))
        work = problem is None and path in WORK
        service.accepted += work
        service.under_way += 1
        service.metrics.under_way.set(service.under_way)
        try:
            await (self.app if problem is None else problem.response())(scope, receive, sent)
        finally:
            service.under_way -= 1
            service.answered += work and complete
            service.metrics.under_way.set(service.under_way)
            service.metrics.requests.labels(label, status).inc()
            service.metrics.seconds.labels(label).observe(time.perf_counter() - started)

    def _problem(self, scope: dict[str, Any] | Scope, headers: Headers) -> Problem | None:
        path = scope["path"]
        if self.hosts is not None and _host(headers.get("host", "")) not in self.hosts:
            return Problem(421, "found another host than this service answers for, expected its own name")
        if self.token is not None and path not in OPEN and not path.startswith(STATIC):
            shown = headers.get("authorization", "").encode()
            if not hmac.compare_digest(shown, f"Bearer {self.token}".encode()):
                return Problem(401, "found no valid token, expected Authorization: Bearer TOKEN")
        if path not in WORK:
            return None
        if self.service.stopping:
            return Problem(503, "found the service stopping, expected you at another one")
        if self.service.under_way >= self.service.limits.requests:
            return Problem(503, "found too many requests under way, expected you a little later")
        return None


def _host(name: str) -> str:
    """A host without its port.

    Example:
        >>> _host("localhost:8000"), _host("[::1]:80"), _host("::1")
        ('localhost', '::1', '::1')
    """
    if name.startswith("["):
        return name[1:].partition("]")[0].lower()
    return name.lower() if name.count(":") > 1 else name.partition(":")[0].lower()
