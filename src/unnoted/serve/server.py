"""The process of a service: it listens, and when it is asked to stop it finishes what it has accepted."""

import asyncio
import signal
import socket
import time
from ipaddress import ip_address
from types import FrameType

import uvicorn

from unnoted.serve.application import create_app
from unnoted.serve.extraction_service import ExtractionService

LOOPBACK = ("localhost", "127.0.0.1", "::1")

SETTLE = 1.0
"""Seconds for which a service that stops still answers, with 503: clients learn it from an answer and close
their connections, instead of finding them cut."""


MOMENT = 0.3
"""Seconds between the last connection that is taken and the closing of those that are open."""


class DrainingServer(uvicorn.Server):
    """Stops in three steps: takes no further request, finishes those it has, closes.

    Args:
        config: of uvicorn.
        service: is told that it is stopping.
    """

    def __init__(self, config: uvicorn.Config, service: ExtractionService) -> None:
        super().__init__(config)
        self.service = service
        self._asked: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; a second Ctrl-C stops at once."""
        if self._asked is not None and sig == signal.SIGINT:
            self.should_exit = self.force_exit = True
        if self._asked is None:
            self._asked = time.monotonic()
        self.service.stopping = True

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to close; asked ten times a second."""
        if self._asked is not None:
            waited = time.monotonic() - self._asked
            idle = self.service.under_way == 0 and waited >= SETTLE
            self.should_exit = self.should_exit or idle or waited >= self.service.limits.drain
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the door first, and the connections that came through it a moment later, when they know."""
        for server in self.servers:
            server.close()
        if not self.force_exit:
            await asyncio.sleep(MOMENT)
        await super().shutdown(sockets)


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
    hosts = {*LOOPBACK, host} if is_loopback(host) else None
    config = uvicorn.Config(
        create_app(service, token, hosts),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )
    DrainingServer(config, service).run()
