"""Rows of tokens, as `datasets` has them: one document per row, as JSON lines or a JSON list.

| column | |
|---|---|
| `tokens` | the words, or the words of each sentence |
| `entities` | mentions: `start` and `end` (exclusive) among all tokens, `type`, and `id` if there is one |
| `ner_tags` | if no `entities`: a tag for each token (`B-PER`, `I-PER`, `O`; or `PER`, `O`) |
| `relations` | `head`, `tail`: numbers of mentions; `type` |
| `clusters` | lists of numbers of mentions of one entity, if coreference is known |
| `negatives` | like `relations`: what a person said does not hold |
| `id` | the document's name; also called `orig_id`; else the number of the row |

Mentions are clustered to entities by `id`,
`clusters` and name (`unnoted.data.entity_clustering`). Other columns are not used here, and stay when
decisions are written back.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from pydantic import Field

from unnoted.data.document import Document, Mention, Sentence
from unnoted.data.entity_clustering import AnnotatedSpan
from unnoted.data.formats.annotated_text import AnnotatedText, SpanRelation, build_document, edit_relations
from unnoted.data.formats.records import (
    DocumentFormat,
    Edits,
    ReadContext,
    Record,
    first_fields,
    parse_as,
    read_lines,
    update_records,
)
from unnoted.data.validation import FieldNames
from unnoted.errors import DataError
from unnoted.io import numbered_lines, read_array, write_lines
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relations[{}]", entity="entity {}", mention="entity {}, mention {}")
IDS = ("id", "orig_id")
OUTSIDE = "O"
"""The tag of a token that is in no mention."""
_TAG = re.compile(r"O|(?:(?P<prefix>[BI])-)?(?P<type>.+)", re.DOTALL)
LONGEST_NAME = 1_000
"""Words of a mention that its name is made of."""


class EntityRecord(Record):
    """A mention among the tokens of a row."""

    start: int
    end: int
    type: str
    id: str | int | None = None


class RelationRecord(Record):
    """A relation between two mentions, given by their numbers."""

    head: int
    tail: int
    relation: str = Field(alias="type")


class RowRecord(Record):
    """A row."""

    tokens: list[str] | list[list[str]]
    entities: list[EntityRecord] | None = None
    relations: list[RelationRecord] | None = None
    negatives: list[RelationRecord] | None = None
    clusters: list[list[int]] | None = None
    ner_tags: list[Any] | None = None


def sniff(start: str) -> bool:
    """Whether a file that starts like this holds rows of tokens."""
    fields = first_fields(start)
    return start[:1] in ("{", "[") and "text" not in fields and fields.get("tokens") in ('["', "[[", "[]")


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of JSON lines or a JSON list, one at a time."""
    return context.read_each(_rows(stream, context), _document)


def _rows(stream: TextIO, context: ReadContext) -> Iterator[tuple[int, int, object]]:
    """The rows with their numbers, from 1 (of a list: from 0), and the lines at which they begin."""
    start = stream.read(1)
    while start.isspace():
        start = stream.read(1)
    if start == "[":
        yield from read_array(stream, context.limits, start)
    else:
        lines = numbered_lines(stream, context.limits)
        first, rest = next(lines, (1, ""))
        for number, row in read_lines(chain([(first, start + rest)], lines), context):
            yield number, number, row


def _document(numbered: tuple[int, int | None, object], context: ReadContext) -> Document:
    number, context.log.line, value = numbered
    known = document_id(value, number) if isinstance(value, dict) else None
    row = parse_as(RowRecord, value, known, f"row {number}" if known is None else "")
    identifier = context.register_id(known or "", f"row {number}")
    sentences = _sentences(row)
    context.limits.check("words", sum(map(len, sentences)), "words", identifier)
    annotated = _parse(row, identifier, sentences)
    context.limits.check("mentions", len(annotated.spans), "mentions", identifier)
    starts = [0, *accumulate(map(len, sentences))]

    def mention(span: AnnotatedSpan, type: str) -> Mention:
        context.limits.check("mention", span.end - span.start, "words in one mention", identifier, span.place)
        sentence = bisect_right(starts, span.start) - 1
        if span.end > starts[sentence + 1]:
            found, expected = f"{span.start} to {span.end}", "a mention within one sentence"
            raise DataError(found, expected, identifier, f"{span.place}.start/end")
        offset = starts[sentence]
        return Mention(sentence, span.start - offset, span.end - offset, intern(type), intern(span.name))

    return context.validate(build_document(annotated, sentences, mention, context.log), FIELDS)


def document_id(row: Mapping[str, Any], number: int) -> str:
    """The id of a row's document."""
    given = next((row[key] for key in IDS if row.get(key) is not None), None)
    return str(given) if isinstance(given, int | str) and given != "" else f"row {number}"


def _sentences(row: RowRecord) -> tuple[Sentence, ...]:
    nested = [words for words in row.tokens if isinstance(words, list)]
    if not nested:
        nested = [[word for word in row.tokens if isinstance(word, str)]] if row.tokens else []
    return tuple(tuple(map(intern, words)) for words in nested)


def _parse(row: RowRecord, document: str, sentences: Sequence[Sentence]) -> AnnotatedText:
    """The mentions of a row, which count tokens here, with its relations and clusters."""
    words = list(chain.from_iterable(sentences))
    spans = []
    if row.entities is not None:
        for number, entity in enumerate(row.entities):
            place = f"entities[{number}]"
            if not 0 <= entity.start < entity.end <= len(words):
                found = f"{short_repr(entity.start)} to {short_repr(entity.end)}"
                expected = f"0 <= start < end <= {len(words)}, the tokens of the row"
                raise DataError(found, expected, document, f"{place}.start/end")
            identifier = None if entity.id is None else str(entity.id)
            spans.append(_span(number, entity.start, entity.end, entity.type, words, identifier, place))
    elif row.ner_tags is not None:
        for number, (start, end, kind) in enumerate(_tagged(row.ner_tags, len(words), document)):
            spans.append(_span(number, start, end, kind, words, None, f"ner_tags[{start}]"))
    relations, negatives = (
        list(_relations(listed or [], key, len(spans), document))
        for key, listed in (("relations", row.relations), ("negatives", row.negatives))
    )
    links = [list(map(str, cluster)) for cluster in row.clusters or []]
    return AnnotatedText(document, "", spans, relations, links, negatives)


def _span(
    number: int, start: int, end: int, type: str, words: Sequence[str], identifier: str | None, place: str
) -> AnnotatedSpan:
    name = " ".join(words[start : min(end, start + LONGEST_NAME)])
    return AnnotatedSpan(str(number), start, end, type, name, identifier, place)


def _tagged(tags: list[Any], words: int, document: str) -> Iterator[tuple[int, int, str]]:
    """Mentions from a tag of each token: `B-PER` begins one, `I-PER` and `PER` go on with one of that type."""
    if len(tags) != words:
        raise DataError(f"{len(tags)} tags", f"{words}, one for each token", document, "ner_tags")
    start, open_type = 0, ""
    for place, tag in enumerate([*tags, OUTSIDE]):
        found = _TAG.fullmatch(tag) if isinstance(tag, str) else None
        if found is None or tag in ("B", "I", "B-", "I-"):
            expected = "tags as names, such as 'B-PER', 'PER' or 'O'"
            raise DataError(short_repr(tag), expected, document, f"ner_tags[{place}]")
        kind = found["type"] or ""
        if open_type and (found["prefix"] == "B" or kind != open_type):
            yield start, place, open_type
            open_type = ""
        start = start if open_type else place
        open_type = kind


def _relations(
    relations: Sequence[RelationRecord], key: str, count: int, document: str
) -> Iterator[SpanRelation]:
    for number, each in enumerate(relations):
        for name, end in (("head", each.head), ("tail", each.tail)):
            if not 0 <= end < count:
                expected = f"the number of a mention below {count}"
                raise DataError(short_repr(end), expected, document, f"{key}[{number}].{name}")
        yield SpanRelation(str(each.head), str(each.tail), each.relation, f"{key}[{number}]", number)


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


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with relations of some rows added and removed; there is no column for provenance."""
    update_records(path, to, lambda row, number: _updated_row(row, number, edits))


def _updated_row(row: dict[str, Any], number: int, edits: Mapping[str, Edits]) -> dict[str, Any] | None:
    """A row after the decisions about it; None if there are none."""
    identifier = document_id(row, number)
    if identifier not in edits:
        return None
    parsed = parse_as(RowRecord, row, identifier)
    changes = edit_relations(_parse(parsed, identifier, _sentences(parsed)), edits[identifier])
    updated = dict(row)
    for column, gone, new in (
        ("relations", changes.removed, changes.added),
        ("negatives", changes.restored, changes.rejected),
    ):
        items = {each.item for each in gone}
        listed = row.get(column) or []
        kept = [each for item, each in enumerate(listed) if item not in items]
        kept += [{"head": int(each.head), "tail": int(each.tail), "type": each.relation} for each, _ in new]
        if kept or column in row:
            updated[column] = kept
    return updated


FORMAT = DocumentFormat(
    "columns",
    "rows of tokens",
    sniff=sniff,
    read=read,
    write=write,
    update=update,
    keeps_provenance=False,
    lossy=("text", "evidence"),
)
