"""Validation of files as one report: what they contain, and everything that is wrong with them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from unnoted.data.candidates import CandidatePairs, TypePair, list_types
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.entity_clustering import likely_duplicates
from unnoted.data.formats import find_format
from unnoted.data.loading import default_candidates, stream_documents
from unnoted.errors import EXAMPLES_KEPT, Defect, DefectKind, DefectLog, Severity
from unnoted.io import TextInput
from unnoted.utils import plural, short_repr

Source = TypeVar("Source", Path, TextInput)

FEW_MISALIGNED = 2
"""So few misaligned mentions say nothing of the others."""

MOST_MISALIGNED = {DefectKind.CUT_START: 0.5, DefectKind.CUT_END: 0.9}
"""The share of misaligned mentions above which the offsets are wrong. Where words take endings, as in Turkish,
mentions may leave them out; but hardly nine of ten do."""

MISTAKEN_FIELDS = frozenset(
    {"relations", "relation", "labels", "label", "facts", "fact", "triples", "triplets", "edges"}
)
"""Names under which people list facts; a format's own name is no unknown field."""

ROW_REASONS = (
    DefectKind.UNKNOWN_DOCUMENT,
    DefectKind.UNLINKED_ENTITY,
    DefectKind.WRONG_TYPE,
    DefectKind.SELF_RELATION,
    DefectKind.DUPLICATE_FACT,
)
"""Why a relation row may be dropped."""


@dataclass(slots=True)
class CorpusStatistics:
    """Counts over a stream of documents.

    Args:
        rule: candidate pairs to count document by document; those of a rule of types alone can also be asked
            for afterwards.

    Example:
        >>> from unnoted.data import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> statistics = CorpusStatistics()
        >>> statistics.add(Document("1", (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "met"),)))
        >>> statistics.documents, statistics.facts, statistics.all_pairs, statistics.longest
        (1, 1, 2, (2, '1'))
    """

    rule: CandidatePairs | None = None
    documents: int = 0
    sentences: int = 0
    words: int = 0
    entities: int = 0
    mentions: int = 0
    negatives: int = 0
    facts_with_evidence: int = 0
    across_sentences: int = 0
    longest: tuple[int, str] = (0, "")
    most_entities: tuple[int, str] = (0, "")
    relations: Counter[str] = field(default_factory=Counter)
    types_of: defaultdict[str, Counter[TypePair]] = field(default_factory=lambda: defaultdict(Counter))
    entity_types: Counter[str] = field(default_factory=Counter)
    all_pairs: int = 0
    _rule_pairs: int = 0
    _rule_labelled: int = 0
    _labelled_by_type: Counter[TypePair] = field(default_factory=Counter)
    # Of each document, the number of entities of each type: far less than its pairs of types may be.
    _type_counts: Counter[frozenset[tuple[str, int]]] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        """Count one document."""
        entities, words = document.entities, document.word_count
        types = Counter(entity.type for entity in entities)
        self.documents += 1
        self.sentences += len(document.sentences)
        self.words += words
        self.entities += len(entities)
        self.mentions += sum(len(entity.mentions) for entity in entities)
        self.negatives += len(document.negatives)
        self.longest = max(self.longest, (words, document.id))
        self.most_entities = max(self.most_entities, (len(entities), document.id))
        self.entity_types.update(types)
        self.all_pairs += len(entities) * (len(entities) - 1)
        self._type_counts[frozenset(types.items())] += 1
        if self.rule is not None:
            self._rule_pairs += self.rule.count(document)
        sentences = [entity.sentences for entity in entities]
        for fact in document.facts:
            self.relations[fact.relation] += 1
            self.types_of[fact.relation][entities[fact.head].type, entities[fact.tail].type] += 1
            self.facts_with_evidence += bool(fact.evidence)
            self.across_sentences += sentences[fact.head].isdisjoint(sentences[fact.tail])
        for head, tail in {(fact.head, fact.tail) for fact in document.facts}:
            self._labelled_by_type[entities[head].type, entities[tail].type] += 1
            if self.rule is not None:
                self._rule_labelled += self.rule.allows(entities[head], entities[tail])

    @property
    def facts(self) -> int:
        """The number of facts."""
        return self.relations.total()

    @property
    def observed_candidates(self) -> CandidatePairs:
        """The type pairs of the facts."""
        return CandidatePairs(frozenset(self._labelled_by_type))

    def count_candidates(self, rule: CandidatePairs) -> tuple[int, int]:
        """The number of candidate pairs, and of those with a fact.

        The candidates are those of `rule`, or any that depend on types alone.
        """
        if rule == self.rule:
            return self._rule_pairs, self._rule_labelled
        if rule.types is None:
            return self.all_pairs, self._labelled_by_type.total()
        pairs = 0
        for counts, documents in self._type_counts.items():
            having = dict(counts)
            present = (pair for pair in rule.types if pair[0] in having and pair[1] in having)
            pairs += documents * sum(having[head] * (having[tail] - (head == tail)) for head, tail in present)
        return pairs, sum(self._labelled_by_type[types] for types in rule.types)

    def mean(self, total: int) -> float:
        """A total per document."""
        return total / self.documents if self.documents else 0.0

    def to_json(self, rule: CandidatePairs) -> dict[str, Any]:
        """All figures, with the candidate pairs of a rule."""
        candidates, labelled = self.count_candidates(rule)
        return {
            "documents": self.documents,
            "relations": len(self.relations),
            "facts": self.facts,
            "facts_per_document": self.mean(self.facts),
            "facts_with_evidence": self.facts_with_evidence,
            "facts_across_sentences": self.across_sentences,
            "entities_per_document": self.mean(self.entities),
            "most_entities": {"entities": self.most_entities[0], "document": self.most_entities[1]},
            "mentions_per_document": self.mean(self.mentions),
            "sentences_per_document": self.mean(self.sentences),
            "words_per_document": self.mean(self.words),
            "longest_document": {"words": self.longest[0], "document": self.longest[1]},
            "candidates": rule.to_json(),
            "candidate_pairs": candidates,
            "labelled_pairs": labelled,
            "labelled_share": labelled / candidates if candidates else 0.0,
            "facts_per_relation": dict(self.relations.most_common()),
            "known_negatives": self.negatives,
            "entities_per_type": dict(self.entity_types.most_common()),
            "types_per_relation": {
                relation: {f"{head}:{tail}": count for (head, tail), count in types.most_common()}
                for relation, types in self.types_of.items()
            },
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What files that belong together contain, and what is wrong with them."""

    files: tuple[str, ...]
    format: str
    statistics: CorpusStatistics
    candidates: CandidatePairs
    log: DefectLog

    @property
    def usable(self) -> bool:
        """Whether the documents can be used as they are."""
        return self.log.usable

    @property
    def defects(self) -> list[DefectKind]:
        """The kinds of defects, the most severe and most frequent first."""
        severest_first = list(Severity)[::-1]
        counts = self.log.counts
        return sorted(counts, key=lambda kind: (severest_first.index(kind.severity), -counts[kind]))

    def relation_rows(self) -> dict[str, int] | None:
        """For PubTator: how many relation rows were read, kept, and dropped for each reason."""
        if not self.log.relation_rows:
            return None
        dropped = {kind.slug: self.log.counts[kind] for kind in ROW_REASONS if self.log.counts[kind]}
        kept = self.statistics.facts + self.statistics.negatives
        unusable = self.log.relation_rows - kept - sum(dropped.values())
        if unusable:
            dropped["in-unusable-document"] = unusable
        return {"read": self.log.relation_rows, "kept": kept, **dropped}

    def to_json(self) -> dict[str, Any]:
        """The whole report."""
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
        candidates: the candidate pairs; by default as in `load_documents`.
        strict: defects make the files unusable too.
        every: keep every defect, not only the first of each kind.
    """
    log = DefectLog(strict=strict, collect=True, keep=inf if every else EXAMPLES_KEPT)
    statistics = CorpusStatistics(candidates)
    sources = [TextInput.from_path(path) for path in paths]
    for document in stream_documents(*sources, vocabulary=vocabulary, log=log):
        statistics.add(document)
        for one, other in likely_duplicates(document.entities):
            place, found = f"entities {one} and {other}", short_repr(document.entities[other].name)
            expected = f"mentions of {short_repr(document.entities[one].name)}, if they are one"
            log.add(DefectKind.LIKELY_DUPLICATE, document.id, place, found, expected)
    formats = list(map(find_format, sources))
    if candidates is None:
        candidates = default_candidates(formats, lambda: statistics.observed_candidates)
    names = tuple(source.name for source in sources)
    format_names = dict.fromkeys(format.name if format else "unknown" for format in formats)
    log.line = None
    log.file = ", ".join(names)
    for found, expected, place in _find_mistakes(statistics, log, candidates):
        log.record(Defect(DefectKind.MALFORMED, log.file, None, place, found, expected))
    if not statistics.facts_with_evidence:
        log.forget(DefectKind.NO_EVIDENCE)  # evidence is not used here at all, so none is missing
    return CheckReport(names, " + ".join(format_names), statistics, candidates, log)


def _find_mistakes(
    statistics: CorpusStatistics, log: DefectLog, candidates: CandidatePairs
) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a file as a whole: the problem, what is valid, and the place."""
    for kind, share in MOST_MISALIGNED.items():
        cut = log.counts[kind]
        if cut > FEW_MISALIGNED and cut > share * statistics.mentions:
            edge = "begin" if kind is DefectKind.CUT_START else "end"
            found = f"{cut:,} of {statistics.mentions:,} that {edge} inside a word or at a blank"
            yield found, "offsets that count from 0, in characters, the end exclusive", "mentions"
            break
    # Documents without any fact are usable, to predict on; not so where another field looks like facts.
    mistaken = [name for name in log.ignored if name in MISTAKEN_FIELDS]
    if statistics.documents and not statistics.facts and mistaken:
        found = f"no fact in {plural(statistics.documents, 'document')}"
        yield found, "`facts` (in DocRED JSON `labels`)", mistaken[0]
    if statistics.all_pairs and not statistics.count_candidates(candidates)[0]:
        yield "no candidate pair", f"pairs of {list_types(statistics.entity_types)}", "candidates"


def group_files(paths: Sequence[Source]) -> list[list[Source]]:
    """Files that belong together: PubTator files with the relation files; every other file by itself."""
    keys = {path: format.key for path in paths if (format := find_format(path))}
    rows = [path for path in paths if keys.get(path) == "relation-rows"]
    texts = [path for path in paths if keys.get(path) == "pubtator" and rows]
    alone: list[list[Source]] = [[path] for path in paths if path not in rows and path not in texts]
    return ([texts + rows] if rows else []) + alone
