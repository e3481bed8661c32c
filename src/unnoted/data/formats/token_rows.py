"""Rows of tokens, as `datasets` has them: one document per row, as JSON lines, a JSON list, or Parquet.

| column | |
|---|---|
| `tokens` | the words, or the words of each sentence; also called `words` |
| `entities` | mentions: `start` and `end` (exclusive) among all tokens, `type`, and `id` if there is one |
| `ner_tags` | if no `entities`: a tag for each token (`B-PER`, `I-PER`, `O`); or numbers, named in Parquet |
| `relations` | `head`, `tail`: numbers of mentions; `type` (or `label`, `relation`) |
| `clusters` | lists of numbers of mentions of one entity, if coreference is known |
| `negatives` | like `relations`: what a person said does not hold |
| `id` | the document's name; also called `orig_id`, `doc_id`; else the number of the row |

Entities by `id`, `clusters` and name (`unnoted.data.entity_clustering`). Other columns are not used here, and
stay when a file is mended.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from unnoted.data.contents import file_text
from unnoted.data.decided import Mending
from unnoted.data.document import Document, Entity, Fact, Mention, Sentence
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.arc_changes import ArcChanges
from unnoted.data.formats.fields import expect, take, take_list
from unnoted.data.formats.json_shapes import first_fields
from unnoted.data.formats.marked_text import grouped, lifted
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.whole_records import WholeRecord, changed, select_by
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DataError, Kind, fail
from unnoted.io import ArrayReader, numbered_lines, parse_record, write_lines
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relations[{}]", entity="entity {}", mention="entity {}, mention {}")
TOKENS = ("tokens", "words")
TAGS = ("ner_tags", "ner", "tags", "labels")
IDS = ("id", "orig_id", "doc_id", "document_id")
RELATION = ("type", "label", "relation")


def looks_like(start: str) -> bool:
    """Whether a file that starts like this holds rows of tokens."""
    fields = first_fields(start)
    return (
        start[:1] in ("{", "[")
        and "text" not in fields
        and any(fields.get(key) in ('["', "[[", "[]") for key in TOKENS)
    )


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of JSON lines or a JSON list, one at a time."""
    return reading.each(records(stream, reading), _document)


def records(stream: TextIO, reading: Reading) -> Iterator[tuple[int, int, object]]:
    """The rows with their numbers, from 1 (of a list: from 0), and the lines on which they begin."""
    start = stream.read(1)
    while start.isspace():
        start = stream.read(1)
    rest = _Again(start, stream)
    if start == "[":
        yield from ArrayReader(rest, reading.limits).numbered()  # type: ignore[arg-type]
        return
    for number, line in numbered_lines(rest, reading.limits):  # type: ignore[arg-type]
        if line.strip():
            try:
                row = parse_record(line, f"line {number}")
            except DataError as error:
                reading.log.error(error)
            else:
                yield number, number, row


class _Again:
    """A stream whose first character was taken already."""

    def __init__(self, first: str, rest: TextIO) -> None:
        self.first, self.rest = first, rest

    def read(self, size: int = -1) -> str:
        first, self.first = self.first, ""
        return first + self.rest.read(size - len(first) if size > 0 else size)

    def readline(self, size: int = -1) -> str:
        first, self.first = self.first, ""
        return first if first == "\n" else first + self.rest.readline(size - len(first) if size > 0 else size)


def _document(numbered: tuple[int, int, object], reading: Reading) -> Document:
    number, reading.log.line, row = numbered
    fields: dict[str, Any] = expect(row, dict, None, f"row {number}")
    return document_from_row(fields, number, reading)


def document_from_row(row: Mapping[str, Any], number: int, reading: Reading) -> Document:
    """Build and check the document of a row."""
    title = reading.new_id(title_of(row, number), f"row {number}")
    sentences = _sentences(row, title)
    reading.limits.check("words", sum(map(len, sentences)), "words", title)
    marked = parse(row, title, sentences)
    reading.limits.check("mentions", len(marked.marks), "mentions", title)
    starts = [0, *accumulate(map(len, sentences))]
    entities: list[Entity] = []
    owners: dict[str, int] = {}
    for group in grouped(marked, reading.log):
        owners.update((mark.ref, len(entities)) for mark in group)
        mentions = tuple(_mention(mark, starts, sentences, title, reading) for mark in group)
        entities.append(Entity(mentions, next((mark.id for mark in group if mark.id is not None), None)))
    facts = tuple(Fact(*triple) for triple in lifted(marked.arcs, owners, title, reading.log))
    negatives = tuple(lifted(marked.negatives, owners, title, reading.log))
    document = Document(title, sentences, tuple(entities), facts, None, negatives)
    return validate(document, reading.log, FIELDS, reading.vocabulary, reading.limits)


def title_of(row: Mapping[str, Any], number: int) -> str:
    """The id of a row's document."""
    given = next((row[key] for key in IDS if row.get(key) is not None), None)
    return str(given) if isinstance(given, int | str) and given != "" else f"row {number}"


def _sentences(row: Mapping[str, Any], title: str) -> tuple[Sentence, ...]:
    key = next((key for key in TOKENS if key in row), TOKENS[0])
    listed = take(row, key, list, title)
    if listed and isinstance(listed[0], list):
        nested = take_list(row, key, list, title)
        return tuple(_words(words, title, f"{key}[{number}]") for number, words in enumerate(nested))
    return (_words(listed, title, key),) if listed else ()


def _words(words: list[object], title: str, place: str) -> Sentence:
    return tuple(intern(expect(word, str, title, f"{place}[{n}]")) for n, word in enumerate(words))


def parse(row: Mapping[str, Any], title: str, sentences: Sequence[Sentence]) -> MarkedText:
    """The mentions of a row, which count tokens here, with its relations and clusters."""
    words = list(chain.from_iterable(sentences))
    if row.get("entities") is not None:
        marks = [
            _mark(fields, number, title, words)
            for number, fields in enumerate(take_list(row, "entities", dict, title))
        ]
    else:
        marks = list(_tagged(row, title, words))
    arcs, negatives = (list(_arcs(row, key, len(marks), title)) for key in ("relations", "negatives"))
    clusters = take_list(row, "clusters", list, title) if row.get("clusters") else []
    links = [[str(expect(ref, int, title, "clusters")) for ref in cluster] for cluster in clusters]
    return MarkedText(title, "", marks, arcs, links, negatives)


def _arcs(row: Mapping[str, Any], column: str, count: int, title: str) -> Iterator[MarkedArc]:
    for number, fields in enumerate(take_list(row, column, dict, title) if row.get(column) else []):
        place = f"{column}[{number}]"
        key = next((key for key in RELATION if key in fields), RELATION[0])
        head, tail = (_end(fields, name, count, title, place) for name in ("head", "tail"))
        yield MarkedArc(head, tail, take(fields, key, str, title, place), place)


def _mark(fields: Mapping[str, Any], number: int, title: str, words: Sequence[str]) -> Mark:
    place = f"entities[{number}]"
    start, end = (take(fields, key, int, title, place) for key in ("start", "end"))
    if not 0 <= start < end <= len(words):
        expected = f"0 <= start < end <= {len(words)}, the tokens of the row"
        fail(
            Kind.MALFORMED, title, f"{place}.start/end", f"{short_repr(start)} to {short_repr(end)}", expected
        )
    identifier = fields.get("id")
    if identifier is not None:
        identifier = str(identifier) if isinstance(identifier, int) else take(fields, "id", str, title, place)
    name = " ".join(words[start : min(end, start + 1_000)])
    return Mark(str(number), start, end, take(fields, "type", str, title, place), name, identifier, place)


def _tagged(row: Mapping[str, Any], title: str, words: Sequence[str]) -> Iterator[Mark]:
    """Mentions from a tag of each token, in IOB of either kind or with `S-` and `E-`."""
    key = next((key for key in TAGS if row.get(key) is not None), None)
    if key is None:
        return
    tags = take(row, key, list, title)
    if tags and isinstance(tags[0], list):
        tags = list(chain.from_iterable(take_list(row, key, list, title)))
    if len(tags) != len(words):
        fail(Kind.MALFORMED, title, key, f"{len(tags)} tags", f"{len(words)}, one for each token")
    spans: list[list[Any]] = []
    before = "O"
    for place, tag in enumerate(tags):
        if type(tag) is int:
            expected = "tags as names, such as 'B-PER' (a Parquet file of `datasets` has them in its schema)"
            fail(Kind.MALFORMED, title, f"{key}[{place}]", short_repr(tag), expected)
        mark, _, kind = expect(tag, str, title, f"{key}[{place}]").partition("-")
        if mark in ("I", "E", "M", "L") and kind and before == kind:
            spans[-1][1] = place + 1
        elif kind:
            spans.append([place, place + 1, kind])
        before = "" if mark in ("E", "L", "S", "U") else kind
    for number, (start, end, kind) in enumerate(spans):
        name = " ".join(words[start : min(end, start + 1_000)])
        yield Mark(str(number), start, end, kind, name, None, f"{key}[{start}]")


def _end(fields: Mapping[str, Any], key: str, count: int, title: str, place: str) -> str:
    number = take(fields, key, int, title, place)
    if not 0 <= number < count:
        fail(
            Kind.MALFORMED,
            title,
            f"{place}.{key}",
            short_repr(number),
            f"the number of a mention below {count}",
        )
    return str(number)


def _mention(
    mark: Mark, starts: Sequence[int], sentences: Sequence[Sentence], title: str, reading: Reading
) -> Mention:
    reading.limits.check("mention", mark.end - mark.start, "words in one mention", title, mark.place)
    sentence = next(n for n in range(len(sentences)) if mark.start < starts[n + 1])
    if mark.end > starts[sentence + 1]:
        found, expected = f"{mark.start} to {mark.end}", "a mention within one sentence"
        fail(Kind.MALFORMED, title, f"{mark.place}.start/end", found, expected)
    start = starts[sentence]
    assert mark.type is not None  # a row's mentions have types
    return Mention(sentence, mark.start - start, mark.end - start, intern(mark.type), intern(mark.name))


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one row per line; returns how many."""
    return write_lines(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document as a row; `clusters` has every entity without id, so that names join nothing more."""
    starts = [0, *accumulate(map(len, document.sentences))]
    entities: list[dict[str, Any]] = []
    groups: list[list[int]] = []
    for entity in document.entities:
        groups.append(list(range(len(entities), len(entities) + len(entity.mentions))))
        for mention in entity.mentions:
            start = starts[mention.sentence]
            span = {"start": start + mention.start, "end": start + mention.end, "type": mention.type}
            entities.append(span | {"id": entity.id})
    relations = [
        {"head": groups[head][0], "tail": groups[tail][0], "type": relation}
        for head, tail, relation in [fact.triple for fact in document.facts] + list(document.negatives)
    ]
    clusters = [group for group, entity in zip(groups, document.entities, strict=True) if entity.id is None]
    return {
        "id": document.id,
        "tokens": document.sentences,
        "entities": entities,
        "relations": relations[: len(document.facts)],
        "clusters": clusters,
        "negatives": relations[len(document.facts) :],
    }


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The rows of certain documents, as they are."""
    return select_by(paths, ids, title_of)


def mend(mending: Mending) -> list[str]:
    """The rows with relations added and taken away; rows that nobody decided about stay as they are.

    Known negatives have a column of their own; there is none for provenance.
    """

    def change(record: WholeRecord) -> object:
        return mended_row(record.value, record.number, mending)

    return [changed(file_text(path), change) for path in mending.sources]


def mended_row(row: dict[str, Any], number: int, mending: Mending) -> dict[str, Any] | None:
    """A row after the decisions about it; None if they change nothing."""
    title = title_of(row, number)
    if title not in mending.decisions:
        return None
    changes = ArcChanges.of(parse(row, title, _sentences(row, title)), mending)
    if not changes:
        return None
    mending.unplaced += [each for _, each in [*changes.added, *changes.rejected] if each.provenance]
    mended = dict(row)
    for column, gone, new in (
        ("relations", changes.gone, changes.added),
        ("negatives", changes.restored, changes.rejected),
    ):
        places = {arc.place for arc in gone}
        listed = row.get(column) or []
        kept = [each for number, each in enumerate(listed) if f"{column}[{number}]" not in places]
        key = next((key for key in RELATION if listed and key in listed[0]), RELATION[0])
        kept += [{"head": int(arc.head), "tail": int(arc.tail), key: arc.relation} for arc, _ in new]
        if kept or column in row:
            mended[column] = kept
    return mended
