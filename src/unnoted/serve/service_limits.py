"""How much a service takes on at once, so that no client can take its memory or its time from the others."""

import os
from dataclasses import dataclass, replace

from unnoted.io import MEBI, Limits, variable


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The bounds of a service.

    Attributes:
        requests: requests that are under way at a time; further ones are answered with 503.
        queue: documents that wait or are computed at a time; a request with more than is left gets 429.
        body: bytes of a JSON request, or of one line of a stream; beyond it, 413.
        documents: documents of one JSON request; beyond it, 413. A stream may have any number.
        words: words of a document; beyond it, 422.
        entities: entities of a document, whose pairs are scored; beyond it, 422.
        seconds: until a request, or the next document of a stream, is answered; beyond it, 504, or 408 if the
            request itself did not arrive.
        unsent: documents of one stream that wait, are computed, or have results that the client has not read;
            beyond it, nothing more is read from that client.
        drain: seconds that a service which is asked to stop waits for the requests that it has accepted.

    Raises:
        ValueError: names the bound that is none.

    Example:
        >>> ServiceLimits(queue=0)
        Traceback (most recent call last):
        ValueError: queue: found 0, expected more than 0
    """

    requests: int = 128
    queue: int = 1024
    body: int = 8 * MEBI
    documents: int = 256
    words: int = 20_000
    entities: int = 400
    seconds: float = 60.0
    unsent: int = 512
    drain: float = 60.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"{name}: found {value}, expected more than 0")

    def of_documents(self) -> Limits:
        """The limits of a document; a variable of the environment comes before what is set here."""
        own = {
            name: getattr(self, name) for name in ("words", "entities") if variable(name) not in os.environ
        }
        return replace(Limits.current(), **own)
