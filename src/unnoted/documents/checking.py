"""Validation of files as one report: what they contain and everything that is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from unnoted.common.errors import DefectLog, Kind, Severity
from unnoted.common.text_inputs import TextInput
from unnoted.documents.candidates import Candidates
from unnoted.documents.formats import format_name, format_of
from unnoted.documents.loading import default_candidates, stream_documents
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.statistics import Statistics

Source = TypeVar("Source", Path, TextInput)

ROW_REASONS = (
    Kind.UNKNOWN_DOCUMENT,
    Kind.UNLINKED_ENTITY,
    Kind.WRONG_TYPE,
    Kind.SELF_RELATION,
    Kind.DUPLICATE_FACT,
)
"""Why a relation row may be dropped."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What one or more files that belong together contain, and what is wrong with them."""

    files: tuple[str, ...]
    format: str
    statistics: Statistics
    candidates: Candidates
    log: DefectLog

    @property
    def usable(self) -> bool:
        """Whether the documents can be used as they are."""
        return self.log.usable

    @property
    def defects(self) -> list[Kind]:
        """The kinds that were found, the most severe and most frequent first."""
        severest_first = list(Severity)[::-1]
        counts = self.log.counts
        return sorted(counts, key=lambda kind: (severest_first.index(kind.severity), -counts[kind]))

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "files": list(self.files),
            "format": self.format,
            "usable": self.usable,
            "statistics": self.statistics.to_json(self.candidates),
            "relation_rows": self.relation_rows(),
            "defects": [
                {
                    "kind": kind.slug,
                    "severity": kind.severity,
                    "meaning": kind.meaning,
                    "count": self.log.counts[kind],
                    "examples": [str(defect) for defect in self.log.examples[kind]],
                }
                for kind in self.defects
            ],
        }

    def relation_rows(self) -> dict[str, int] | None:
        """For PubTator: how many relation rows were read, kept, and dropped by each reason."""
        if not self.log.relation_rows:
            return None
        dropped = {kind.slug: self.log.counts[kind] for kind in ROW_REASONS if self.log.counts[kind]}
        unusable = self.log.relation_rows - self.statistics.facts - sum(dropped.values())
        if unusable:
            dropped["in-unusable-document"] = unusable
        return {"read": self.log.relation_rows, "kept": self.statistics.facts, **dropped}


def check_files(
    paths: Sequence[str | Path | TextInput],
    vocabulary: RelationVocabulary | None = None,
    candidates: Candidates | None = None,
    strict: bool = False,
) -> CheckReport:
    """Read files that belong together to their end, whatever is wrong, and report.

    Args:
        paths: one file of documents, or PubTator files with their relation files; `-` is standard input.
        vocabulary: relations that are allowed; None allows all.
        candidates: which pairs are candidates; by default as `load_documents` has it.
        strict: defects make the files unusable too.
    """
    log = DefectLog(strict=strict, collect=True)
    statistics = Statistics()
    sources = [TextInput.of(path) for path in paths]
    for _ in statistics.watch(stream_documents(*sources, vocabulary=vocabulary, log=log)):
        pass
    formats = dict.fromkeys(map(format_name, sources))
    if candidates is None:
        candidates = default_candidates(sources, lambda: statistics.observed)
    names = tuple(source.name for source in sources)
    return CheckReport(names, " + ".join(formats), statistics, candidates, log)


def group_files(paths: Sequence[Source]) -> list[list[Source]]:
    """Files that belong together: PubTator files with the relation files; every other file by itself."""
    keys = {path: entry.key for path in paths if (entry := format_of(path))}
    rows = [path for path in paths if keys.get(path) == "relation-rows"]
    texts = [path for path in paths if keys.get(path) == "pubtator"]
    if not rows:
        return [[path] for path in paths]
    groups = [texts + rows]
    groups += [[path] for path in paths if path not in rows and path not in texts]
    return groups
