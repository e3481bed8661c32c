"""Label Studio JSON (https://labelstud.io/guide/task_format): a list of tasks, exported or to be imported.

A task has `data` with the text, and `annotations`, each with a `result`: regions (`type: labels`) with
character offsets, and relations between regions. The annotation that counts is the ground truth, else the
one that was changed last; cancelled ones never do. A task without annotation gives the mentions of its last
prediction, and no fact: a prediction is no label.

A region's note `id: Q1` (`meta.text`) is its entity's id; a relation labelled `coref` (or `coreference`,
`same_as`, `equiv`) joins two regions (`unnoted.data.entity_clustering`). A relation without label is called
`related`. The first label of a region is its type. What is not used here (choices, notes, other regions)
stays when decisions are written back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO, TypeAlias

from pydantic import Field

from unnoted.data.document import Document
from unnoted.data.entity_clustering import AnnotatedSpan, is_coreference
from unnoted.data.formats.annotated_text import (
    NOTE,
    UNNAMED,
    AnnotatedText,
    RelationEdits,
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
    update_records,
)
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import read_array, write_list
from unnoted.utils import short_repr

DOCUMENT_ID = "document_id"
"""The field of `data` that keeps a document's id: Label Studio numbers its tasks itself."""
ID_NOTE = "id:"
FROM_NAME, TO_NAME = "label", "text"
"""What the labels and the text are called in Label Studio's own template for relations."""


class AnnotationRecord(Record):
    """An annotation, or a prediction with a result."""

    result: list[dict[str, Any]]
    was_cancelled: bool | None = None
    ground_truth: bool | None = None
    updated_at: Any = None


class TaskRecord(Record):
    """A task."""

    data: dict[str, Any]
    annotations: list[AnnotationRecord] | None = None
    predictions: list[Any] | None = None
    """An export has only the numbers of predictions, unless more was asked for."""
    meta: Any = None


Offset: TypeAlias = Annotated[int, Field(strict=False)]
"""Some versions export offsets as digits."""


class ValueRecord(Record):
    """Where a region is, and its labels."""

    start: Offset
    end: Offset
    labels: list[str]
    text: str | None = None


class RegionRecord(Record):
    """A region."""

    id: str
    value: ValueRecord
    meta: Any = None


class RelationRecord(Record):
    """A relation between two regions."""

    from_id: str
    to_id: str
    labels: list[str] | None = None
    direction: Any = "right"


class Result(NamedTuple):
    """The annotation or prediction of a task that counts: its number in the list, and its items."""

    key: str
    number: int
    items: list[dict[str, Any]]


def sniff(start: str) -> bool:
    """Whether a file that starts like this is a list of tasks."""
    fields = first_fields(start)
    lists = ("annotations", "predictions", "drafts")
    return start.startswith("[") and (
        fields.get("data", "").startswith("{") or any(fields.get(key, "").startswith("[") for key in lists)
    )


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a list of tasks, one at a time."""
    return context.read_each(read_array(stream, context.limits), _document)


def _document(numbered: tuple[int, int, object], context: ReadContext) -> Document:
    index, context.log.line, value = numbered
    known = document_id(value, index) if isinstance(value, dict) else None
    task = parse_as(TaskRecord, value, known, f"[{index}]" if known is None else "")
    identifier = context.register_id(known or "", f"[{index}].id")
    return to_document(_parse(task, identifier, context.log)[0], context)


def document_id(task: Mapping[str, Any], index: int) -> str:
    """The id of a task's document: the one that we wrote, else the task's, else its number."""
    data = task.get("data")
    given = data.get(DOCUMENT_ID) if isinstance(data, dict) else None
    if isinstance(given, str) and given:
        return given
    number = task.get("id")
    return str(number) if isinstance(number, int | str) and number != "" else f"task {index + 1}"


def _parse(task: TaskRecord, document: str, log: DefectLog) -> tuple[AnnotatedText, Result]:
    """The text of a task with what the result that counts says."""
    text = _text(task.data, document)
    result = _choose(task, document, log)
    spans: dict[str, AnnotatedSpan] = {}
    relations: list[SpanRelation] = []
    units = _utf16_units(text)
    for number, item in enumerate(result.items):
        place = f"{result.key}[{result.number}].result[{number}]"
        if item.get("type") == "labels":
            region = parse_as(RegionRecord, _with_id(item, number), document, place)
            span = _span(region, document, place, text, units)
            unused = region.value.labels[1:]
            if spans.setdefault(span.ref, span) is not span:  # a region that two controls have labelled
                unused = region.value.labels
            for label in unused:
                log.add(
                    DefectKind.UNUSED_ANNOTATION, document, place, short_repr(label), "one label of a region"
                )
        elif item.get("type") == "relation":
            relations += _relations(parse_as(RelationRecord, item, document, place), place, number)
        else:
            found = short_repr(item.get("type"))
            log.add(DefectKind.UNUSED_ANNOTATION, document, place, found, "'labels' or 'relation'")
    links = [(each.head, each.tail) for each in relations if is_coreference(each.relation)]
    facts = []
    if result.key == "annotations":  # a prediction has no labels
        facts = [each for each in relations if not is_coreference(each.relation)]
    note = task.meta.get(NOTE) if isinstance(task.meta, dict) else None
    negatives = read_note(note, document, f"meta.{NOTE}")
    return AnnotatedText(document, text, list(spans.values()), facts, links, negatives), result


def _with_id(item: dict[str, Any], number: int) -> dict[str, Any]:
    """A region with an id: Label Studio gives one to those that are imported without."""
    return {**item, "id": f"region-{number}"} if item.get("type") == "labels" and "id" not in item else item


def _text(data: Mapping[str, Any], document: str) -> str:
    """The text of a task: the field `text`, or the only text that there is."""
    texts = {key: value for key, value in data.items() if isinstance(value, str) and key != DOCUMENT_ID}
    if "text" in texts:
        return texts["text"]
    if len(texts) != 1:
        found = f"texts in {short_repr(sorted(texts))}"
        raise DataError(found, "one, or one called 'text'", document, "data")
    return next(iter(texts.values()))


def _choose(task: TaskRecord, document: str, log: DefectLog) -> Result:
    """The annotation or prediction that counts."""

    def rank(pair: tuple[int, AnnotationRecord]) -> tuple[bool, str]:
        changed = pair[1].updated_at
        return bool(pair[1].ground_truth), changed if isinstance(changed, str) else ""

    usable = [pair for pair in enumerate(task.annotations or []) if not pair[1].was_cancelled]
    if usable:
        number, best = max(usable, key=rank)
        if len(usable) > 1:
            found = f"{len(usable)} annotations of one task; annotations[{number}] counts"
            log.add(DefectKind.UNUSED_ANNOTATION, document, "annotations", found, "one")
        return Result("annotations", number, best.result)
    whole = [(number, each) for number, each in enumerate(task.predictions or []) if isinstance(each, dict)]
    if not whole:
        return Result("predictions", 0, [])
    number, prediction = whole[-1]
    best = parse_as(AnnotationRecord, prediction, document, f"predictions[{number}]")
    return Result("predictions", number, best.result)


def _span(region: RegionRecord, document: str, place: str, text: str, units: Sequence[int]) -> AnnotatedSpan:
    value = region.value
    if not value.labels:
        raise DataError("no label", "a type", document, f"{place}.value.labels")
    start, end = value.start, value.end
    if 0 <= start < end and value.text is not None and not _is_name(text[start:end], value.text):
        if end < len(units) and _is_name(text[units[start] : units[end]], value.text):
            start, end = units[start], units[end]
        elif end <= len(text):
            expected = f"{short_repr(text[start:end])}, the text at {start} to {end}"
            raise DataError(
                short_repr(value.text),
                expected,
                document,
                f"{place}.value.text",
                kind=DefectKind.OFFSET_MISMATCH,
            )
    covered = text[max(start, 0) : max(end, 0)]
    return AnnotatedSpan(region.id, start, end, value.labels[0], covered, _entity_id(region.meta), place)


def _is_name(covered: str, name: str) -> bool:
    return covered.split() == name.replace("\\n", "\n").split() or covered == name


def _utf16_units(text: str) -> list[int]:
    """The character of each unit of UTF-16, which some versions count; none where units are characters."""
    if max(text, default="") <= "\uffff":
        return []
    units = [place for place, letter in enumerate(text) for _ in range(1 + (letter > "\uffff"))]
    return [*units, len(text)]


def _entity_id(meta: object) -> str | None:
    """The id that a region's note gives."""
    notes = meta.get("text") if isinstance(meta, dict) else None
    for note in notes if isinstance(notes, list) else [notes]:
        if isinstance(note, str) and note.startswith(ID_NOTE):
            return note.removeprefix(ID_NOTE).strip() or None
    return None


def _relations(fields: RelationRecord, place: str, number: int) -> Iterator[SpanRelation]:
    """One relation for each label, and in both directions where it has both."""
    for label in fields.labels or [UNNAMED]:
        if fields.direction not in ("left", None):
            yield SpanRelation(fields.from_id, fields.to_id, label, place, number)
        if fields.direction in ("left", "bi"):
            yield SpanRelation(fields.to_id, fields.from_id, label, place, number)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a list of annotated tasks that Label Studio imports; returns how many."""
    return write_list(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document as a task with an annotation."""
    annotated = from_document(document)
    result: list[dict[str, Any]] = [_region_item(span) for span in annotated.spans]
    for refs in annotated.links:
        result += [_relation_item(SpanRelation(first, second, "coref")) for first, second in pairwise(refs)]
    result += map(_relation_item, annotated.relations)
    data = {"text": annotated.text, DOCUMENT_ID: document.id}
    note = {"meta": {NOTE: make_note(annotated.negatives)}} if annotated.negatives else {}
    return {"data": data, "annotations": [{"result": result}], **note}


def _region_item(span: AnnotatedSpan) -> dict[str, Any]:
    value = {"start": span.start, "end": span.end, "text": span.name, "labels": [span.type]}
    fields = {"id": span.ref, "from_name": FROM_NAME, "to_name": TO_NAME, "type": "labels", "value": value}
    return fields if span.id is None else fields | {"meta": {"text": [f"{ID_NOTE} {span.id}"]}}


def _relation_item(each: SpanRelation) -> dict[str, Any]:
    fields = {"from_id": each.head, "to_id": each.tail, "type": "relation", "direction": "right"}
    return fields | {"labels": [each.relation]}


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with relations of some tasks added and removed.

    A task without annotation gets one: the regions of its prediction, and what was decided. Known negatives
    and provenance are kept in the task's `meta`.
    """

    def change(task: dict[str, Any], number: int) -> dict[str, Any] | None:
        identifier = document_id(task, number)
        if identifier not in edits:
            return None
        annotated, result = _parse(parse_as(TaskRecord, task, identifier), identifier, DefectLog())
        return _updated(task, annotated, result, edit_relations(annotated, edits[identifier]))

    update_records(path, to, change)


def _updated(
    task: dict[str, Any], annotated: AnnotatedText, result: Result, edits: RelationEdits
) -> dict[str, Any]:
    touched = {each.item for each in edits.removed}
    kept = [_with_id(item, number) for number, item in enumerate(result.items) if number not in touched]
    # One item may have several labels, or both directions: what was not decided about stays.
    kept += [
        _relation_item(each)
        for each in annotated.relations
        if each.item in touched and each not in edits.removed
    ]
    kept += [_relation_item(each) for each, _ in edits.added]
    meta = task["meta"] if isinstance(task.get("meta"), dict) else {}
    note = update_note(meta.get(NOTE), edits)
    updated = task | ({"meta": {**meta, NOTE: note}} if note else {})
    listed = list(task.get("annotations") or [])
    if result.key == "annotations":
        listed[result.number] = listed[result.number] | {"result": kept}
    elif edits.added:
        listed.append({"result": kept})
    return updated | ({"annotations": listed} if listed else {})


FORMAT = DocumentFormat(
    "label-studio",
    "Label Studio JSON",
    sniff=sniff,
    read=read,
    write=write,
    update=update,
    lossy=("evidence",),
)
