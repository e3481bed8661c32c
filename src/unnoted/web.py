"""What the web applications share: who may ask (token, Host, Origin), the headers and errors of every answer.

A page of another site that is open in the same browser can send requests to this machine. It has no token, its
`Origin` is another, and where its name was made to lead here (DNS rebinding) its `Host` is that name.
"""

import hmac
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unnoted.utils import short_repr

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Message, Receive, Send], Awaitable[None]]

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


def server_names(host: str) -> set[str]:
    """The names by which an application that listens at `host` may be called; addresses in numbers always may.

    Example:
        >>> sorted(server_names("127.0.0.1") - {socket.gethostname().lower()})
        ['127.0.0.1', 'localhost']
    """
    return {"localhost", host.lower(), socket.gethostname().lower()}


class Guard:
    """ASGI middleware that refuses requests before the application sees them, and adds security headers.

    Args:
        app: what answers.
        token: must be sent as `Authorization: Bearer TOKEN` for private paths; None lets everybody in.
        hosts: the names by which the application may be called (see `server_names`); None allows all.
        private: which paths need the token and are refused to pages of other sites. A link to any other path,
            such as `/`, may stand anywhere.
        max_body: bytes of the largest request; None sets no limit.

    Example:
        >>> guard = Guard(None, "secret", {"localhost"}, lambda path: path.startswith("/api/"))
        >>> guard.refusal("/", {"host": "localhost:8000", "sec-fetch-site": "cross-site"})
        >>> guard.refusal("/", {"host": "evil.example:8000"})
        (421, 'this server does not answer for the host in the address')
        >>> guard.refusal("/api/queue", {"host": "127.0.0.1:8000"})
        (401, 'the token is missing or wrong: open the address that the command printed')
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str | None,
        hosts: Collection[str] | None,
        private: Callable[[str], bool],
        max_body: int | None = None,
    ) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self.private, self.max_body = private, max_body

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket: neither application has any
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                present = {name.lower() for name, _ in headers}
                headers += [
                    (name.encode(), value.encode())
                    for name, value in SECURITY_HEADERS.items()
                    if name.encode() not in present
                ]
                message["headers"] = headers
            await send(message)

        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self.refusal(scope["path"], headers)
        if refused is None:
            await self.app(scope, receive, send_with_headers)
            return
        status, message = refused
        content = [(b"content-type", b"application/json")]
        await send_with_headers({"type": "http.response.start", "status": status, "headers": content})
        await send({"type": "http.response.body", "body": json.dumps({"error": message}).encode()})

    def refusal(self, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and message with which a request is refused; None if it is let through."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.hosts is not None:
            name = _hostname(host)
            if name not in self.hosts and not _is_address(name):  # only names can be made to lead elsewhere
                return 421, "this server does not answer for the host in the address"
            if origin is not None and _netloc(origin) != host.lower():
                return 403, "requests from pages of other sites are refused (Origin)"
        if self.private(path):
            if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
                return 403, "requests from pages of other sites are refused (Sec-Fetch-Site)"
            given = headers.get("authorization", "").encode()
            if self.token is not None and not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
                return 401, "the token is missing or wrong: open the address that the command printed"
        if self.max_body is not None:
            length = headers.get("content-length", "0")
            if not length.isdecimal() or "transfer-encoding" in headers:
                return 411, "the length of the request must be given"
            if int(length[:20]) > self.max_body:
                return 413, f"a request may have at most {self.max_body:,} bytes"
        return None


def _netloc(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def _hostname(host: str) -> str:
    """A `Host` header without its port; empty if it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def add_error_handlers(app: "FastAPI") -> None:
    """Answer every error of a FastAPI application as `{"error": one sentence}`; an invalid field is named."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException

    async def answer_http(request: "Request", error: Exception) -> "Response":
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    async def answer_invalid(request: "Request", error: Exception) -> "Response":
        assert isinstance(error, RequestValidationError)
        details = [{**detail, "loc": detail["loc"][1:]} for detail in error.errors()]  # without "body"
        return JSONResponse({"error": first_problem(details)}, 422)

    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, answer_invalid)


def first_problem(details: Sequence[Mapping[str, Any]]) -> str:
    """The first error that pydantic found: its place, what is wrong, and the value."""
    place = ".".join(map(str, details[0]["loc"]))
    return f"{place + ': ' if place else ''}{details[0]['msg']}: {short_repr(details[0]['input'])}"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens: whoever gets its address can connect at once, and waits for the answer.

    Raises:
        OSError: the port is taken, or the host is not one of this machine; names both.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends answers at once; else each waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"cannot listen here: {error.strerror}", f"{host}:{port}") from None
    return listening
