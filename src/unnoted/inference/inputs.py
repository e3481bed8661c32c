"""What goes in: documents, or dictionaries of the same form as a line of unnoted JSONL."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.reading import Reading
from unnoted.errors import DataError, DefectLog

Source: TypeAlias = Document | Mapping[str, Any]
"""A document, or a dictionary with `text` or `sentences`, and `entities` (docs/formats.md)."""


def as_documents(sources: Iterable[Source], log: DefectLog) -> Iterator[Document]:
    """Documents as they are, dictionaries as documents; one that has no `id` is called by its number.

    Args:
        sources: taken one at a time.
        log: where the defects of dictionaries are counted.

    Raises:
        DataError: a dictionary is no document: names its place, the field, what was found and expected.
        TypeError: something is neither.

    Example:
        >>> ada = {"type": "PER", "mentions": [{"start": 0, "end": 3}]}
        >>> source = {"text": "Ada met Bo.", "entities": [ada]}
        >>> [(document.id, document.entities[0].name) for document in as_documents([source], DefectLog())]
        [('1', 'Ada')]
    """
    for number, source in enumerate(sources, start=1):
        if isinstance(source, Document):
            yield source
            continue
        if not isinstance(source, Mapping):
            raise TypeError(
                f"document {number}: found {type(source).__name__}, expected a Document, or a dictionary "
                "with `text` or `sentences`, and `entities`"
            )
        log.file = f"document {number}"
        try:
            # A reading of its own: ids need not be unique here, so that no table of them grows with a stream.
            yield document_from_record({"id": str(number), **source}, Reading(log))
        except DataError as error:
            raise log.located(error) from None
