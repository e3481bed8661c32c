"""Suggestions as a file: what a reviewer opens, without the model and without the original beside it.

JSON lines. The first says what the rest is and how many lines of each kind follow; then every document in
unnoted's own form; then every suggestion, best first. A file that was cut short is noticed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.formats import jsonl
from unnoted.data.formats.fields import expect, take, take_list
from unnoted.data.formats.records import ReadContext
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import TextInput, numbered_lines, parse_record, write_lines
from unnoted.suggestions.exports import suggestions_frame, write_suggestions_csv, write_suggestions_page
from unnoted.suggestions.suggestion import MissingLabels, Suggestion, Unlisted
from unnoted.suggestions.suggestion_lines import SuggestionReader, check_encodable, number, suggestion_record
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped,unused-ignore]

__all__ = ["MissingLabels", "Suggestion", "SuggestionSet", "Unlisted"]

MARK = "suggestions"
FORMAT = 1
"""Raised when a file of today could no longer be read."""


@dataclass(frozen=True)
class SuggestionSet:
    """Suggestions, and everything that is needed to look at them.

    Attributes:
        source: the file that the documents came from, as it was given.
        source_format: the key of that file's format.
        source_checksum: the SHA-256 of that file.
        model: what judged: a model's folder, or how many folds of which settings.
        relations: the id of every relation, with its name and its description, which may be empty.
        documents: every document of the source by its id, in its order.
        suggestions: best first.
        missing: an estimate for each relation.
        unlisted: what was judged and is not among the suggestions.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.data.synthetic import generate_documents
        >>> documents = {document.id: document for document in generate_documents(2)}
        >>> name = next(iter(documents))
        >>> listed = Suggestion(name, 0, 1, "member of", 0.8, 0.7, (0,))
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
    unlisted: Unlisted = field(default_factory=Unlisted)

    def save(self, path: str | Path) -> None:
        """Write everything, whole or not at all."""
        write_lines(path, self._records())

    @classmethod
    def load(cls, path: str | Path) -> "SuggestionSet":
        """Read what `save` wrote.

        Raises:
            DataError: names the file, the line, the field, what was found and what was expected.
        """
        source = TextInput(path)
        try:
            with source.open() as stream:
                return _read(_records(numbered_lines(stream)))
        except DataError as error:
            raise DataError(replace(error.defect, file=source.name)) from None

    def to_pandas(self) -> "DataFrame":
        """A frame with a row for each suggestion.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return suggestions_frame(self)

    def export(self, path: str | Path) -> None:
        """Write what the file's name asks for: `.csv`, `.html`, or else everything, as `save` does."""
        name = str(path).removesuffix(".gz")
        for ending, write in ((".csv", write_suggestions_csv), (".html", write_suggestions_page)):
            if name.endswith(ending):
                return write(Path(path), self)
        return self.save(path)

    def _records(self) -> Iterator[dict[str, Any]]:
        yield {
            "unnoted": MARK,
            "format": FORMAT,
            "source": self.source,
            "source_format": self.source_format,
            "source_checksum": self.source_checksum,
            "model": self.model,
            "relations": self.relations,
            "missing": [asdict(each) for each in self.missing],
            "unlisted": asdict(self.unlisted),
            "documents": len(self.documents),
            "suggestions": len(self.suggestions),
        }
        yield from map(jsonl.record, self.documents.values())
        yield from map(suggestion_record, self.suggestions)


Line = tuple[str, dict[str, Any]]
"""Where a record stands, and the record."""


def _records(lines: Iterator[tuple[int, str]]) -> Iterator[Line]:
    """Every line as an object, with its place."""
    for index, line in lines:
        place = f"line {index}"
        parsed: dict[str, Any] = expect(parse_record(line, place), dict, None, place)
        yield place, parsed


def _read(records: Iterator[Line]) -> SuggestionSet:
    place, header = next(records, ("line 1", {}))
    if header.get("unnoted") != MARK or header.get("format") != FORMAT:
        expected = f"the first line of a file of suggestions, format {FORMAT}"
        fail(Kind.MALFORMED, None, place, short_repr(header), expected)
    texts = {key: take(header, key, str, None, place) for key in TEXTS}
    relations = _relations(take(header, "relations", dict, None, place), place)
    missing = _missing(take_list(header, "missing", dict, None, place), relations, place)
    unlisted = _unlisted(take(header, "unlisted", dict, None, place), place)
    counts = [_count(header, key, place) for key in ("documents", "suggestions")]
    check_encodable([*texts.values(), *relations, *(text for pair in relations.values() for text in pair)])
    reading = ReadContext(DefectLog())
    documents: dict[str, Document] = {}
    for place, record in _taken(records, counts[0], "documents"):
        document = jsonl.document_from_record(record, reading, place)
        documents[document.id] = document
    reader = SuggestionReader(documents, relations)
    suggestions = tuple(reader.read(*line) for line in _taken(records, counts[1], "suggestions"))
    for place, record in records:
        fail(Kind.MALFORMED, None, place, short_repr(record), "the end of the file after the last suggestion")
    return SuggestionSet(
        **texts, relations=relations, documents=documents, suggestions=suggestions, missing=missing,
        unlisted=unlisted,
    )  # fmt: skip


TEXTS = ("source", "source_format", "source_checksum", "model")


def _taken(records: Iterator[Line], count: int, name: str) -> Iterator[Line]:
    """As many records as the first line says there are."""
    for index in range(count):
        try:
            yield next(records)
        except StopIteration:
            fail(Kind.UNREADABLE, None, None, f"the end of the file after {index} {name}", f"{count}")


def _count(record: Mapping[str, Any], key: str, place: str) -> int:
    value = take(record, key, int, None, place)
    if value < 0:
        fail(Kind.MALFORMED, None, f"{place}.{key}", short_repr(value), "0 or more")
    return value


def _relations(found: Mapping[str, Any], place: str) -> dict[str, tuple[str, str]]:
    relations = {}
    for relation, texts in found.items():
        if type(texts) is not list or [type(text) for text in texts] != [str, str]:
            where = f"{place}.relations.{short_repr(relation)}"
            fail(Kind.MALFORMED, None, where, short_repr(texts), "a list of a name and a description")
        relations[relation] = (texts[0], texts[1])
    return relations


def _missing(
    found: list[dict[str, Any]], relations: Mapping[str, Any], place: str
) -> tuple[MissingLabels, ...]:
    estimates = []
    for index, record in enumerate(found):
        where = f"{place}.missing[{index}]"
        relation = take(record, "relation", str, None, where)
        if relation not in relations:
            fail(
                Kind.MALFORMED, None, f"{where}.relation", short_repr(relation), "a relation of the same line"
            )
        numbers = (number(record, key, None, where) for key in ("missing", "low", "high"))
        estimates.append(MissingLabels(relation, _count(record, "labelled", where), *numbers))
    return tuple(estimates)


def _unlisted(found: Mapping[str, Any], place: str) -> Unlisted:
    where = f"{place}.unlisted"
    expected = None if found.get("expected") is None else number(found, "expected", None, where)
    return Unlisted(_count(found, "candidates", where), expected)
