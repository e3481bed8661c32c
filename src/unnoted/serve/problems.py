"""What a service says when it cannot do what it is asked: a status, one sentence, and the place."""

from typing import Any

from starlette.responses import JSONResponse

from unnoted.errors import DataError

RETRY_SECONDS = 1
"""When a client may try again."""


class Problem(Exception):
    """An answer that is no result.

    Args:
        status: the status of HTTP.
        error: one sentence: what was found, and what was expected.
        place: where in the request it was found.
    """

    def __init__(self, status: int, error: str, **place: Any) -> None:  # noqa: ANN401
        super().__init__(error)
        self.status = status
        self.error = error
        self.place = place

    @classmethod
    def of_document(cls, error: DataError, **place: Any) -> "Problem":  # noqa: ANN401
        """A document that cannot be used."""
        defect = error.defect
        place |= {"document": defect.document, "field": defect.field}
        return cls(422, defect.within_file, **{name: at for name, at in place.items() if at is not None})

    def content(self) -> dict[str, Any]:
        """What is answered, as JSON.

        Example:
            >>> Problem(422, "found nothing, expected a document", line=3).content()
            {'error': 'found nothing, expected a document', 'line': 3}
        """
        return {"error": self.error, **self.place}

    def response(self) -> JSONResponse:
        """The answer; whoever may come again is told when."""
        again = {"Retry-After": str(RETRY_SECONDS)} if self.status in (429, 503) else {}
        return JSONResponse(self.content(), self.status, again)
