"""Validation of files as one report: what they contain and everything that is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from unnoted.data.candidates import CandidatePairs, list_types
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.formats import format_name, format_of
from unnoted.data.loading import default_candidates, stream_documents
from unnoted.data.statistics import Statistics
from unnoted.errors import EXAMPLES_KEPT, Defect, DefectLog, Kind, Severity
from unnoted.io import TextInput
from unnoted.utils import plural

Source = TypeVar("Source", Path, TextInput)

FEW_CUT = 2
"""So many mentions that cut a word say nothing of all."""

MOST_CUT_AT_END = 0.9
"""Where words take endings, as in Turkish, mentions may leave them out; but hardly nine of ten do."""

MISTAKEN = frozenset(
    {"relations", "relation", "labels", "label", "facts", "fact", "triples", "triplets", "edges"}
)
"""What people call their facts; where it is the right name, it is no unknown field."""

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
    candidates: CandidatePairs
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
        kept = self.statistics.facts + self.statistics.negatives
        unusable = self.log.relation_rows - kept - sum(dropped.values())
        if unusable:
            dropped["in-unusable-document"] = unusable
        return {"read": self.log.relation_rows, "kept": kept, **dropped}


def check_files(
    paths: Sequence[str | Path | TextInput],
    vocabulary: RelationVocabulary | None = None,
    candidates: CandidatePairs | None = None,
    strict: bool = False,
    every: bool = False,
) -> CheckReport:
    """Read files that belong together to their end, whatever is wrong, and report.

    Args:
        paths: one file of documents, or PubTator files with their relation files; `-` is standard input.
        vocabulary: relations that are allowed; None allows all.
        candidates: which pairs are candidates; by default as `load_documents` has it.
        strict: defects make the files unusable too.
        every: keep every defect, not only the first of each kind.
    """
    log = DefectLog(strict=strict, collect=True, keep=inf if every else EXAMPLES_KEPT)
    statistics = Statistics(candidates)
    sources = [TextInput.of(path) for path in paths]
    for _ in statistics.watch(stream_documents(*sources, vocabulary=vocabulary, log=log)):
        pass
    formats = dict.fromkeys(map(format_name, sources))
    if candidates is None:
        candidates = default_candidates(sources, lambda: statistics.observed)
    names = tuple(source.name for source in sources)
    log.line = None
    log.file = ", ".join(names)
    for judge in (_judge_offsets, _judge_facts, partial(_judge_candidates, candidates)):
        judge(statistics, log)
    if not statistics.facts_with_evidence:
        log.forget(Kind.NO_EVIDENCE)  # evidence is not used here at all, so none is missing
    return CheckReport(names, " + ".join(formats), statistics, candidates, log)


def _judge_offsets(statistics: Statistics, log: DefectLog) -> None:
    """Some languages and fields cut words now and then; nobody cuts most of them but by mistake."""
    expected = "offsets that count from 0, in characters, the end exclusive"
    for kind, share, how in (
        (Kind.CUT_START, 0.5, "begin inside a word or at a blank"),
        (Kind.CUT_END, MOST_CUT_AT_END, "end inside a word or at a blank"),
    ):
        cut = log.counts[kind]
        if cut > FEW_CUT and cut > share * statistics.mentions:
            found = f"{cut:,} of {statistics.mentions:,} that {how}"
            log.record(Defect(Kind.MALFORMED, log.file, None, "mentions", found, expected))
            return


def _judge_facts(statistics: Statistics, log: DefectLog) -> None:
    """Documents without any fact are usable, to predict on; not so where another field looks like facts."""
    found = [name for name in log.ignored if name in MISTAKEN]
    if statistics.documents and not statistics.facts and found:
        documents = plural(statistics.documents, "document")
        expected = "`facts` (in DocRED JSON `labels`)"
        log.record(Defect(Kind.MALFORMED, log.file, None, found[0], f"no fact in {documents}", expected))


def _judge_candidates(rule: CandidatePairs, statistics: Statistics, log: DefectLog) -> None:
    pairs, _ = statistics.candidate_pairs(rule)
    if statistics.all_pairs and not pairs:
        expected = f"pairs of {list_types(statistics.entity_types)}"
        log.record(Defect(Kind.MALFORMED, log.file, None, "candidates", "no candidate pair", expected))


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
