"""What an extractor gives: extractions one after the other, or all of their facts as a frame."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from unnoted.inference.facts import Extraction

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]


class ExtractionStream(Iterator[Extraction]):
    """The extractions of documents, made as they are asked for. It can be gone through once.

    Args:
        extractions: in the order of the documents.

    Example:
        >>> from unnoted.data.document import Document
        >>> stream = ExtractionStream([Extraction(Document("d1", (("It", "rained"),), ()), ())])
        >>> [extraction.document.id for extraction in stream], list(stream)
        (['d1'], [])
    """

    def __init__(self, extractions: Iterable[Extraction]) -> None:
        self._extractions = iter(extractions)

    def __next__(self) -> Extraction:
        return next(self._extractions)

    def to_pandas(self) -> "DataFrame":
        """The facts of all documents that are left as a frame, one row for each.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from unnoted.inference.fact_frames import facts_frame  # needs more than facts do

        return facts_frame(self)
