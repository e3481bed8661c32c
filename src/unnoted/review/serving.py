"""The application on a port of this machine, until it is stopped."""

import socket
from collections.abc import Callable
from contextlib import closing
from urllib.parse import quote

from unnoted.review.app import MISSING_EXTRA, make_app
from unnoted.review.guard import new_token
from unnoted.review.store import ReviewStore

LOOPBACK = "127.0.0.1"


def serve_review(
    store: ReviewStore,
    host: str = LOOPBACK,
    port: int = 0,
    token: str | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve a review until the process is interrupted.

    Args:
        store: the review.
        host: where to listen; by default only this machine can reach it.
        port: 0 takes any that is free.
        token: what the address must hold; by default a random one.
        ready: is told the address as soon as it answers.

    Raises:
        ValueError: uvicorn is not installed.
        OSError: the port is taken, or the host is not one of this machine.
    """
    try:
        from uvicorn import Config, Server
    except ImportError:
        raise ValueError(MISSING_EXTRA) from None
    secret = token or new_token()
    with closing(bound(host, port)) as listening:
        app = make_app(store, secret, host)
        ready(address(host, listening.getsockname()[1], secret))
        config = Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
        Server(config).run(sockets=[listening])


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens: whoever is told the address can connect at once, and waits for the answer."""
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


def address(host: str, port: int, token: str) -> str:
    """The address to open. What follows `#` stays in the browser: it is in no log and no referrer.

    Example:
        >>> address("127.0.0.1", 8000, "secret")
        'http://127.0.0.1:8000/#token=secret'
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/#token={quote(token, safe='')}"
