"""Documents as lines in, results as lines out, while both go on: memory does not grow with the stream."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from unnoted.inference import DecisionOptions, Extraction
from unnoted.serve.answers import answer
from unnoted.serve.extraction_service import ExtractionService
from unnoted.serve.problems import Problem
from unnoted.serve.requests_read import LINES, aside, document_of, lines_of, parsed


@dataclass(frozen=True, slots=True)
class _Line:
    """A document on its way, or what was wrong with it."""

    number: int
    result: Future[Extraction] | None = None
    notes: tuple[str, ...] = ()
    problem: Problem | None = None


class StreamedAnswer(Response):
    """Answers every line of a request with a line, in their order.

    A document that cannot be used is answered with `{"error": …, "line": …}`, and the next one is read.

    Args:
        request: its body is read while the answer is sent.
        service: computes.
        asked: the line that is asked for.
    """

    media_type = LINES

    def __init__(self, request: Request, service: ExtractionService, asked: DecisionOptions) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self.request = request
        self.service = service
        self.asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; a client that does not read is waited for as long as for an answer."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for record in self._records():
            body = json.dumps(record, ensure_ascii=False).encode() + b"\n"
            async with asyncio.timeout(self.service.limits.seconds):
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _records(self) -> AsyncIterator[dict[str, Any]]:
        waiting: asyncio.Queue[_Line | None] = asyncio.Queue(self.service.limits.unsent)
        reading = asyncio.create_task(self._read(waiting))
        try:
            while (line := await waiting.get()) is not None:
                yield await self._record(line)
        finally:
            reading.cancel()
            while not waiting.empty():
                if (line := waiting.get_nowait()) is not None and line.result is not None:
                    line.result.cancel()

    async def _record(self, line: _Line) -> dict[str, Any]:
        problem = line.problem
        if line.result is not None:
            try:
                async with asyncio.timeout(self.service.limits.seconds):
                    return answer(await self.service.awaited(line.result), line.notes)
            except TimeoutError:
                problem = Problem(504, f"found no result after {self.service.limits.seconds:g} s")
            except Problem as found:
                problem = found
        assert problem is not None  # a line has one or the other
        return problem.content() | {"line": line.number, "status": problem.status}

    async def _read(self, waiting: "asyncio.Queue[_Line | None]") -> None:
        """Read the lines of the request into the queue; whatever ends it is the last of them."""
        number = 0
        lines = lines_of(self.request, self.service.limits.body)
        try:
            while (line := await self._next(lines)) is not None:
                number += 1
                await waiting.put(await self._submitted(line, number))
        except Problem as problem:
            await waiting.put(_Line(number + 1, problem=problem))
        except ClientDisconnect:
            pass  # nobody is left to be told
        await waiting.put(None)

    async def _next(self, lines: AsyncIterator[bytes]) -> bytes | None:
        seconds = self.service.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                line = await anext(lines, None)
        except TimeoutError:
            raise Problem(408, f"found no further line for {seconds:g} s, expected one, or the end") from None
        if line is not None and self.service.stopping:
            raise Problem(503, "found the service stopping, expected this line and the rest at another one")
        return line

    async def _submitted(self, line: bytes, number: int) -> _Line:
        try:
            document, notes = await aside(
                len(line), lambda: document_of(parsed(line), number, self.service.of_documents)
            )
            result = await self.service.submitted_in_turn(document, self.asked)
        except Problem as problem:
            return _Line(number, problem=problem)
        return _Line(number, result, tuple(notes))
