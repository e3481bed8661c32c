"""Prodigy JSONL (https://prodi.gy/docs/api-interfaces#relations): one task per line, as `db-out` writes it.

A task has `text`, `tokens`, `spans` with character offsets, and `relations` between spans, each with the last
token of either span (`head`, `child`) and the spans themselves. Tasks that were not accepted are left out.

A span's `kb_id` is its entity's id, and a relation labelled `coref` (or `coreference`, `same_as`, `equiv`)
joins two spans (`unnoted.data.entity_clustering`). A span without a label, such as a pronoun, is a mention
where a coreference link gives it an entity. A relation without a label is called `related`.
A document is called by its `id` (which we write), or by its `_task_hash`, or by its line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from unnoted.data.document import Document
from unnoted.data.entity_clustering import AnnotatedSpan, is_coreference
from unnoted.data.formats.annotated_text import (
    NOTE,
    UNNAMED,
    AnnotatedText,
    SpanRelation,
    edit_relations,
    from_document,
    make_note,
    read_note,
    to_document,
    update_note,
)
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
from unnoted.data.tokenization import word_spans
from unnoted.errors import DefectKind, DefectLog
from unnoted.io import numbered_lines, write_lines
from unnoted.utils import short_repr


class TokenRecord(Record):
    """A token, by its characters."""

    start: int
    end: int


class SpanRecord(TokenRecord):
    """A span, and its first and last token."""

    token_start: Any = None
    token_end: Any = None
    label: str | None = None
    kb_id: str | None = None


class RelationRecord(Record):
    """A relation between two spans, or between two tokens where no spans are given."""

    head: int | None = None
    child: int | None = None
    head_span: SpanRecord | None = None
    child_span: SpanRecord | None = None
    label: str | None = None


class TaskRecord(Record):
    """A task."""

    text: str
    tokens: list[Any] | None = None
    """Used only where a relation names a token and no span."""
    spans: list[SpanRecord] | None = None
    relations: list[RelationRecord] | None = None
    unnoted: Any = None
    """Known negatives, which Prodigy has no place for."""


def sniff(start: str) -> bool:
    """Whether a file that starts like this holds tasks of Prodigy."""
    fields = first_fields(start)
    own = {"_input_hash", "_task_hash", "spans", "relations"}
    return (
        start.startswith("{") and "text" in fields and "entities" not in fields and bool(own & fields.keys())
    )


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of the accepted tasks, one at a time; blank lines are skipped."""
    return context.read_each(_accepted(stream, context), _document)


def _accepted(stream: TextIO, context: ReadContext) -> Iterator[tuple[int, object]]:
    for number, task in read_lines(numbered_lines(stream, context.limits), context):
        answer = _answer(task)
        if answer == "accept":
            yield number, task
        else:
            place, expected = f"line {number}", "the answer 'accept'"
            context.log.add(DefectKind.UNUSED_ANNOTATION, None, place, short_repr(answer), expected)


def _answer(task: object) -> object:
    """What an annotator said of a task; a task without an answer counts as accepted."""
    return task.get("answer", "accept") if isinstance(task, dict) else "accept"


def _document(numbered: tuple[int, object], context: ReadContext) -> Document:
    context.log.line, value = numbered
    place = f"line {numbered[0]}"
    known = document_id(value, numbered[0]) if isinstance(value, dict) else None
    task = parse_as(TaskRecord, value, known, place if known is None else "")
    identifier = context.register_id(known or "", place)
    return to_document(_parse(task, identifier, context.log), context)


def document_id(task: Mapping[str, Any], line: int) -> str:
    """The id of a task's document."""
    given = task.get("id", task.get("_task_hash"))
    return str(given) if isinstance(given, int | str) and given != "" else f"line {line}"


def _parse(task: TaskRecord, document: str, log: DefectLog) -> AnnotatedText:
    """The text of a task with what its annotator marked."""
    spans: dict[tuple[int, int], AnnotatedSpan] = {}
    for number, record in enumerate(task.spans or []):
        span = _span(record, f"spans[{number}]", task.text, record.label, record.kb_id or None)
        if spans.setdefault((span.start, span.end), span) is not span:
            found = f"{short_repr(span.type)} where {short_repr(spans[span.start, span.end].type)} is"
            log.add(DefectKind.UNUSED_ANNOTATION, document, span.place, found, "one span of these characters")
    relations: list[SpanRelation] = []
    links: list[tuple[str, str]] = []
    for number, relation in enumerate(task.relations or []):
        place = f"relations[{number}]"
        label = UNNAMED if relation.label is None else relation.label
        head = _end(relation.head_span, relation.head, task, document, f"{place}.head")
        tail = _end(relation.child_span, relation.child, task, document, f"{place}.child")
        if is_coreference(label):
            for end in (head, tail):
                spans.setdefault((end.start, end.end), end)
            links.append((head.ref, tail.ref))
        else:
            relations.append(SpanRelation(head.ref, tail.ref, label, place, number))
    negatives = read_note(task.unnoted, document, NOTE)
    return AnnotatedText(document, task.text, list(spans.values()), relations, links, negatives)


def _span(
    record: TokenRecord, place: str, text: str, type: str | None = None, identifier: str | None = None
) -> AnnotatedSpan:
    """A span; one that stands at the end of a relation alone has no type."""
    start, end = record.start, record.end
    name = text[max(start, 0) : max(end, 0)]
    return AnnotatedSpan(_ref(start, end), start, end, type, name, identifier, place)


def _ref(start: int, end: int) -> str:
    """A name of a span: Prodigy has no ids of spans, and two spans never have the same characters."""
    return f"{start} to {end}"


def _end(
    span: SpanRecord | None, token: int | None, task: TaskRecord, document: str, place: str
) -> AnnotatedSpan:
    """The span at one end of a relation, or the token where no span is given."""
    if span is not None:
        return _span(span, f"{place}_span", task.text)
    for each in task.spans or []:
        first, last = each.token_start, each.token_end
        if token is not None and isinstance(first, int) and isinstance(last, int) and first <= token <= last:
            return _span(each, place, task.text)
    tokens = task.tokens or []
    if token is None or not 0 <= token < len(tokens):
        return AnnotatedSpan(f"token {token}", 0, 0, None, "", None, place)
    return _span(parse_as(TokenRecord, tokens[token], document, f"tokens[{token}]"), place, task.text)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one task per line, annotated and accepted; returns how many."""
    return write_lines(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document as a task of `rel.manual`."""
    annotated = from_document(document)
    text = annotated.text
    places = [place for sentence in word_spans(document, text) for place in sentence if place[0] < place[1]]
    tokens = [
        {"text": text[start:end], "start": start, "end": end, "id": n, "ws": text[end : end + 1].isspace()}
        for n, (start, end) in enumerate(places)
    ]
    spans = {span.ref: _span_item(span, places) for span in annotated.spans}
    coreferent = [SpanRelation(a, b, "coref") for refs in annotated.links for a, b in pairwise(refs)]
    note = {}
    if annotated.negatives:
        refs = {ref: _ref(span["start"], span["end"]) for ref, span in spans.items()}
        renamed = (SpanRelation(refs[n.head], refs[n.tail], n.relation) for n in annotated.negatives)
        note = {NOTE: make_note(renamed)}
    return {
        "id": document.id,
        "text": text,
        "tokens": tokens,
        "spans": list(spans.values()),
        "relations": [
            _relation_item(spans[each.head], spans[each.tail], each.relation)
            for each in [*coreferent, *annotated.relations]
        ],
        "_view_id": "relations",
        "answer": "accept",
        **note,
    }


def _span_item(span: AnnotatedSpan, places: list[tuple[int, int]]) -> dict[str, Any]:
    first = bisect_left(places, span.start, key=itemgetter(0))
    last = bisect_right(places, span.end, key=itemgetter(1)) - 1
    fields: dict[str, Any] = {"start": span.start, "end": span.end}
    fields |= {"token_start": first, "token_end": last, "label": span.type}
    return fields if span.id is None else fields | {"kb_id": span.id}


def _relation_item(head: Mapping[str, Any], child: Mapping[str, Any], label: str) -> dict[str, Any]:
    """A relation between two spans in Prodigy's form: its ends are the last tokens of the spans."""
    keys = ("start", "end", "token_start", "token_end", "label")
    fields: dict[str, Any] = {"head": head.get("token_end"), "child": child.get("token_end")}
    for name, span in (("head_span", head), ("child_span", child)):
        fields[name] = {key: span[key] for key in keys if key in span}
    return fields | {"label": label}


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with relations of some tasks added and removed.

    Known negatives and provenance are kept in a field of our own, `unnoted`, which Prodigy leaves alone.
    """

    def change(task: dict[str, Any], number: int) -> dict[str, Any] | None:
        identifier = document_id(task, number)
        if identifier not in edits or _answer(task) != "accept":
            return None
        annotated = _parse(parse_as(TaskRecord, task, identifier), identifier, DefectLog())
        changes = edit_relations(annotated, edits[identifier])
        gone = {each.item for each in changes.removed}
        kept = [each for number, each in enumerate(task.get("relations") or []) if number not in gone]
        spans = {_ref(span["start"], span["end"]): span for span in reversed(task.get("spans") or [])}
        kept += [
            _relation_item(spans[each.head], spans[each.tail], each.relation) for each, _ in changes.added
        ]
        note = update_note(task.get(NOTE), changes)
        return task | {"relations": kept} | ({NOTE: note} if note else {})

    update_records(path, to, change)


FORMAT = DocumentFormat(
    "prodigy", "Prodigy JSONL", sniff=sniff, read=read, write=write, update=update, lossy=("evidence",)
)
