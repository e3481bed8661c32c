"""brat standoff (https://brat.nlplab.org/standoff.html): NAME.txt with the text and NAME.ann.

An annotation file has one annotation per line.

`T` lines are mentions, `R` lines relations, `N` lines ids in knowledge bases (`Wikipedia:534366` is an id),
`*` lines coreference, whatever they call it (`Equiv`, `Alias`), and so are `R` lines called `coref` (or
`coreference`, `same_as`, `equiv`). An `R` line that names an event means the event's trigger. Attributes,
notes and events themselves are not used here, and stay where they are when a file is mended. A mention of
several pieces is taken from the start of the first to the end of the last. Which mentions are one entity,
`unnoted.data.entity_clustering` says.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.entity_clustering import is_coreference
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.file_names import file_name, title_of
from unnoted.data.formats.marked_text import document_of, marked_of
from unnoted.data.formats.reading import Reading
from unnoted.data.validation import FieldNames
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import new_folder, read_whole
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
OWN = "unnoted"
"""The knowledge base that ids without one are written to."""
NEGATIVE = "KnownNegative"
"""The type of a note on a mention that says which relation it is known not to have, and to which mention."""
UNUSED = frozenset("AEM#")
"""Lines of attributes, events, modifications and notes."""

_TEXT_BOUND = re.compile(
    r"(T\S*)\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)\t(.*)", re.ASCII | re.DOTALL
)
_RELATION = re.compile(r"R\S*\t(\S+) [^\s:]+:(\S+) [^\s:]+:(\S+)(?:\s*|\t.*)", re.ASCII | re.DOTALL)
_EVENT = re.compile(r"(E\S*)\t[^\s:]+:(\S+)", re.ASCII)
_REFERENCE = re.compile(r"(N\S*)\t\S+ (\S+) (\S+:\S+)(?:\t.*)?", re.ASCII | re.DOTALL)
_EQUIVALENCE = re.compile(r"\*\t\S+((?: \S+)+)\s*", re.ASCII)
_NEGATIVE = re.compile(rf"(#\S*)\t{NEGATIVE} (\S+)\t(\S+) (\S+)\s*", re.ASCII)
_LINE = re.compile(r"[A-Z#]\d*\t|\*\t\S+ ")


def recognises(path: Path, start: bytes) -> bool:
    """Whether a path is a folder with annotations, an annotation file, or a text with one beside it."""
    if path.is_dir():
        return any(path.rglob("*.ann"))
    if path.suffix == ".txt":
        return path.with_suffix(".ann").is_file()
    return path.suffix == ".ann" and (
        path.with_suffix(".txt").is_file() or _LINE.match(start.decode("utf-8", "replace")) is not None
    )


def main_file(path: Path) -> Path:
    """The same for both files of a document: its annotation file."""
    return path.with_suffix(".ann") if path.suffix == ".txt" else path


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the document of a pair of files, or those of a folder and the folders in it, by name."""
    return reading.each(texts_of(path), _document)


def texts_of(path: Path) -> Iterator[tuple[Path, Path]]:
    """The text files of a path, each with the folder from which its document's name counts."""
    if path.is_dir():
        return ((file, path) for file in sorted(path.rglob("*.txt")) if file.is_file())
    return iter([(path.with_suffix(".txt"), path.parent)])


def _document(source: tuple[Path, Path], reading: Reading) -> Document:
    file, folder = source
    title = reading.new_id(title_of(file, folder), "file name")
    reading.log.file = str(file)
    text = read_whole(file)
    annotations = file.with_suffix(".ann")
    lines: list[str] = []
    if annotations.exists():
        reading.log.file = str(annotations)
        lines = read_whole(annotations).split("\n")
    return document_of(parse(title, text, lines, reading.log).marked, reading, FIELDS)


@dataclass(slots=True)
class Standoff:
    """What an annotation file says, line by line."""

    title: str
    text: str
    log: DefectLog
    marks: list[Mark] = field(default_factory=list)
    arcs: list[MarkedArc] = field(default_factory=list)
    links: list[tuple[str, ...]] = field(default_factory=list)
    negatives: list[MarkedArc] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    triggers: dict[str, str] = field(default_factory=dict)

    @property
    def marked(self) -> MarkedText:
        """The text with its marks: ids given to their marks, events replaced by their triggers."""
        marks = [
            Mark(m.ref, m.start, m.end, m.type, m.name, self.ids.get(m.ref), m.place) for m in self.marks
        ]
        arcs = [MarkedArc(self._mark(a.head), self._mark(a.tail), a.relation, a.place) for a in self.arcs]
        return MarkedText(self.title, self.text, marks, arcs, self.links, self.negatives)

    def _mark(self, ref: str) -> str:
        return self.triggers.get(ref, ref)

    def take(self, line: str, place: str) -> None:
        """Take one line."""
        kind = line[0]
        if kind == "T":
            self._take_mark(line, place)
        elif kind == "R":
            found = _matched(_RELATION, line, self.title, place, "R1<tab>Relation Arg1:T1 Arg2:T2")
            if is_coreference(found[1]):
                self.links.append((found[2], found[3]))
            else:
                self.arcs.append(MarkedArc(found[2], found[3], found[1], place))
        elif kind == "N":
            found = _matched(_REFERENCE, line, self.title, place, "N1<tab>Reference T1 Base:id<tab>name")
            identifier = found[3].removeprefix(f"{OWN}:")
            if self.ids.setdefault(found[2], identifier) != identifier:
                expected = f"{short_repr(self.ids[found[2]])}, the first id of {found[2]}"
                self.log.add(Kind.CONFLICTING_ID, self.title, place, short_repr(found[3]), expected)
        elif kind == "*":
            found = _matched(_EQUIVALENCE, line, self.title, place, "*<tab>Equiv T1 T2")
            self.links.append(tuple(found[1].split()))
        elif negative := _NEGATIVE.fullmatch(line):
            self.negatives.append(MarkedArc(negative[2], negative[4], negative[3], place))
        elif kind in UNUSED:
            if event := _EVENT.match(line):
                self.triggers[event[1]] = event[2]
            self.log.add(Kind.UNUSED_ANNOTATION, self.title, place, short_repr(line), "a T, R, N or * line")
        else:
            fail(Kind.MALFORMED, self.title, place, short_repr(line), "a line of brat's standoff format")

    def _take_mark(self, line: str, place: str) -> None:
        found = _matched(_TEXT_BOUND, line, self.title, place, "T1<tab>Type start end<tab>text")
        pieces = [tuple(map(int, piece.split())) for piece in found[3].split(";")]
        start, end = pieces[0][0], pieces[-1][1]
        covered = " ".join(self.text[first:last] for first, last in pieces)
        if covered.split() != found[4].split():
            found_text = f"{short_repr(found[4])} at {found[3]}"
            expected = f"{short_repr(covered)}, the text there"
            fail(Kind.OFFSET_MISMATCH, self.title, place, found_text, expected)
        whole = self.text[start:end]  # brat cuts a mention at the end of a line: nothing else lies between
        name = whole if whole.split() == found[4].split() else found[4]
        self.marks.append(Mark(found[1], start, end, found[2], name, None, place))


def _matched(pattern: re.Pattern[str], line: str, title: str, place: str, expected: str) -> re.Match[str]:
    found = pattern.fullmatch(line)
    if found is None:
        fail(Kind.MALFORMED, title, place, short_repr(line), expected)
    return found


def parse(title: str, text: str, lines: Iterable[str], log: DefectLog) -> Standoff:
    """What the lines of an annotation file say of a text."""
    standoff = Standoff(title, text, log)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            standoff.take(line.rstrip("\r"), f"line {number}")
    return standoff


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a folder with two files for each document; returns how many documents.

    Raises:
        DataError: a type or relation has a blank in it, which brat's format cannot hold.
    """
    count = 0
    with new_folder(Path(path)) as folder:
        for document in documents:
            marked = marked_of(document)
            base = folder / file_name(document.id)
            base.parent.mkdir(parents=True, exist_ok=True)
            for suffix, content in ((".txt", marked.text), (".ann", "".join(_lines(marked)))):
                base.with_name(base.name + suffix).write_bytes(content.encode())
            count += 1
    return count


def _lines(marked: MarkedText) -> Iterator[str]:
    for mark in marked.marks:
        assert mark.type is not None  # every mention of a document has a type
        kind = _without_blank(mark.type, marked.id, "type")
        pieces = list(_pieces(marked.text, mark))
        spans = ";".join(f"{start} {end}" for start, end in pieces)
        name = " ".join(marked.text[start:end] for start, end in pieces)
        yield f"{mark.ref}\t{kind} {spans}\t{name}\n"
    for refs in marked.links:
        yield f"*\tEquiv {' '.join(refs)}\n"
    for number, arc in enumerate(marked.arcs, start=1):
        yield relation_line(f"R{number}", arc, marked.id)
    for number, arc in enumerate(marked.negatives, start=1):
        yield negative_line(f"#{number}", arc, marked.id)
    linked = (mark for mark in marked.marks if mark.id is not None)
    for number, mark in enumerate(linked, start=1):
        assert mark.id is not None
        base, _, entry = mark.id.partition(":")
        identifier = mark.id if base and entry and base != OWN else f"{OWN}:{mark.id}"
        reference = _without_blank(identifier, marked.id, "id")
        yield f"N{number}\tReference {mark.ref} {reference}\t{' '.join(mark.name.split())}\n"


def relation_line(identifier: str, arc: MarkedArc, document: str) -> str:
    """The line of a relation."""
    relation = _without_blank(arc.relation, document, "relation")
    return f"{identifier}\t{relation} Arg1:{arc.head} Arg2:{arc.tail}\n"


def negative_line(identifier: str, arc: MarkedArc, document: str) -> str:
    """The line of a known negative."""
    relation = _without_blank(arc.relation, document, "relation")
    return f"{identifier}\t{NEGATIVE} {arc.head}\t{relation} {arc.tail}\n"


def _without_blank(name: str, document: str, field: str) -> str:
    if not name or any(letter.isspace() for letter in name):
        fail(Kind.MALFORMED, document, field, short_repr(name), "a name without blanks, as brat has them")
    return name


def _pieces(text: str, mark: Mark) -> Iterator[tuple[int, int]]:
    """A mark as pieces that are each on one line, as brat writes it."""
    start = mark.start
    for line in text[mark.start : mark.end].split("\n"):
        if line.strip():
            yield start, start + len(line)
        start += len(line) + 1
