"""Suggestions and their file: what a reviewer opens, without the model and without the corpus beside it.

JSON lines. The first says what the rest is and how many lines of each kind follow; then every document in
unnoted's own format; then every suggestion, the highest score first. A file that was cut short is an error.
Exports (CSV, pandas, a page) are for people and other programs, and cannot be read back.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)

from unnoted.data.document import Document, Triple, join_entities
from unnoted.data.entity_clustering import likely_duplicates
from unnoted.data.formats import jsonl
from unnoted.data.formats.records import ReadContext
from unnoted.data.visualization.document_html import FactGroup, FactRow, FactTable
from unnoted.data.visualization.pages import DocumentEntry, documents_page
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import TextInput, numbered_lines, open_output, parse_json, write_lines
from unnoted.suggestions.completeness import BelowCutoff
from unnoted.utils import plural, require_extra, short_repr

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped,unused-ignore]

FILE_TYPE = "suggestions"

MAX_PAGE_DOCUMENTS, MAX_PAGE_FACTS = 200, 20
"""Documents that a page shows, and suggestions of each."""

FEW_LABELS = 200
"""With fewer labels than so many, scores are rough: a review begins at random."""

COLUMNS = (
    "document", "head", "head_name", "head_type", "relation", "relation_name", "tail", "tail_name",
    "tail_type", "score", "evidence", "rule", "labelled", "group",
)  # fmt: skip

Count = Annotated[StrictInt, Field(ge=0)]
Share = Annotated[FiniteFloat, Field(ge=0, le=1, strict=True)]
Number = Annotated[FiniteFloat, Field(strict=True)]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A fact that is probably missing, or a labelled fact that looks wrong.

    Attributes:
        document: the id of its document.
        head: the index of the head entity.
        tail: the index of the tail entity.
        relation: the relation id.
        score: the probability that it holds, given that it is unlabelled (or labelled); where the scores are
            not calibrated a number that orders, above 0.5 where the model predicts the fact.
        evidence: the sentences to look at.
        rule: the rule that implies it; None if none does.
        labelled: whether it is a labelled fact that looks wrong.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    document: StrictStr
    head: Count
    tail: Count
    relation: StrictStr
    score: Share
    evidence: tuple[Count, ...] = ()
    rule: StrictStr | None = None
    labelled: StrictBool = False

    @property
    def triple(self) -> Triple:
        """Head, tail and relation."""
        return self.head, self.tail, self.relation


@dataclass(frozen=True, slots=True)
class MissingLabels:
    """How many labels of a relation are thought to be missing, with a 90 % interval.

    Attributes:
        relation: the relation id.
        labelled: how many labels there are.
        missing: how many more facts are thought to hold.
        low: the lower end of the interval of `missing`.
        high: the upper end.
    """

    relation: StrictStr
    labelled: Count
    missing: Number
    low: Number
    high: Number


@dataclass(frozen=True)
class SuggestionSet:
    """Suggestions, and everything that is needed to review them.

    Attributes:
        source: the file that the documents came from, as it was given.
        source_format: the key of that file's format.
        source_checksum: the SHA-256 of that file.
        model: what scored: a model's folder, or how many folds of which config.
        relations: the id of every relation, with its name and its description, which may be empty.
        documents: every document of the source by its id, in its order.
        suggestions: the highest score first; labelled facts that look wrong last.
        missing: an estimate for each relation.
        below_cutoff: what was scored and is not among the suggestions.
        calibrated: whether scores are calibrated probabilities.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.data.synthetic import generate_documents
        >>> documents = {document.id: document for document in generate_documents(2)}
        >>> listed = Suggestion(next(iter(documents)), 0, 1, "member of", 0.8, (0,))
        >>> found = SuggestionSet("a.json", "docred", "0" * 64, "m", {"member of": ("member of", "")},
        ...                       documents, (listed,), ())
        >>> with TemporaryDirectory() as folder:
        ...     found.save(Path(folder, "s.jsonl"))
        ...     SuggestionSet.load(Path(folder, "s.jsonl")) == found
        True
    """

    source: str
    source_format: str
    source_checksum: str
    model: str
    relations: Mapping[str, tuple[str, str]]
    documents: Mapping[str, Document]
    suggestions: tuple[Suggestion, ...]
    missing: tuple[MissingLabels, ...]
    below_cutoff: BelowCutoff = field(default_factory=BelowCutoff)
    calibrated: bool = True

    def save(self, path: str | Path) -> None:
        """Write everything to a file that `load` reads; it appears when it is complete."""
        write_lines(path, self._records())

    @classmethod
    def load(cls, path: str | Path) -> "SuggestionSet":
        """Read what `save` wrote.

        Raises:
            DataError: names the file, the line and the field.
        """
        source = TextInput(path)
        try:
            with source.open() as stream:
                return _read(numbered_lines(stream))
        except DataError as error:
            raise DataError.from_defect(replace(error.defect, file=source.name)) from None

    def export(self, path: str | Path) -> None:
        """Write what the file's name asks for: `.csv`, `.html`, or else everything, as `save` does."""
        name = str(path).removesuffix(".gz")
        if name.endswith(".csv"):
            self._write_csv(Path(path))
        elif name.endswith(".html"):
            self._write_page(Path(path))
        else:
            self.save(path)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each suggestion, with the names of what it is about.

        Those of one group say the same if entities that may be one are one.
        """
        groups = self.group()
        for each in self.suggestions:
            head, tail = (self.documents[each.document].entities[index] for index in (each.head, each.tail))
            yield {
                "document": each.document,
                "head": each.head, "head_name": head.name, "head_type": head.type,
                "relation": each.relation, "relation_name": self.relations[each.relation][0],
                "tail": each.tail, "tail_name": tail.name, "tail_type": tail.type,
                "score": each.score, "evidence": list(each.evidence), "rule": each.rule,
                "labelled": each.labelled, "group": groups[each.document, each.triple],
            }  # fmt: skip

    @property
    def labels(self) -> int:
        """How many facts are labelled."""
        return sum(len(document.facts) for document in self.documents.values())

    @property
    def is_rough(self) -> bool:
        """Whether there are so few labels that scores say little."""
        return self.labels < FEW_LABELS

    @cached_property
    def duplicates(self) -> dict[str, list[tuple[int, int]]]:
        """Entities that may be one, by document (`entity_clustering.likely_duplicates`)."""
        found = {name: likely_duplicates(document.entities) for name, document in self.documents.items()}
        return {name: pairs for name, pairs in found.items() if pairs}

    def group(self) -> dict[tuple[str, Triple], int]:
        """The number of each suggestion's group: those that say the same if entities that may be one are one."""
        joined = {
            name: join_entities(len(self.documents[name].entities), pairs)
            for name, pairs in self.duplicates.items()
        }
        numbers: dict[tuple[str, int, int, str], int] = {}
        groups = {}
        for each in self.suggestions:
            same_as = joined.get(each.document)
            head, tail = (same_as[end] if same_as else end for end in (each.head, each.tail))
            key = each.document, head, tail, each.relation
            groups[each.document, each.triple] = numbers.setdefault(key, len(numbers))
        return groups

    def to_pandas(self) -> "DataFrame":
        """A frame with a row for each suggestion.

        Raises:
            MissingExtra: pandas is not installed.
        """
        frame: DataFrame = require_extra("pandas", "frames").DataFrame(
            list(self.rows()), columns=list(COLUMNS)
        )
        return frame

    def _records(self) -> Iterator[dict[str, Any]]:
        header = asdict(replace(self, documents={}, suggestions=()))
        counts = {"documents": len(self.documents), "suggestions": len(self.suggestions)}
        yield {"unnoted": FILE_TYPE} | header | counts
        yield from map(jsonl.record, self.documents.values())
        for each in self.suggestions:
            record = asdict(each)
            for key in ("evidence", "rule", "labelled"):
                if record[key] in ((), None, False):  # the default
                    del record[key]
            yield record

    def _write_csv(self, path: Path) -> None:
        with open_output(path) as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            for row in self.rows():
                writer.writerow(row | {"evidence": " ".join(map(str, row["evidence"]))})

    def _write_page(self, path: Path) -> None:
        """One page: the documents of the best suggestions first, each with its best ones."""
        by_document: dict[str, list[Suggestion]] = defaultdict(list)
        groups = self.group()
        for each in sorted(self.suggestions, key=lambda each: groups[each.document, each.triple]):
            by_document[each.document].append(each)
        names = {relation: name for relation, (name, _) in self.relations.items()}
        shown = [
            DocumentEntry(self.documents[name], _fact_table(self.documents[name], listed), names)
            for name, listed in list(by_document.items())[:MAX_PAGE_DOCUMENTS]
        ]
        suggested = sum(not each.labelled for each in self.suggestions)
        notice = f"Only {plural(self.labels, 'label')}: scores are rough." if self.is_rough else ""
        intro = [
            f"{plural(suggested, 'suggested fact')}, and "
            f"{plural(len(self.suggestions) - suggested, 'labelled fact')} that look wrong, in {self.source}; "
            f"scored by {self.model}."
        ]
        if self.missing:
            most = "; ".join(
                f"{names[each.relation]} {each.missing:,.0f} ({each.low:,.0f} to {each.high:,.0f})"
                for each in self.missing[:10]
            )
            intro.append(f"Estimated missing labels (90 % interval): {most}.")
        with open_output(path) as stream:
            stream.write(documents_page("Suggestions", intro, shown, len(by_document), notice))


def _fact_table(document: Document, listed: list[Suggestion]) -> FactTable:
    def row(each: Suggestion) -> FactRow:
        cells = f"{each.score:.2f}", each.rule or ""
        return FactRow(each.head, each.tail, each.relation, each.evidence, cells)

    suggested = [row(each) for each in listed if not each.labelled][:MAX_PAGE_FACTS]
    suspicious = [row(each) for each in listed if each.labelled]
    labels = (
        FactRow(fact.head, fact.tail, fact.relation, fact.evidence, ("", "")) for fact in document.facts
    )
    groups = (
        FactGroup(tuple(suggested), "suggested", "?", "suggested"),
        FactGroup(tuple(suspicious), "labelled, looks wrong", "!", "doubtful"),
        FactGroup(tuple(labels), "labelled", "✓", "labelled"),
    )
    return FactTable(tuple(group for group in groups if group.rows), ("score", "rule"))


class _Header(BaseModel):
    """The first line of the file."""

    model_config = ConfigDict(extra="forbid")

    unnoted: Literal["suggestions"]
    source: StrictStr
    source_format: StrictStr
    source_checksum: StrictStr
    model: StrictStr
    calibrated: StrictBool
    relations: dict[StrictStr, tuple[StrictStr, StrictStr]]
    missing: tuple[MissingLabels, ...]
    below_cutoff: BelowCutoff
    documents: Count
    suggestions: Count


_HEADER, _SUGGESTION = TypeAdapter(_Header), TypeAdapter(Suggestion)

T = TypeVar("T")


def _read(lines: Iterator[tuple[int, str]]) -> SuggestionSet:
    _, line = next(lines, (1, "{}"))
    record = _parsed(line, "line 1")
    if not isinstance(record, dict) or record.get("unnoted") != FILE_TYPE:
        raise DataError(short_repr(record), "the first line of a file of suggestions", place="line 1")
    header = _validated(_HEADER, record, "line 1")
    for index, estimate in enumerate(header.missing):
        _check(estimate.relation in header.relations, f"line 1.missing[{index}].relation", estimate.relation)
    reading, documents = ReadContext(DefectLog()), dict[str, Document]()
    for place, found in _take(lines, header.documents, "documents"):
        if not isinstance(found, dict):
            raise DataError(short_repr(found), "a document", place=place)
        document = jsonl.document_from_record(found, reading, place)
        documents[document.id] = document
    labels = {name: document.labels for name, document in documents.items()}
    suggestions: dict[tuple[str, Triple], Suggestion] = {}
    for place, found in _take(lines, header.suggestions, "suggestions"):
        each = _validated(_SUGGESTION, found, place)
        _check(each.document in documents, f"{place}.document", each.document)
        document = documents[each.document]
        _check(each.head < len(document.entities), f"{place}.head", each.head)
        _check(each.tail < len(document.entities) and each.tail != each.head, f"{place}.tail", each.tail)
        _check(each.relation in header.relations, f"{place}.relation", each.relation)
        _check(all(s < len(document.sentences) for s in each.evidence), f"{place}.evidence", each.evidence)
        _check(each.labelled == (each.triple in labels[each.document]), f"{place}.labelled", each.labelled)
        _check((each.document, each.triple) not in suggestions, place, each.triple)
        suggestions[each.document, each.triple] = each
    for number, line in lines:
        raise DataError(short_repr(line), "the end of the file", place=f"line {number}")
    fields = {name: value for name, value in header if name != "unnoted"}
    return SuggestionSet(**fields | {"documents": documents, "suggestions": tuple(suggestions.values())})


def _take(lines: Iterator[tuple[int, str]], count: int, name: str) -> Iterator[tuple[str, object]]:
    """So many lines, with their place, parsed."""
    for index in range(count):
        number, line = next(lines, (None, ""))
        if number is None:
            raise DataError(
                f"the end of the file after {index} {name}", f"{count}", kind=DefectKind.UNREADABLE
            )
        yield f"line {number}", _parsed(line, f"line {number}")


def _parsed(line: str, place: str) -> object:
    try:
        return parse_json(line)
    except DataError as error:
        raise DataError.from_defect(replace(error.defect, field=place)) from None


def _validated(adapter: TypeAdapter[T], record: object, place: str) -> T:
    """A validated line; errors are located by line and field."""
    try:
        return adapter.validate_python(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([place, *map(str, first["loc"])])
        given = "nothing" if first["type"].startswith("missing") else short_repr(first["input"])
        raise DataError(given, first["msg"], place=where) from None


def _check(holds: bool, place: str, value: object) -> None:
    if not holds:
        expected = "what fits the documents and the first line of this file"
        raise DataError(short_repr(value), expected, place=place)
