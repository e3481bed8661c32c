"""What the readers and writers of all formats share: the state of one read, JSON records, contents of files."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO, TypeAlias, TypeVar

from annotated_types import Len
from pydantic import BaseModel, ConfigDict, ValidationError

from unnoted.data.document import Document
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import (
    ENCODABLE,
    ArrayReader,
    Limits,
    RepeatedKey,
    TextInput,
    new_folder,
    open_output,
    parse_record,
    write_binary,
)
from unnoted.utils import describe_error, short_repr

Model = TypeVar("Model", bound=BaseModel)
Source = TypeVar("Source")


# The state of one read ------------------------------------------------------------------------------------------


class RelationRow(NamedTuple):
    """A row of a PubTator relation file: what it says and where it stands."""

    relation: str
    subject: str
    object: str
    file: str
    line: int
    holds: bool = True


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
            fail(Kind.MALFORMED, None, place, "an empty string", "a title or id")
        if identifier in self.seen:
            fail(Kind.DUPLICATE_ID, identifier, place, "the title or id of an earlier document", "a new one")
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
    "string_type": "a string",
    "int_type": "a whole number",
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

    Args:
        model: the record's type.
        value: what was parsed.
        document: the id of the document, if it is known.
        place: where the value stands in its file or document.

    Raises:
        DataError: names the field, what was found and what is valid.

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
        first = error.errors(include_url=False)[0]
        loc, _ = _location(first["loc"], first["type"])
        for part in loc:
            place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
        is_missing = first["type"] == "missing"
        found = "nothing" if is_missing else short_repr(first["input"])
        details = _errors_with_none(model, value, loc) if is_missing else error.errors(include_url=False)
        fail(Kind.MALFORMED, document, place or None, found, _expected(details, loc))


Loc: TypeAlias = tuple[int | str, ...]


def _errors_with_none(model: type[BaseModel], value: object, loc: Loc) -> list[Any]:
    """The errors of a record whose missing field is set to None: they say what it should be."""
    try:
        filled: Any = deepcopy(value)
        parent = filled
        for part in loc[:-1]:
            parent = parent[part]
        parent[loc[-1]] = None
        model.model_validate(filled)
    except ValidationError as error:
        return list(error.errors(include_url=False))
    except (LookupError, TypeError, RecursionError):
        pass
    return []


def _location(loc: Loc, kind: str) -> tuple[Loc, bool]:
    """Where an error is, without the alternatives of unions that pydantic names, and whether there are any."""
    plain = tuple(part for part in loc if not str(part).startswith("list["))
    in_union = len(plain) < len(loc)
    if plain and kind != "missing" and plain[-1] in ("str", "int", "float"):
        return plain[:-1], True
    return plain, in_union


def _expected(details: Iterable[Mapping[str, Any]], loc: Loc) -> str:
    """What is valid at a place; a union has an error for each of its types."""
    found = []
    for detail in details:
        if _location(detail["loc"], detail["type"])[0] == loc:
            message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
            message = _EXPECTED.get(detail["type"], message[:1].lower() + message[1:])
            found.append("each key once" if isinstance(detail["input"], RepeatedKey) else message)
            if not _location(detail["loc"], detail["type"])[1]:
                break
    return " or ".join(dict.fromkeys(found)) or "a value"


FIELD_NAMES_KEPT = 1000
"""Of how many different unknown fields a log keeps the names."""


def log_unknown_fields(record: OwnRecord, log: DefectLog, document: str | None, place: str = "") -> None:
    """Log fields that the format does not define: ignored, but not silently."""
    for key, value in (record.model_extra or {}).items():
        if not place and (key in log.ignored or len(log.ignored) < FIELD_NAMES_KEPT):
            log.ignored[key] += 1
        where = f"{place}.{key}" if place else key
        log.add(Kind.IGNORED_FIELD, document, where, short_repr(value, 30), "a known field")


def read_lines(lines: Iterable[tuple[int, str]], context: ReadContext) -> Iterator[tuple[int, object]]:
    """The JSON value of each numbered line that is not blank; a broken line is logged."""
    for number, line in lines:
        if line.strip():
            try:
                record = parse_record(line, f"line {number}")
            except DataError as error:
                context.log.error(error)
            else:
                yield number, record


def read_list(stream: TextIO, context: ReadContext) -> Iterator[tuple[int, int, object]]:
    """The elements of a JSON list, each with its index and the line at which it begins."""
    return ArrayReader(stream, context.limits).numbered()


@contextmanager
def wrap_reader_errors(expected: str) -> Iterator[None]:
    """Turn everything that another library raises over a file into one located error.

    Example:
        >>> with wrap_reader_errors("a Parquet file"):
        ...     {}["schema"]
        Traceback (most recent call last):
        unnoted.errors.DataError: : damaged content (KeyError: 'schema'), expected a Parquet file
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        fail(Kind.UNREADABLE, None, None, f"damaged content ({describe_error(error)})", expected)


# Detecting formats ----------------------------------------------------------------------------------------------

TOOLS_PAGE = "docs/guides/annotation-tools.md"
"""The page that explains how data of other tools is brought in."""

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
_AS_LINES = "`jq -c '.[]' FILE` makes one document per line of it"
_FOREIGN = {
    frozenset({"label", "annotator"}): "Label Studio's JSON-MIN export, which has no relations: export JSON",
    frozenset({"h_idx", "t_idx"}): "DocRED predictions, which `unnoted evaluate --predictions` reads",
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


# The content of files, to be written again ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The files of a folder by name, each with its bytes."""

    files: Mapping[str, bytes]


FileContent: TypeAlias = str | bytes | FolderContent


def read_text(path: Path) -> str:
    """The text of a file, plain or gzip, as it is, line ends and byte order mark included."""
    source = TextInput(path)
    mark = "\ufeff" if source.first_bytes().startswith(b"\xef\xbb\xbf") else ""
    with source.open() as stream:
        return mark + stream.read()


def write_content(path: str | Path, content: FileContent) -> None:
    """Write a file or folder, which appears when it is complete."""
    if isinstance(content, FolderContent):
        with new_folder(Path(path)) as folder:
            for name, inside in content.files.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(inside)
    elif isinstance(content, bytes):
        write_binary(path, content)
    else:
        with open_output(Path(path)) as stream:
            stream.write(content)


class PlacedRecord(NamedTuple):
    """A record, its number as its reader counts (list: from 0, lines: from 1), and its place in the text."""

    value: Any
    number: int
    start: int
    end: int


_BLANKS = re.compile(r"\ufeff?[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def placed_records(text: str) -> Iterator[PlacedRecord]:
    """The records of a JSON list, or of JSON lines that are not blank, with their places in the text."""
    position = _after_blanks(text, 0)
    if text[position : position + 1] != "[":
        start = 0
        for number, line in enumerate(text.split("\n"), start=1):
            begin = _after_blanks(line, 0)
            if begin < len(line):
                yield PlacedRecord(
                    json.loads(line[begin:]), number, start + begin, start + len(line.rstrip())
                )
            start += len(line) + 1
        return
    number, position = 0, _after_blanks(text, position + 1)
    while text[position] != "]":
        position = _after_blanks(text, position + 1) if number else position  # after the comma
        value, end = _DECODER.raw_decode(text, position)
        yield PlacedRecord(value, number, position, end)
        number, position = number + 1, _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    blank = _BLANKS.match(text, position)
    assert blank is not None  # it matches nothing at all, too
    return blank.end()


def update_records(path: Path, update: Callable[[Any, int], object]) -> str:
    """The text of a JSON file with some records replaced; the others are copied verbatim.

    Args:
        path: a JSON list or JSON lines.
        update: gives the new value of a record, which has a number; None leaves it.
    """
    text = read_text(path)
    pieces, done = [], 0
    for record in placed_records(text):
        value = update(record.value, record.number)
        if value is not None:
            pieces += [text[done : record.start], json.dumps(value, ensure_ascii=text.isascii())]
            done = record.end
    return "".join([*pieces, text[done:]])


def select_records(
    paths: Sequence[Path], is_wanted: Callable[[str], bool], id_of: Callable[[Any, int], str]
) -> str:
    """The records of certain documents of JSON files, verbatim: a list if any of the files is one, else lines."""
    kept: list[str] = []
    listed = False
    for path in paths:
        text = read_text(path)
        kept += [
            text[record.start : record.end]
            for record in placed_records(text)
            if is_wanted(id_of(record.value, record.number))
        ]
        listed = listed or text.lstrip("\ufeff \t\r\n").startswith("[")
    return "[" + ",\n".join(kept) + "]\n" if listed else "".join(f"{line}\n" for line in kept)
