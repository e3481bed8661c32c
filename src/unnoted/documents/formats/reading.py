"""What one reading of one or more files shares: the log, the ids taken, the vocabulary, the relation rows."""

from collections.abc import Collection
from dataclasses import dataclass, field

from unnoted.common.errors import DefectLog, Kind, fail
from unnoted.documents.formats.relation_rows import RelationRows


@dataclass(slots=True)
class Reading:
    """The state of one reading.

    Args:
        log: takes everything that is wrong or worth knowing.
        vocabulary: relations that are allowed; None allows all.
        rows: relations of PubTator documents that stand in files of their own.
        seen: ids of the documents so far.
    """

    log: DefectLog
    vocabulary: Collection[str] | None = None
    rows: RelationRows = field(default_factory=RelationRows)
    seen: set[str] = field(default_factory=set)

    def new_id(self, identifier: str, place: str) -> str:
        """Take an id or title for a document: it must not be empty or taken."""
        if not identifier:
            fail(Kind.MALFORMED, None, place, "an empty string", "a title or id")
        if identifier in self.seen:
            fail(
                Kind.DUPLICATE_ID,
                identifier,
                place,
                "the title or id of an earlier document",
                "a new one",
            )
        self.seen.add(identifier)
        return identifier
