"""Label Studio JSON (https://labelstud.io/guide/task_format): a list of tasks, exported or to be imported.

A task has `data` with the text, and `annotations`, each with a `result`: regions (`type: labels`) with
character offsets, and relations between regions. The annotation that counts is the ground truth, else the
one that was changed last; cancelled ones never do. A task without annotation gives the mentions of its last
prediction, and no fact: a guess is no label.

Entities (`unnoted.data.entity_clustering`): a region's note `id: Q1` (`meta.text`) is its entity's id; a
relation labelled `coref` (or `coreference`, `same_as`, `equiv`) joins two regions. A relation without label
is called `related`. What is not used here (choices, notes, other regions) stays when a file is mended.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
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
from unnoted.data.formats.marked_text import document_of, marked_of
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.whole_records import WholeRecord, changed, select_by
from unnoted.data.validation import FieldNames
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import ArrayReader, write_list
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
DOCUMENT_ID = "document_id"
"""The field of `data` that keeps a document's id: Label Studio numbers its tasks itself."""
ID_NOTE = "id:"
FROM_NAME, TO_NAME = "label", "text"
"""What the labels and the text are called in Label Studio's own template for relations."""


def looks_like(start: str) -> bool:
    """Whether a file that starts like this is a list of tasks."""
    fields = first_fields(start)
    lists = ("annotations", "predictions", "completions", "drafts")
    return start.startswith("[") and (
        fields.get("data", "").startswith("{") or any(fields.get(key, "").startswith("[") for key in lists)
    )


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a list of tasks, one at a time."""
    return reading.each(ArrayReader(stream, reading.limits).numbered(), _document)


def _document(numbered: tuple[int, int, object], reading: Reading) -> Document:
    index, reading.log.line, record = numbered
    task: dict[str, Any] = expect(record, dict, None, f"[{index}]")
    title = reading.new_id(title_of(task, index), f"[{index}].id")
    return document_of(parse(task, title, reading.log), reading, FIELDS)


def title_of(task: Mapping[str, Any], index: int) -> str:
    """The id of a task's document: the one that we wrote, else the task's, else its number."""
    data = take(task, "data", dict, None, f"[{index}]")
    given = data.get(DOCUMENT_ID)
    if isinstance(given, str) and given:
        return given
    number = task.get("id")
    return str(number) if isinstance(number, int | str) and number != "" else f"task {index + 1}"


def parse(task: Mapping[str, Any], title: str, log: DefectLog) -> MarkedText:
    """The text of a task with what its annotation says."""
    text = _text(take(task, "data", dict, title), title)
    field, result = chosen(task, title, log)
    marks: dict[str, Mark] = {}
    arcs: list[MarkedArc] = []
    offsets = _Offsets(text)
    for number, item in enumerate(result):
        place = f"{field}.result[{number}]"
        fields: dict[str, Any] = with_id(expect(item, dict, title, place), number)
        kind = fields.get("type")
        if kind == "labels":
            mark = _mark(fields, title, place, offsets)
            if marks.setdefault(mark.ref, mark) is not mark:  # a region that two controls have labelled
                log.add(Kind.UNUSED_ANNOTATION, title, place, short_repr(mark.type), "one label of a region")
        elif kind == "relation":
            arcs += _arcs(fields, title, place)
        else:
            log.add(Kind.UNUSED_ANNOTATION, title, place, short_repr(kind), "'labels' or 'relation'")
    links = [(arc.head, arc.tail) for arc in arcs if is_coreference(arc.relation)]
    labelled = field.startswith("annotations") or field.startswith("completions")
    facts = [arc for arc in arcs if labelled and not is_coreference(arc.relation)]
    negatives = noted_negatives(_note(task), title, f"meta.{NOTE}")
    return MarkedText(title, text, list(marks.values()), facts, links, negatives)


def with_id(item: dict[str, Any], number: int) -> dict[str, Any]:
    """A region with an id: Label Studio gives one to those that are imported without."""
    return {**item, "id": f"region-{number}"} if item.get("type") == "labels" and "id" not in item else item


def _note(task: Mapping[str, Any]) -> object:
    meta = task.get("meta")
    return meta.get(NOTE) if isinstance(meta, dict) else None


def _text(data: Mapping[str, Any], title: str) -> str:
    """The text of a task: the field `text`, or the only text that there is."""
    texts = {key: value for key, value in data.items() if isinstance(value, str) and key != DOCUMENT_ID}
    if "text" in texts:
        return texts["text"]
    if len(texts) != 1:
        fail(
            Kind.MALFORMED,
            title,
            "data",
            f"texts in {short_repr(sorted(texts))}",
            "one, or one called 'text'",
        )
    return next(iter(texts.values()))


def chosen(task: Mapping[str, Any], title: str, log: DefectLog) -> tuple[str, Sequence[object]]:
    """Where the annotation or prediction stands that counts, and its result."""
    for key in ("annotations", "completions"):
        listed = take_list(task, key, dict, title) if task.get(key) else []
        usable = [(n, each) for n, each in enumerate(listed) if not each.get("was_cancelled")]
        if usable:
            number, best = max(usable, key=lambda pair: _rank(pair[1]))
            if len(usable) > 1:
                found = f"{len(usable)} annotations of one task; {key}[{number}] counts"
                log.add(Kind.UNUSED_ANNOTATION, title, key, found, "one")
            return f"{key}[{number}]", take(best, "result", list, title, f"{key}[{number}]")
    predictions = take(task, "predictions", list, title) if task.get("predictions") else []
    whole = [(n, each) for n, each in enumerate(predictions) if isinstance(each, dict)]
    if not whole:  # an export has only the numbers of predictions, unless more was asked for
        return "annotations", []
    place = f"predictions[{whole[-1][0]}]"
    return place, take(whole[-1][1], "result", list, title, place)


def _rank(annotation: Mapping[str, Any]) -> tuple[bool, str]:
    changed = annotation.get("updated_at")
    return bool(annotation.get("ground_truth")), changed if isinstance(changed, str) else ""


class _Offsets:
    """Character offsets of a text; older versions counted units of UTF-16, as the marked text shows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units: list[int] | None = None

    def span(self, start: int, end: int, name: str | None) -> tuple[int, int]:
        if name is None or self._is(self.text[max(start, 0) : max(end, 0)], name) or self.text.isascii():
            return start, end
        if self.units is None:
            self.units = [
                place for place, letter in enumerate(self.text) for _ in range(1 + (letter > "\uffff"))
            ]
            self.units.append(len(self.text))
        if 0 <= start <= end < len(self.units):
            first, last = self.units[start], self.units[end]
            if self._is(self.text[first:last], name):
                return first, last
        return start, end

    @staticmethod
    def _is(covered: str, name: str) -> bool:
        return covered.split() == name.replace("\\n", "\n").split() or covered == name


def _mark(fields: Mapping[str, Any], title: str, place: str, offsets: _Offsets) -> Mark:
    value = take(fields, "value", dict, title, place)
    labels = take_list(value, "labels", str, title, f"{place}.value")
    if not labels:
        fail(Kind.MALFORMED, title, f"{place}.value.labels", "no label", "a type")
    start, end = (_number(value, key, title, place) for key in ("start", "end"))
    name = value.get("text")
    if name is not None:
        expect(name, str, title, f"{place}.value.text")
    start, end = offsets.span(start, end, name)
    covered = offsets.text[max(start, 0) : max(end, 0)]
    if name is not None and 0 <= start < end <= len(offsets.text) and not offsets._is(covered, name):
        expected = f"{short_repr(covered)}, the text at {start} to {end}"
        fail(Kind.OFFSET_MISMATCH, title, f"{place}.value.text", short_repr(name), expected)
    return Mark(take(fields, "id", str, title, place), start, end, labels[0], covered, _id(fields), place)


def _number(value: Mapping[str, Any], key: str, title: str, place: str) -> int:
    """An offset; some versions export it as a string of digits."""
    given = value.get(key)
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 19:
        return int(given)
    return take(value, key, int, title, f"{place}.value")


def _id(fields: Mapping[str, Any]) -> str | None:
    """The id that a region's note gives."""
    meta = fields.get("meta")
    notes = meta.get("text") if isinstance(meta, dict) else None
    for note in notes if isinstance(notes, list) else [notes]:
        if isinstance(note, str) and note.startswith(ID_NOTE) and note.removeprefix(ID_NOTE).strip():
            return note.removeprefix(ID_NOTE).strip()
    return None


def _arcs(fields: Mapping[str, Any], title: str, place: str) -> Iterator[MarkedArc]:
    """The arcs of a relation: one for each of its labels, and in both directions where it has both."""
    ends = [take(fields, key, str, title, place) for key in ("from_id", "to_id")]
    labels = take_list(fields, "labels", str, title, place) if fields.get("labels") else [UNNAMED]
    direction = fields.get("direction", "right")
    for label in labels:
        if direction in ("right", "bi") or direction not in ("left", None):
            yield MarkedArc(ends[0], ends[1], label, place)
        if direction in ("left", "bi"):
            yield MarkedArc(ends[1], ends[0], label, place)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a list of annotated tasks that Label Studio imports; returns how many."""
    return write_list(path, map(record, documents))


def record(document: Document) -> dict[str, Any]:
    """One document as a task with an annotation."""
    marked = marked_of(document)
    result: list[dict[str, Any]] = [_region(mark) for mark in marked.marks]
    for refs in marked.links:
        pairs = pairwise(refs)
        result += [relation(MarkedArc(first, second, "coref")) for first, second in pairs]
    result += [relation(arc) for arc in marked.arcs]
    data = {"text": marked.text, DOCUMENT_ID: document.id}
    note = {"meta": {NOTE: written_note(marked.negatives)}} if marked.negatives else {}
    return {"data": data, "annotations": [{"result": result}], **note}


def _region(mark: Mark) -> dict[str, Any]:
    value = {"start": mark.start, "end": mark.end, "text": mark.name, "labels": [mark.type]}
    fields = {"id": mark.ref, "from_name": FROM_NAME, "to_name": TO_NAME, "type": "labels", "value": value}
    return fields if mark.id is None else fields | {"meta": {"text": [f"{ID_NOTE} {mark.id}"]}}


def relation(arc: MarkedArc) -> dict[str, Any]:
    """An arc in Label Studio's form."""
    fields = {"from_id": arc.head, "to_id": arc.tail, "type": "relation", "direction": "right"}
    return fields | {"labels": [arc.relation]}


def select(paths: Sequence[Path], ids: Container[str]) -> str:
    """The tasks of certain documents, as they are."""
    return select_by(paths, ids, title_of)


def mend(mending: Mending) -> list[str]:
    """The tasks with relations added and taken away; tasks that nobody decided about stay as they are.

    A task without annotation gets one: the regions of its prediction, and what was decided. Known negatives
    and provenance stand in the task's `meta`.
    """

    def change(record: WholeRecord) -> object:
        title = title_of(record.value, record.number)
        if title not in mending.decisions:
            return None
        marked = parse(record.value, title, DefectLog())
        changes = ArcChanges.of(marked, mending)
        return _mended(record.value, marked, changes, title) if changes else None

    return [changed(file_text(path), change) for path in mending.sources]


def _mended(task: dict[str, Any], marked: MarkedText, changes: ArcChanges, title: str) -> dict[str, Any]:
    place, result = chosen(task, title, DefectLog())
    touched = {arc.place for arc in changes.gone}
    items = [with_id(expect(item, dict, title, place), number) for number, item in enumerate(result)]
    kept = [item for number, item in enumerate(items) if f"{place}.result[{number}]" not in touched]
    # One relation may have several labels, or both directions: what was not decided about stays.
    kept += [relation(arc) for arc in marked.arcs if arc.place in touched and arc not in changes.gone]
    kept += [relation(arc) for arc, _ in changes.added]
    meta = task.get("meta") if isinstance(task.get("meta"), dict) else {}
    note = changed_note(_note(task), changes)
    mended = task | ({"meta": {**(meta or {}), NOTE: note}} if note else {})
    key, _, number = place.rstrip("]").partition("[")
    if key in ("annotations", "completions") and number:
        listed = list(task[key])
        listed[int(number)] = listed[int(number)] | {"result": kept}
        return mended | {key: listed}
    if changes.added:
        return mended | {"annotations": [*(task.get("annotations") or []), {"result": kept}]}
    return mended
