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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from unnoted.data.document import Document
from unnoted.data.entity_clustering import is_coreference
from unnoted.data.formats.annotated_text import (
    NOTE,
    UNNAMED,
    AnnotatedSpan,
    AnnotatedText,
    RelationEdits,
    SpanRelation,
    from_document,
    make_note,
    note_negatives,
    to_document,
    update_note,
)
from unnoted.data.formats.records import (
    ReadContext,
    Record,
    first_fields,
    parse_as,
    read_list,
    select_records,
    update_records,
)
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import write_list
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from unnoted.data.decisions import Edits

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
    """A task; `completions` are what the first versions called annotations."""

    data: dict[str, Any]
    annotations: list[AnnotationRecord] | None = None
    completions: list[AnnotationRecord] | None = None
    predictions: list[Any] | None = None
    """An export has only the numbers of predictions, unless more was asked for."""
    meta: Any = None


class ValueRecord(Record):
    """Where a region is, and its labels; some versions export offsets as digits."""

    start: int | str
    end: int | str
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
    """The annotation or prediction of a task that counts: its key, its number in that list, and its items."""

    key: str
    number: int | None
    items: Sequence[dict[str, Any]]

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return self.key if self.number is None else f"{self.key}[{self.number}]"

    @property
    def is_labelled(self) -> bool:
        """Whether it has labels; a prediction has none."""
        return self.key != "predictions"


def sniff(start: str) -> bool:
    """Whether a file that starts like this is a list of tasks."""
    fields = first_fields(start)
    lists = ("annotations", "predictions", "completions", "drafts")
    return start.startswith("[") and (
        fields.get("data", "").startswith("{") or any(fields.get(key, "").startswith("[") for key in lists)
    )


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a list of tasks, one at a time."""
    return context.read_each(read_list(stream, context), _document)


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
    offsets = _Offsets(text)
    for number, item in enumerate(result.items):
        place = f"{result.place}.result[{number}]"
        if item.get("type") == "labels":
            region = parse_as(RegionRecord, _with_id(item, number), document, place)
            span = _span(region, document, place, offsets)
            unused = region.value.labels[1:]
            if spans.setdefault(span.ref, span) is not span:  # a region that two controls have labelled
                unused = region.value.labels
            for label in unused:
                log.add(Kind.UNUSED_ANNOTATION, document, place, short_repr(label), "one label of a region")
        elif item.get("type") == "relation":
            relations += _relations(parse_as(RelationRecord, item, document, place), place, number)
        else:
            found = short_repr(item.get("type"))
            log.add(Kind.UNUSED_ANNOTATION, document, place, found, "'labels' or 'relation'")
    links = [(each.head, each.tail) for each in relations if is_coreference(each.relation)]
    facts = [each for each in relations if result.is_labelled and not is_coreference(each.relation)]
    note = task.meta.get(NOTE) if isinstance(task.meta, dict) else None
    negatives = note_negatives(note, document, f"meta.{NOTE}")
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
        fail(Kind.MALFORMED, document, "data", found, "one, or one called 'text'")
    return next(iter(texts.values()))


def _choose(task: TaskRecord, document: str, log: DefectLog) -> Result:
    """The annotation or prediction that counts."""

    def rank(pair: tuple[int, AnnotationRecord]) -> tuple[bool, str]:
        changed = pair[1].updated_at
        return bool(pair[1].ground_truth), changed if isinstance(changed, str) else ""

    for key, listed in (("annotations", task.annotations), ("completions", task.completions)):
        usable = [(number, each) for number, each in enumerate(listed or []) if not each.was_cancelled]
        if usable:
            number, best = max(usable, key=rank)
            if len(usable) > 1:
                found = f"{len(usable)} annotations of one task; {key}[{number}] counts"
                log.add(Kind.UNUSED_ANNOTATION, document, key, found, "one")
            return Result(key, number, best.result)
    whole = [(number, each) for number, each in enumerate(task.predictions or []) if isinstance(each, dict)]
    if not whole:
        return Result("annotations", None, [])
    number, prediction = whole[-1]
    best = parse_as(AnnotationRecord, prediction, document, f"predictions[{number}]")
    return Result("predictions", number, best.result)


class _Offsets:
    """Character offsets of a text; older versions counted units of UTF-16, as the marked text shows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units: list[int] | None = None

    def span(self, start: int, end: int, name: str | None) -> tuple[int, int]:
        if name is None or self.is_name(self.text[max(start, 0) : max(end, 0)], name) or self.text.isascii():
            return start, end
        if self.units is None:
            self.units = [
                place for place, letter in enumerate(self.text) for _ in range(1 + (letter > "\uffff"))
            ]
            self.units.append(len(self.text))
        if 0 <= start <= end < len(self.units):
            first, last = self.units[start], self.units[end]
            if self.is_name(self.text[first:last], name):
                return first, last
        return start, end

    @staticmethod
    def is_name(covered: str, name: str) -> bool:
        return covered.split() == name.replace("\\n", "\n").split() or covered == name


def _span(region: RegionRecord, document: str, place: str, offsets: _Offsets) -> AnnotatedSpan:
    value = region.value
    if not value.labels:
        fail(Kind.MALFORMED, document, f"{place}.value.labels", "no label", "a type")
    start, end = (
        _offset(each, document, f"{place}.value.{key}")
        for key, each in (("start", value.start), ("end", value.end))
    )
    start, end = offsets.span(start, end, value.text)
    covered = offsets.text[max(start, 0) : max(end, 0)]
    inside = 0 <= start < end <= len(offsets.text)
    if value.text is not None and inside and not offsets.is_name(covered, value.text):
        expected = f"{short_repr(covered)}, the text at {start} to {end}"
        fail(Kind.OFFSET_MISMATCH, document, f"{place}.value.text", short_repr(value.text), expected)
    return AnnotatedSpan(region.id, start, end, value.labels[0], covered, _entity_id(region.meta), place)


def _offset(given: int | str, document: str, place: str) -> int:
    if isinstance(given, str):
        if not (given.isascii() and given.isdecimal() and len(given) < 19):
            fail(Kind.MALFORMED, document, place, short_repr(given), "a whole number")
        return int(given)
    return given


def _entity_id(meta: object) -> str | None:
    """The id that a region's note gives."""
    notes = meta.get("text") if isinstance(meta, dict) else None
    for note in notes if isinstance(notes, list) else [notes]:
        if isinstance(note, str) and note.startswith(ID_NOTE) and note.removeprefix(ID_NOTE).strip():
            return note.removeprefix(ID_NOTE).strip()
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


def select(paths: Sequence[Path], is_wanted: Callable[[str], bool]) -> str:
    """The tasks of certain documents, verbatim."""
    return select_records(paths, is_wanted, document_id)


def update(path: Path, edits: "Mapping[str, Edits]") -> str:
    """The file with relations of some tasks added and removed.

    A task without annotation gets one: the regions of its prediction, and what was decided. Known negatives
    and provenance are kept in the task's `meta`.
    """

    def change(task: dict[str, Any], number: int) -> dict[str, Any] | None:
        identifier = document_id(task, number)
        if identifier not in edits:
            return None
        annotated, result = _parse(parse_as(TaskRecord, task, identifier), identifier, DefectLog())
        return _updated(task, annotated, result, RelationEdits.from_decisions(annotated, edits[identifier]))

    return update_records(path, change)


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
    meta = task.get("meta") if isinstance(task.get("meta"), dict) else {}
    note = update_note((meta or {}).get(NOTE), edits)
    updated = task | ({"meta": {**(meta or {}), NOTE: note}} if note else {})
    if result.is_labelled and result.number is not None:
        listed = list(task[result.key])
        listed[result.number] = listed[result.number] | {"result": kept}
        return updated | {result.key: listed}
    if edits.added:
        return updated | {"annotations": [*(task.get("annotations") or []), {"result": kept}]}
    return updated
