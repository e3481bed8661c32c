"""What the readers and writers of all formats share: the state of one read, JSON records, edits of files."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO, TypeAlias, TypeVar

from annotated_types import Len
from pydantic import BaseModel, ConfigDict, ValidationError

from unnoted.data.document import Decision, Document, Triple
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import ENCODABLE, Limits, RepeatedKey, open_output, open_text, parse_json
from unnoted.utils import describe_error, short_repr

Model = TypeVar("Model", bound=BaseModel)
Source = TypeVar("Source")


# The state of one read ------------------------------------------------------------------------------------------


class RelationRow(NamedTuple):
    """A row of PubTator: document, relation, subject, object, and "false" if it does not hold."""

    columns: Sequence[str]
    file: str = ""
    line: int = 0


@dataclass(slots=True)
class ReadContext:
    """The state of one read of one or more files; a reader gets it with its stream.

    Args:
        log: takes everything that is wrong or worth knowing.
        vocabulary: relations that are allowed; None allows all.
        relation_rows: by document, rows of separate relation files of PubTator documents.
        seen: ids of the documents so far.
        limits: how large a document may be.
    """

    log: DefectLog
    vocabulary: Collection[str] | None = None
    relation_rows: dict[str, list[RelationRow]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    limits: Limits = field(default_factory=Limits.current)

    def register_id(self, identifier: str, place: str) -> str:
        """Take an id for a document: it must not be empty or taken."""
        if not identifier:
            raise DataError("an empty string", "a title or id", place=place)
        if identifier in self.seen:
            raise DataError(
                "the title or id of an earlier document",
                "a new one",
                identifier,
                place,
                kind=DefectKind.DUPLICATE_ID,
            )
        self.seen.add(identifier)
        return identifier

    def read_each(
        self, sources: Iterable[Source], build: Callable[[Source, "ReadContext"], Document]
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

    def validate(self, document: Document, names: FieldNames) -> Document:
        """Run the checks that every document passes."""
        return validate(document, self.log, names, self.vocabulary, self.limits)


# JSON records, validated by pydantic ----------------------------------------------------------------------------


class Record(BaseModel):
    """A JSON object with typed fields; others are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", protected_namespaces=())


class OwnRecord(Record):
    """A JSON object of a format in which other fields are unknown: kept in `model_extra`, to be logged."""

    model_config = ConfigDict(extra="allow")


Span: TypeAlias = Annotated[list[int], Len(2, 2)]

_EXPECTED = {
    "missing": "this field",
    "string_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a finite number",
    "finite_number": "a finite number",
    "string_unicode": ENCODABLE,
    "too_short": "[start, end]",
    "too_long": "[start, end]",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def parse_as(model: type[Model], value: object, document: str | None = None, place: str = "") -> Model:
    """A parsed JSON value as a record.

    Example:
        >>> class Label(Record):
        ...     h: int
        >>> parse_as(Label, {"h": 3}).h
        3
        >>> parse_as(Label, {"h": "3"}, "Ada", "labels[2]")
        Traceback (most recent call last):
        unnoted.errors.DataError: : document 'Ada': labels[2].h: '3', expected a whole number
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        first = details[0]
        loc = _without_alternatives(first["loc"])
        for part in loc:
            place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
        found = "nothing" if first["type"] == "missing" else short_repr(first["input"])
        # A union has an error for each of its types.
        valid = [_expected(detail) for detail in details if _without_alternatives(detail["loc"]) == loc]
        raise DataError(found, " or ".join(dict.fromkeys(valid)), document, place or None) from None


def _without_alternatives(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where an error is, without the types of unions, which pydantic lists as if they were fields."""
    return tuple(part for part in loc if part not in ("str", "int") and not str(part).startswith("list["))


def _expected(detail: Mapping[str, Any]) -> str:
    if isinstance(detail["input"], RepeatedKey):
        return "each key once"
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return _EXPECTED.get(detail["type"], message[:1].lower() + message[1:])


FIELD_NAMES_KEPT = 1000
"""Of how many different unknown fields a log keeps the names."""


def log_unknown_fields(record: OwnRecord, log: DefectLog, document: str | None, place: str = "") -> None:
    """Log fields that the format does not define: ignored, but not silently."""
    for key, value in (record.model_extra or {}).items():
        if not place and (key in log.ignored or len(log.ignored) < FIELD_NAMES_KEPT):
            log.ignored[key] += 1
        where = f"{place}.{key}" if place else key
        log.add(DefectKind.IGNORED_FIELD, document, where, short_repr(value, 30), "a known field")


def read_lines(lines: Iterable[tuple[int, str]], context: ReadContext) -> Iterator[tuple[int, object]]:
    """The JSON value of each numbered line that is not blank; a broken line is logged."""
    for number, line in lines:
        if line.strip():
            try:
                record = parse_json(line, f"line {number}")
            except DataError as error:
                context.log.error(error)
            else:
                yield number, record


@contextmanager
def wrap_reader_errors(expected: str) -> Iterator[None]:
    """Turn everything that another library raises over a file into one located error."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"damaged content ({describe_error(error)})", expected, kind=DefectKind.UNREADABLE
        ) from None


# Detecting formats ----------------------------------------------------------------------------------------------

TOOLS_PAGE = "docs/guides/annotation-tools.md"
"""The page that explains how data of other tools is brought in."""

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
_AS_LINES = "`jq -c '.[]' FILE` makes one document per line of it"
_FOREIGN = {
    frozenset({"label", "annotator"}): "Label Studio's JSON-MIN export, which has no relations: export JSON",
    frozenset({"tokenized_text", "ner"}): "training data of GLiNER",
    frozenset({"paragraphs"}): "JSON of spaCy 2: `spacy convert` makes a .spacy file of it",
    frozenset({"doc_key", "sentences"}): "DyGIE or SciERC data",
    frozenset({"entities", "text"}): f"unnoted's own form, but in a list: {_AS_LINES}",
    frozenset({"entities", "sentences"}): f"unnoted's own form, but in a list: {_AS_LINES}",
    frozenset({"document", "tokens"}): "CoNLL-U or similar, as JSON",
}
"""What else a list of objects with certain keys may be."""


def first_fields(start: str) -> Mapping[str, str]:
    """The keys of the first object of JSON that may be cut off, each with two characters of its value.

    Of a list, that is its first element; there is none where that is no object.

    Example:
        >>> first_fields('[{"id": 1, "data": {"text": "Ada'), first_fields('{"tokens": ["Ada", ')
        ({'id': '1', 'data': '{"'}, {'tokens': '["'})
        >>> first_fields("[1, 2]")
        {}
    """
    fields: dict[str, str] = {}
    depth = 0
    key, last = None, ""
    for number, match in enumerate(_PARTS.finditer(start)):
        part = match[0]
        if number == 0 and part == "[":
            continue
        if number <= 1 and depth == 0 and part != "{":
            break
        if depth == 1 and part == ":":
            key = last[1:-1]
            fields.setdefault(key, "")
        elif key is not None and len(fields[key]) < 2 and part != ",":
            fields[key] += part[0]
        if depth == 1 and part == ",":
            key = None
        depth += (part in ("{", "[")) - (part in ("}", "]"))
        last = part
        if depth == 0:
            break
    return fields


def describe_json(start: str) -> str:
    """What a JSON list in no known format looks like."""
    fields = first_fields(start)
    keys = ", ".join(list(fields)[:6]) or "no key"
    known = next((looks for keys, looks in _FOREIGN.items() if keys <= fields.keys()), None)
    return f"a JSON list of objects with {keys}" + (f" ({known})" if known else "")


# Decisions written back -----------------------------------------------------------------------------------------


class Edits(NamedTuple):
    """What changes one document, as the `update` of its format gets it.

    Attributes:
        document: as it was read.
        decisions: about facts of its entities.
        same_as: for each entity the first one that it is; different from its own number where a reviewer
            merged entities.
    """

    document: Document
    decisions: list[Decision]
    same_as: tuple[int, ...]

    @property
    def triples(self) -> set[Triple]:
        """The facts that were decided about: each is removed where it stands, and written where it belongs."""
        return {self.canonical(decision.triple) for decision in self.decisions}

    @property
    def merges(self) -> bool:
        """Whether entities are merged."""
        return self.same_as != tuple(range(len(self.same_as)))

    @property
    def groups(self) -> list[list[int]]:
        """The entities as they are after merging, each with the numbers it had."""
        groups: dict[int, list[int]] = {}
        for index, first in enumerate(self.same_as):
            groups.setdefault(first, []).append(index)
        return list(groups.values())

    def canonical(self, triple: Triple) -> Triple:
        """A fact between the first entities that its own are."""
        head, tail, relation = triple
        return self.same_as[head], self.same_as[tail], relation

    def apply(
        self,
        record: Mapping[str, Any],
        facts: str,
        entities: str,
        ends: tuple[str, str],
        triple_of: Callable[[Any], Triple],
        entry: Callable[[Decision], dict[str, Any]],
        join: Callable[[list[Any]], Any],
    ) -> dict[str, Any]:
        """A JSON record with its entities merged, and its lists of facts and `negatives` changed.

        Args:
            record: of the document.
            facts: the key of its list of facts.
            entities: the key of its list of entities.
            ends: the keys of head and tail in an entry of a fact.
            triple_of: the fact of an entry of either list.
            entry: the new entry of a decision; its provenance is added, head and tail are numbered anew.
            join: makes one entity of several.
        """
        changed, gone, seen = dict(record), self.triples, set[Triple]()
        numbers = {group[0]: number for number, group in enumerate(self.groups)}
        if self.merges:
            listed = record[entities]
            changed[entities] = [join([listed[index] for index in group]) for group in self.groups]

        def renumber(fields: dict[str, Any], triple: Triple) -> dict[str, Any]:
            head, tail, _ = self.canonical(triple)
            return {**fields, **dict(zip(ends, (numbers[head], numbers[tail]), strict=True))}

        for key, holds in ((facts, True), ("negatives", False)):
            kept = []
            for each in record.get(key, []):
                triple = self.canonical(triple_of(each))
                if triple in gone or (self.merges and (triple in seen or triple[0] == triple[1])):
                    continue
                seen.add(triple)
                kept.append(renumber(each, triple) if self.merges else each)
            for decision in self.decisions:
                if decision.holds == holds:
                    provenance = {"provenance": dict(decision.provenance)} if decision.provenance else {}
                    kept.append(renumber(entry(decision) | provenance, decision.triple))
            if kept or key in record:
                changed[key] = kept
        return changed


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """How a format is detected, read and written.

    Attributes:
        key: its name in commands, such as `docred`.
        name: its name in messages, such as "DocRED JSON".
        sniff: whether a file that starts like this (leading blanks removed) is in this format; None if it is
            only written.
        read: yields the documents of a file.
        write: writes documents to a file and returns the number of records; None if it is only read.
        suffix: file names that end so are written in this format unless another one is asked for.
        typed: its relations only hold between certain entity types, so that by default the candidate pairs
            are the type pairs seen among the facts.
        sniff_path: for a format that is no text, or several files: whether a path whose file starts with
            these bytes (none, if it is a folder) is in this format. Asked before `sniff`.
        read_path: for such a format, yields the documents of a path.
        read_relations: for a file that has relations of documents in other files: keeps them in the context.
        main_file: where a document is two files, the one that stands for both.
        update: writes a file with the edits of some documents to another one; all else is copied.
        merges: whether `update` can merge entities.
        keeps_provenance: whether `update` has a place for who decided.
        lossy: what documents have and this format has no place for (keys of `convert.PARTS`).
    """

    key: str
    name: str
    sniff: Callable[[str], bool] | None = None
    read: Callable[[TextIO, ReadContext], Iterator[Document]] | None = None
    write: Callable[[str | Path, Iterable[Document]], int] | None = None
    suffix: str | None = None
    typed: bool = False
    sniff_path: Callable[[Path, bytes], bool] | None = None
    read_path: Callable[[Path, ReadContext], Iterator[Document]] | None = None
    read_relations: Callable[[TextIO, ReadContext], None] | None = None
    main_file: Callable[[Path], Path] | None = None
    update: Callable[[Path, Mapping[str, Edits], Path], None] | None = None
    merges: bool = False
    keeps_provenance: bool = True
    lossy: tuple[str, ...] = ()

    @property
    def has_documents(self) -> bool:
        """Whether files of this format hold documents."""
        return self.read is not None or self.read_path is not None


_BETWEEN = re.compile(r"[\s,\[]*")
"""What stands before the records of a JSON list or of JSON lines."""


def update_records(path: Path, to: Path, update: Callable[[Any, int], object]) -> None:
    """Write a JSON file with some records replaced; all other text is copied verbatim.

    Args:
        path: a JSON list or JSON lines.
        to: where to.
        update: gives the new value of a record, which has a number as its reader counts (of a list: from 0, else
            its line); None leaves it.
    """
    with open_text(path) as stream:
        text = stream.read()
    is_list = text.lstrip().startswith("[")
    decode = json.JSONDecoder().raw_decode
    number, copied, position = (0, 0, 0) if is_list else (1, 0, 0)
    with open_output(to) as output:
        while True:
            between = _BETWEEN.match(text, position)
            assert between is not None  # it matches nothing at all, too
            start = between.end()
            number += 0 if is_list else text.count("\n", position, start)
            if text[start : start + 1] in ("", "]"):
                break
            value, position = decode(text, start)
            if (changed := update(value, number)) is not None:
                output.write(text[copied:start] + json.dumps(changed, ensure_ascii=text.isascii()))
                copied = position
            number += is_list
        output.write(text[copied:])
