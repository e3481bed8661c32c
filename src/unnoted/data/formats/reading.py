"""What one reading of one or more files shares: the log, the ids taken, the vocabulary, the relation rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from unnoted.data.document import Document
from unnoted.data.formats.fields import take
from unnoted.data.formats.relation_rows import RelationRows
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import Limits

Source = TypeVar("Source")


@dataclass(slots=True)
class Reading:
    """The state of one reading.

    Args:
        log: takes everything that is wrong or worth knowing.
        vocabulary: relations that are allowed; None allows all.
        rows: relations of PubTator documents that stand in files of their own.
        seen: ids of the documents so far.
        limits: how large a document may be.
    """

    log: DefectLog
    vocabulary: Collection[str] | None = None
    rows: RelationRows = field(default_factory=RelationRows)
    seen: set[str] = field(default_factory=set)
    limits: Limits = field(default_factory=Limits.current)

    def new_id(self, identifier: str, place: str) -> str:
        """Take an id or title for a document: it must not be empty or taken."""
        if not identifier:
            fail(Kind.MALFORMED, None, place, "an empty string", "a title or id")
        if identifier in self.seen:
            fail(Kind.DUPLICATE_ID, identifier, place, "the title or id of an earlier document", "a new one")
        self.seen.add(identifier)
        return identifier

    def take_id(self, record: Mapping[str, Any], key: str, place: str) -> str:
        """The id of a new document, which may also be a whole number."""
        value = record.get(key)
        return self.new_id(str(value) if type(value) is int else take(record, key, str, None, place), key)

    def each(
        self, sources: Iterable[Source], build: Callable[[Source, "Reading"], Document]
    ) -> Iterator[Document]:
        """Build one document from each source; one that cannot be built goes to the log as an error."""
        for source in sources:
            try:
                document = build(source, self)
            except DataError as error:
                self.log.error(error)
            else:
                yield document
            self.log.line = None  # what is found between documents is of none of them
