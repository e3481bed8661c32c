"""Who may ask: only somebody with the token, from this application's own pages, under an address of ours.

A page of another site that is open in the same browser can send requests to this machine. It has no token,
its `Origin` is another, and if its name was made to lead here (DNS rebinding) its `Host` is that name.
"""

import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

TOKEN_HEADER = "x-unnoted-token"
LARGEST_BODY = 16_384
"""Bytes. A decision has a few hundred."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
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


class Guard:
    """Refuses requests before the application sees them, and gives every answer its headers.

    Args:
        application: what answers.
        token: must be in the header of every request below `/api/`.
        host: the name under which the application was asked to listen.
    """

    def __init__(self, application: Application, token: str, host: str) -> None:
        self.application, self.token = application, token
        self.names = {"localhost", host.lower(), socket.gethostname().lower()}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no others here
            raise ValueError(f"found a connection of type {scope['type']}, expected http")

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        refused = self.refusal(scope["path"], _headers(scope))
        if refused is None:
            await self.application(scope, receive, send_guarded)
        else:
            await _answer(send_guarded, *refused)

    def refusal(self, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Why a request is refused, with the code of the answer; None if it is not.

        Example:
            >>> guard = Guard(None, "secret", "127.0.0.1")
            >>> guard.refusal("/", {"host": "127.0.0.1:8000"})
            >>> guard.refusal("/", {"host": "evil.example:8000"})
            (403, 'found a request under another name than ours (Host)')
            >>> guard.refusal("/api/queue", {"host": "127.0.0.1:8000"})
            (401, 'found no token or a wrong one, expected the address that the command printed')
        """
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 403, "found a request under another name than ours (Host)"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return 403, "found a request from a page of another site (Origin)"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "found a request from a page of another site (Sec-Fetch-Site)"
        if not headers.get("content-length", "0").isdecimal() or "transfer-encoding" in headers:
            return 411, "found a body of unknown length"
        if int(headers.get("content-length", "0")) > LARGEST_BODY:
            return 413, f"found a body of more than {LARGEST_BODY} bytes"
        token = headers.get(TOKEN_HEADER, "")
        if path.startswith("/api/") and not secrets.compare_digest(token.encode(), self.token.encode()):
            return 401, "found no token or a wrong one, expected the address that the command printed"
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a name is ours. A number always is: only names can be made to lead elsewhere."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.names or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _headers(scope: Message) -> dict[str, str]:
    return {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}


async def _answer(send: Send, code: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
