"""Prodigy JSONL (https://prodi.gy/docs/api-interfaces#relations): one task per line, as `db-out` writes it.

A task has `text`, `tokens`, `spans` with character offsets, and `relations` between spans, each with the last
token of either span (`head`, `child`) and the spans themselves. Tasks that were not accepted are left out.

Entities (`unnoted.data.entity_clustering`): a span's `kb_id`, a relation labelled `coref` (or `coreference`,
`same_as`, `equiv`). A span without a label, such as a pronoun, is a mention where a coreference link says of
what. A relation without a label is called `related`.
A document is called by its `id` (which we write), or by its `_task_hash`, or by its line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from unnoted.data.contents import file_text
from unnoted.data.decided import Mending
from unnoted.data.document import Document
from unnoted.data.entity_clustering import is_coreference
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.arc_changes import (
    NOTE,
    UNNAMED,
    ArcChanges,
    changed_note,
    noted_negatives,
    written_note,
)
from unnoted.data.formats.fields import expect, take, take_list
from unnoted.data.formats.json_shapes import first_fields
from unnoted.data.formats.marked_text import document_of, marked_of, word_spans
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.whole_records import WholeRecord, changed, select_by
from unnoted.data.validation import FieldNames
from unnoted.errors import DataError, DefectLog, Kind
from unnoted.io import numbered_lines, parse_record, write_lines
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")


def looks_like(start: str) -> bool:
    """Whether a file that starts like this holds tasks of Prodigy."""
    fields = first_fields(start)
    own = {"_input_hash", "_task_hash", "spans", "relations"}
    return (
        start.startswith("{") and "text" in fields and "entities" not in fields and bool(own & fields.keys())
    )


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of the accepted tasks, one at a time; blank lines are skipped."""
    return reading.each(_accepted(stream, reading), _document)


def _accepted(stream: TextIO, reading: Reading) -> Iterator[tuple[int, object]]:
    for number, line in numbered_lines(stream, reading.limits):
        if not line.strip():
            continue
        try:
            task = parse_record(line, f"line {number}")
        except DataError as error:
            reading.log.error(error)
            continue
        answer = answer_of(task)
        if answer == "accept":
            yield number, task
        else:
            expected = "the answer 'accept'"
            reading.log.add(Kind.UNUSED_ANNOTATION, None, f"line {number}", short_repr(answer), expected)


def answer_of(task: object) -> object:
    """What an annotator said of a task; a task that was never asked about counts as accepted."""
    return task.get("answer", "accept") if isinstance(task, dict) else "accept"


def _document(numbered: tuple[int, object], reading: Reading) -> Document:
    reading.log.line = numbered[0]
    place = f"line {numbered[0]}"
    task: dict[str, Any] = expect(numbered[1], dict, None, place)
    title = reading.new_id(title_of(task, numbered[0]), place)
    return document_of(parse(task, title, reading.log), reading, FIELDS)


def title_of(task: Mapping[str, Any], line: int) -> str:
    """The id of a task's document."""
    given = task.get("id", task.get("_task_hash"))
    return str(given) if isinstance(given, int | str) and given != "" else f"line {line}"


def parse(task: Mapping[str, Any], title: str, log: DefectLog) -> MarkedText:
    """The text of a task with what its annotator marked."""
    text = take(task, "text", str, title)
    marks: dict[tuple[int, int], Mark] = {}
    for number, span in enumerate(take_list(task, "spans", dict, title) if task.get("spans") else []):
        mark = _mark(span, title, f"spans[{number}]", text)
        if marks.setdefault((mark.start, mark.end), mark) is not mark:
            found = f"{short_repr(mark.type)} where {short_repr(marks[mark.start, mark.end].type)} is"
            log.add(Kind.UNUSED_ANNOTATION, title, mark.place, found, "one span of these characters")
    arcs: list[MarkedArc] = []
    links: list[tuple[str, str]] = []
    for number, relation in enumerate(
        take_list(task, "relations", dict, title) if task.get("relations") else []
    ):
        place = f"relations[{number}]"
        labelled = relation.get("label") is not None
        label = take(relation, "label", str, title, place) if labelled else UNNAMED
        ends = [_end(relation, key, title, place, task, text) for key in ("head", "child")]
        if is_coreference(label):
            for end in ends:
                marks.setdefault((end.start, end.end), end)
            links.append((ends[0].ref, ends[1].ref))
        else:
            arcs.append(MarkedArc(ends[0].ref, ends[1].ref, label, place))
    negatives = noted_negatives(task.get(NOTE), title, NOTE)
    return MarkedText(title, text, list(marks.values()), arcs, links, negatives)


def _mark(span: Mapping[str, Any], title: str, place: str, text: str) -> Mark:
    start, end = (take(span, key, int, title, place) for key in ("start", "end"))
    kind = take(span, "label", str, title, place) if span.get("label") is not None else None
    identifier = take(span, "kb_id", str, title, place) if span.get("kb_id") else None
    name = text[max(start, 0) : max(end, 0)]
    return Mark(ref_of(start, end), start, end, kind, name, identifier, place)


def ref_of(start: int, end: int) -> str:
    """What a span is called: Prodigy has no ids of spans, and two spans never have the same characters."""
    return f"{start} to {end}"


def _end(
    relation: Mapping[str, Any], key: str, title: str, place: str, task: Mapping[str, Any], text: str
) -> Mark:
    """The span at one end of a relation, or the token where no span is given."""
    if relation.get(f"{key}_span") is not None:
        span = take(relation, f"{key}_span", dict, title, place)
        return _mark({**span, "label": None}, title, f"{place}.{key}_span", text)
    number = take(relation, key, int, title, place)
    tokens = take_list(task, "tokens", dict, title)
    for span in take_list(task, "spans", dict, title) if task.get("spans") else []:
        first, last = span.get("token_start"), span.get("token_end")
        if isinstance(first, int) and isinstance(last, int) and first <= number <= last:
            return _mark(span, title, place, text)
    if not 0 <= number < len(tokens):
        return Mark(f"token {number}", 0, 0, None, "", None, place)
    return _mark({**tokens[number], "label": None, "kb_id": None}, title, f"tokens[{number}]", text)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write one task per line, annotated and accepted; returns how many."""
    return write_lines(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document as a task of `rel.manual`."""
    marked = marked_of(document)
    places = [
        span for sentence in word_spans(document, marked.text) for span in sentence if span[0] < span[1]
    ]
    tokens = [
        {
            "text": marked.text[start:end],
            "start": start,
            "end": end,
            "id": number,
            "ws": _blank_at(marked.text, end),
        }
        for number, (start, end) in enumerate(places)
    ]
    spans = {mark.ref: _span(mark, places) for mark in marked.marks}
    arcs = [MarkedArc(a, b, "coref") for refs in marked.links for a, b in pairwise(refs)]
    note = {NOTE: written_note(_renamed(arc, spans) for arc in marked.negatives)} if marked.negatives else {}
    return {
        "id": document.id,
        "text": marked.text,
        "tokens": tokens,
        "spans": list(spans.values()),
        "relations": [
            relation(spans[arc.head], spans[arc.tail], arc.relation) for arc in [*arcs, *marked.arcs]
        ],
        "_view_id": "relations",
        "answer": "accept",
        **note,
    }


def _renamed(arc: MarkedArc, spans: Mapping[str, Mapping[str, Any]]) -> MarkedArc:
    head, tail = (ref_of(spans[ref]["start"], spans[ref]["end"]) for ref in (arc.head, arc.tail))
    return MarkedArc(head, tail, arc.relation)


def _blank_at(text: str, place: int) -> bool:
    return text[place : place + 1].isspace()


def _span(mark: Mark, places: list[tuple[int, int]]) -> dict[str, Any]:
    first = bisect_left(places, mark.start, key=itemgetter(0))
    last = bisect_right(places, mark.end, key=itemgetter(1)) - 1
    fields: dict[str, Any] = {"start": mark.start, "end": mark.end}
    fields |= {"token_start": first, "token_end": last, "label": mark.type}
    return fields if mark.id is None else fields | {"kb_id": mark.id}


def relation(head: Mapping[str, Any], child: Mapping[str, Any], label: str) -> dict[str, Any]:
    """A relation between two spans in Prodigy's form: its ends are the last tokens of the spans."""
    keys = ("start", "end", "token_start", "token_end", "label")
    fields: dict[str, Any] = {"head": head.get("token_end"), "child": child.get("token_end")}
    for name, span in (("head_span", head), ("child_span", child)):
        fields[name] = {key: span[key] for key in keys if key in span}
    return fields | {"label": label}


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The tasks of certain documents, as they are."""
    return select_by(paths, ids, title_of)


def mend(mending: Mending) -> list[str]:
    """The tasks with relations added and taken away; tasks that nobody decided about stay as they are.

    Known negatives and provenance stand in a field of our own, `unnoted`, which Prodigy keeps.
    """

    def change(record: WholeRecord) -> object:
        task, title = record.value, title_of(record.value, record.number)
        if title not in mending.decisions or answer_of(task) != "accept":
            return None
        changes = ArcChanges.of(parse(task, title, DefectLog()), mending)
        if not changes:
            return None
        gone = {arc.place for arc in changes.gone}
        listed = task.get("relations") or []
        kept = [each for number, each in enumerate(listed) if f"relations[{number}]" not in gone]
        spans = {ref_of(span["start"], span["end"]): span for span in reversed(task.get("spans") or [])}
        kept += [relation(spans[arc.head], spans[arc.tail], arc.relation) for arc, _ in changes.added]
        note = changed_note(task.get(NOTE), changes)
        return task | {"relations": kept} | ({NOTE: note} if note else {})

    return [changed(file_text(path), change) for path in mending.sources]
