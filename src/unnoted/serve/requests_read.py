"""From the bytes of a request to documents, within the limits of the service."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

from starlette.requests import Request

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.reading import Reading
from unnoted.errors import DataError, DefectLog, Kind, Severity, fail
from unnoted.io import Limits, parse_json
from unnoted.serve.problems import Problem
from unnoted.utils import plural, short_repr

JSON = "application/json"
LINES = "application/x-ndjson"

CHARACTERS = 20
"""Characters that a plain text may have for each word that it may have."""


INLINE = 1 << 16
"""Bytes up to which something is read at once; what is larger is read by a thread, beside the others."""

Made = TypeVar("Made")


async def aside(size: int, work: Callable[[], Made]) -> Made:
    """Do what takes as long as so many bytes need, without keeping others waiting."""
    return await asyncio.to_thread(work) if size > INLINE else work()


def content_type(request: Request) -> str:
    """The type of a request's body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def whole_body(request: Request, most: int) -> bytes:
    """The body of a request; one that is too large is refused before it is read.

    Raises:
        Problem: 413.
    """
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        raise _too_large(most)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise _too_large(most)
    return bytes(body)


async def lines_of(request: Request, most: int) -> AsyncIterator[bytes]:
    """The lines of a request as they arrive, without blank ones.

    Raises:
        Problem: 413, if a line does not end within the limit.
    """
    rest = b""
    async for part in request.stream():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(rest) > most:
            raise Problem(413, f"found a line of more than {most:,} bytes, expected at most that")
    if rest.strip():
        yield rest


def _too_large(most: int) -> Problem:
    return Problem(413, f"found more than {most:,} bytes, expected at most that, or a stream ({LINES})")


def parsed(body: bytes) -> object:
    """The JSON value of a body.

    Raises:
        Problem: 422, if it is none.

    Example:
        >>> parsed(b'{"a": 1}')
        {'a': 1}
    """
    try:
        return parse_json(body.decode())
    except UnicodeDecodeError as error:
        raise Problem(422, f"found the byte 0x{body[error.start]:02x}, expected UTF-8 text") from None
    except DataError as error:
        raise Problem.of_document(error) from None


def several(value: object, most: int, things: str) -> list[object]:
    """The elements of a list that is not too long.

    Raises:
        Problem: 413 or 422.
    """
    if not isinstance(value, list):
        return [value]
    if not value:
        raise Problem(422, f"found an empty list, expected at least one {things}")
    if len(value) > most:
        raise Problem(
            413, f"found {plural(len(value), things)}, expected at most {most:,}, or a stream ({LINES})"
        )
    return value


def document_of(value: object, number: int, limits: Limits, **place: int) -> tuple[Document, list[str]]:
    """A document, and what was found in it that is not as it should be; without an id it is called by number.

    Raises:
        Problem: 422, with the document and the field.

    Example:
        >>> document, notes = document_of({"text": "Ada.", "entities": [], "colour": 1}, 1, Limits())
        >>> document.sentences, notes
        ((('Ada', '.'),), ["document '1': colour: found 1, expected a known field"])
    """
    if not isinstance(value, Mapping):
        found = f"found {short_repr(value)}, expected a document with `text` or `sentences`, and `entities`"
        raise Problem(422, found, **place)
    log = DefectLog()
    try:
        document = document_from_record({"id": str(number), **value}, Reading(log, limits=limits))
    except DataError as error:
        raise Problem.of_document(error, **place) from None
    defects = (each for kind, few in log.examples.items() if kind.severity is Severity.DEFECT for each in few)
    return document, [defect.within_file for defect in defects]


def text_of(value: object, number: int, limits: Limits) -> tuple[str, str]:
    """The id and the text of what a client wants read.

    Raises:
        Problem: 422.

    Example:
        >>> text_of("Ada slept.", 1, Limits()), text_of({"id": "a", "text": "Bo."}, 2, Limits())
        (('1', 'Ada slept.'), ('a', 'Bo.'))
    """
    fields: Mapping[Any, Any] = {"text": value} if isinstance(value, str) else {}
    fields = value if isinstance(value, Mapping) else fields
    name, text = fields.get("id", str(number)), fields.get("text")
    if not (isinstance(text, str) and isinstance(name, str) and name and fields.keys() <= {"id", "text"}):
        raise Problem(422, f'found {short_repr(value)}, expected a text, or {{"id": …, "text": …}}')
    try:
        if not text.strip():
            fail(Kind.MALFORMED, name, "text", "no text", "a text")
        limits.check("words", len(text.split()), "words", name, "text")
        if len(text) > (most := CHARACTERS * limits.words):
            fail(Kind.TOO_LARGE, name, "text", f"{len(text):,} characters", f"at most {most:,}")
    except DataError as error:
        raise Problem.of_document(error) from None
    return name, text
