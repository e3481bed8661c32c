"""brat standoff (https://brat.nlplab.org/standoff.html): NAME.txt with the text and NAME.ann.

An annotation file has one annotation per line.

`T` lines are mentions, `R` lines relations, `N` lines ids in knowledge bases (`Wikipedia:534366` is an id),
`*` lines coreference, whatever they call it (`Equiv`, `Alias`), and so are `R` lines called `coref` (or
`coreference`, `same_as`, `equiv`). An `R` line that names an event means the event's trigger. Attributes,
notes and events themselves are not used here, and stay when decisions are written back. A mention of several
pieces is taken from the start of the first to the end of the last. Mentions are clustered to entities by
`unnoted.data.entity_clustering`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

from unnoted.data.document import Document
from unnoted.data.entity_clustering import AnnotatedSpan, is_coreference
from unnoted.data.formats.annotated_text import (
    AnnotatedText,
    RelationEdits,
    SpanRelation,
    edit_relations,
    from_document,
    to_document,
)
from unnoted.data.formats.records import DocumentFormat, Edits, ReadContext
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import new_folder, read_whole
from unnoted.utils import short_repr

OWN = "unnoted"
"""The knowledge base that ids without one are written to."""
NEGATIVE = "KnownNegative"
"""The type of a note on a mention that says which relation it is known not to have, and to which mention."""
PROVENANCE = "Provenance"
"""The type of a note on a relation that says who decided."""
UNUSED = frozenset("AEM#")
"""Lines of attributes, events, modifications and notes."""

_SPAN = re.compile(r"(T\S*)\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)\t(.*)", re.ASCII | re.DOTALL)
_RELATION = re.compile(r"R\S*\t(\S+) [^\s:]+:(\S+) [^\s:]+:(\S+)(?:\s*|\t.*)", re.ASCII | re.DOTALL)
_EVENT = re.compile(r"(E\S*)\t[^\s:]+:(\S+)", re.ASCII)
_REFERENCE = re.compile(r"(N\S*)\t\S+ (\S+) (\S+:\S+)(?:\t.*)?", re.ASCII | re.DOTALL)
_EQUIVALENCE = re.compile(r"\*\t\S+((?: \S+)+)\s*", re.ASCII)
_NEGATIVE = re.compile(rf"(#\S*)\t{NEGATIVE} (\S+)\t(\S+) (\S+)\s*", re.ASCII)
_OWN_NOTE = re.compile(rf"#\S*\t{PROVENANCE} ", re.ASCII)
_LINE = re.compile(r"[A-Z#]\d*\t|\*\t\S+ ")
_NUMBERED = re.compile(r"([R#])(\d{1,18})\t")
_ABOUT = re.compile(r"[AM#]\S*\t\S+ (\S+)")


def sniff(path: Path, start: bytes) -> bool:
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


def text_files(path: Path) -> Iterator[tuple[Path, Path]]:
    """The text files of a path, each with the folder from which its document's name counts.

    An annotation file without a text counts as one: whoever reads it says that the text is missing.
    """
    if path.is_dir():
        annotated = {file.with_suffix(".txt") for file in path.rglob("*.ann")}
        return ((file, path) for file in sorted({*path.rglob("*.txt"), *annotated}) if not file.is_dir())
    return iter([(path.with_suffix(".txt"), path.parent)])


def read(path: Path, context: ReadContext) -> Iterator[Document]:
    """Yield the document of a pair of files, or those of a folder and the folders in it, by name."""
    return context.read_each(text_files(path), _document)


def _document(source: tuple[Path, Path], context: ReadContext) -> Document:
    file, folder = source
    identifier = context.register_id(id_from_file(file, folder), "file name")
    annotations = file.with_suffix(".ann")
    if annotations.is_file() and not file.exists():
        context.log.file = str(annotations)
        raise DataError("no text", f"{file.name} beside it: offsets of a mention count in it", identifier)
    context.log.file = str(file)
    text = read_whole(file)
    lines: list[str] = []
    if annotations.exists():
        context.log.file = str(annotations)
        lines = read_whole(annotations).split("\n")
    return to_document(parse(identifier, text, lines, context.log), context)


def parse(document: str, text: str, lines: Iterable[str], log: DefectLog) -> AnnotatedText:
    """What the lines of an annotation file say of a text."""
    spans: list[AnnotatedSpan] = []
    relations: list[SpanRelation] = []
    negatives: list[SpanRelation] = []
    links: list[tuple[str, ...]] = []
    ids: dict[str, str] = {}
    triggers: dict[str, str] = {}

    def match(pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        found = pattern.fullmatch(line)
        if found is None:
            raise DataError(short_repr(line), expected, document, place)
        return found

    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        line, place, kind = raw.rstrip("\r"), f"line {number}", raw[0]
        if kind == "T":
            spans.append(_span(match(_SPAN, "T1<tab>Type start end<tab>text"), text, document, place))
        elif kind == "R":
            found = match(_RELATION, "R1<tab>Relation Arg1:T1 Arg2:T2")
            if is_coreference(found[1]):
                links.append((found[2], found[3]))
            else:
                relations.append(SpanRelation(found[2], found[3], found[1], place, number))
        elif kind == "N":
            found = match(_REFERENCE, "N1<tab>Reference T1 Base:id<tab>name")
            identifier = found[3].removeprefix(f"{OWN}:")
            if ids.setdefault(found[2], identifier) != identifier:
                expected = f"{short_repr(ids[found[2]])}, the first id of {found[2]}"
                log.add(DefectKind.CONFLICTING_ID, document, place, short_repr(found[3]), expected)
        elif kind == "*":
            links.append(tuple(match(_EQUIVALENCE, "*<tab>Equiv T1 T2")[1].split()))
        elif negative := _NEGATIVE.fullmatch(line):
            negatives.append(SpanRelation(negative[2], negative[4], negative[3], place, number))
        elif kind in UNUSED:
            if event := _EVENT.match(line):
                triggers[event[1]] = event[2]
            if not _OWN_NOTE.match(line):
                log.add(
                    DefectKind.UNUSED_ANNOTATION, document, place, short_repr(line), "a T, R, N or * line"
                )
        else:
            raise DataError(short_repr(line), "a line of brat's standoff format", document, place)
    return AnnotatedText(
        document,
        text,
        [replace(span, id=ids.get(span.ref)) for span in spans],
        [
            replace(each, head=triggers.get(each.head, each.head), tail=triggers.get(each.tail, each.tail))
            for each in relations
        ],
        links,
        negatives,
    )


def _span(found: re.Match[str], text: str, document: str, place: str) -> AnnotatedSpan:
    pieces = [tuple(map(int, piece.split())) for piece in found[3].split(";")]
    start, end = pieces[0][0], pieces[-1][1]
    covered = " ".join(text[first:last] for first, last in pieces)
    if covered.split() != found[4].split():
        expected = f"{short_repr(covered)}, the text there"
        raise DataError(
            f"{short_repr(found[4])} at {found[3]}",
            expected,
            document,
            place,
            kind=DefectKind.OFFSET_MISMATCH,
        )
    whole = text[start:end]  # brat cuts a mention at the end of a line: nothing else lies between
    name = whole if whole.split() == found[4].split() else found[4]
    return AnnotatedSpan(found[1], start, end, found[2], name, None, place)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a folder with two files for each document; returns how many documents.

    Raises:
        DataError: a type or relation has a blank in it, which brat's format cannot hold.
    """
    count = 0
    with new_folder(Path(path)) as folder:
        for document in documents:
            annotated = from_document(document)
            for suffix, content in ((".txt", annotated.text), (".ann", "".join(_lines(annotated)))):
                (folder / f"{file_name(document.id)}{suffix}").write_bytes(content.encode())
            count += 1
    return count


def _lines(annotated: AnnotatedText) -> Iterator[str]:
    for span in annotated.spans:
        assert span.type is not None  # every mention of a document has a type
        kind = _without_blank(span.type, annotated.id, "type")
        pieces = list(_pieces(annotated.text, span))
        places = ";".join(f"{start} {end}" for start, end in pieces)
        name = " ".join(annotated.text[start:end] for start, end in pieces)
        yield f"{span.ref}\t{kind} {places}\t{name}\n"
    for refs in annotated.links:
        yield f"*\tEquiv {' '.join(refs)}\n"
    for number, each in enumerate(annotated.relations, start=1):
        yield _relation_line(f"R{number}", each, annotated.id)
    for number, each in enumerate(annotated.negatives, start=1):
        yield _negative_line(f"#{number}", each, annotated.id)
    linked = (span for span in annotated.spans if span.id is not None)
    for number, span in enumerate(linked, start=1):
        base, _, entry = (span.id or "").partition(":")
        identifier = span.id if base and entry and base != OWN else f"{OWN}:{span.id}"
        reference = _without_blank(identifier or "", annotated.id, "id")
        yield f"N{number}\tReference {span.ref} {reference}\t{' '.join(span.name.split())}\n"


def _relation_line(identifier: str, each: SpanRelation, document: str) -> str:
    relation = _without_blank(each.relation, document, "relation")
    return f"{identifier}\t{relation} Arg1:{each.head} Arg2:{each.tail}\n"


def _negative_line(identifier: str, each: SpanRelation, document: str) -> str:
    relation = _without_blank(each.relation, document, "relation")
    return f"{identifier}\t{NEGATIVE} {each.head}\t{relation} {each.tail}\n"


def _without_blank(name: str, document: str, field: str) -> str:
    if not name or any(letter.isspace() for letter in name):
        raise DataError(short_repr(name), "a name without blanks, as brat has them", document, field)
    return name


def _pieces(text: str, span: AnnotatedSpan) -> Iterator[tuple[int, int]]:
    """A span as pieces that are each on one line, as brat writes it."""
    start = span.start
    for line in text[span.start : span.end].split("\n"):
        if line.strip():
            yield start, start + len(line)
        start += len(line) + 1


# Names of files -------------------------------------------------------------------------------------------------

_UNESCAPED = " !$&'()+,;=@^~"
"""What a name may have beside letters, digits, `_`, `.` and `-`; the rest is written as `%` and digits."""


def file_name(identifier: str) -> str:
    """The name of a document's file, from which `id_from_file` makes the id again.

    Example:
        >>> file_name("train/note 1"), file_name("../a"), file_name("a:b")
        ('train%2Fnote 1', '..%2Fa', 'a%3Ab')
    """
    return "".join(letter if letter.isalnum() else quote(letter, safe=_UNESCAPED) for letter in identifier)


def id_from_file(file: Path, folder: Path) -> str:
    """The id of the document in a file: its path in the folder, without its suffix.

    Example:
        >>> id_from_file(Path("corpus/train/a%3Ab.txt"), Path("corpus")), id_from_file(Path("c/100%.txt"), Path("c"))
        ('train/a:b', '100%')
    """
    return unquote(file.relative_to(folder).as_posix().removesuffix(file.suffix))


# Decisions written back -----------------------------------------------------------------------------------------


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the folder with lines added and removed; of a pair of files, a folder with the two."""
    base = path if path.is_dir() else path.parent
    with new_folder(to) as folder:
        for file in (
            path.rglob("*") if path.is_dir() else (path.with_suffix(".txt"), path.with_suffix(".ann"))
        ):
            if file.is_file():
                copy = folder / file.relative_to(base)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
        for file, _ in text_files(path):
            identifier = id_from_file(file, base)
            if identifier in edits:
                annotations = file.with_suffix(".ann")
                lines = read_whole(annotations).split("\n") if annotations.exists() else []
                annotated = parse(identifier, read_whole(file), lines, DefectLog())
                changes = edit_relations(annotated, edits[identifier])
                written = "".join(_updated_lines(lines, changes, identifier))
                (folder / annotations.relative_to(base)).write_bytes(written.encode())


def _updated_lines(lines: list[str], edits: RelationEdits, document: str) -> Iterator[str]:
    gone = {each.item for each in [*edits.removed, *edits.restored]}
    merged = {ref for refs in edits.links for ref in refs}
    for number, line in enumerate(lines, start=1):
        if (found := _EQUIVALENCE.fullmatch(line)) and merged.issuperset(found[1].split()):
            gone.add(number)  # it is part of a new one
    ids = {lines[number - 1].split("\t")[0] for number in gone}
    numbers = {"R": 0, "#": 0}
    for number, line in enumerate(lines, start=1):
        if found := _NUMBERED.match(line):
            numbers[found[1]] = max(numbers[found[1]], int(found[2]))
        about = _ABOUT.match(line)
        takes_along = about is not None and about[1] in ids  # a relation takes its notes along
        if number not in gone and not takes_along and (line or number < len(lines)):
            yield f"{line}\n"
    for refs in edits.links:
        yield f"*\tEquiv {' '.join(refs)}\n"
    for each, decision in edits.new:
        if decision.holds:
            numbers["R"] += 1
            target = f"R{numbers['R']}"
            yield _relation_line(target, each, document)
            subject = {}
        else:
            numbers["#"] += 1
            target = each.head
            yield _negative_line(f"#{numbers['#']}", each, document)
            subject = {"not": f"{each.relation} {each.tail}"}
        if decision.provenance:
            numbers["#"] += 1
            content = json.dumps({**subject, **decision.provenance}, ensure_ascii=False)
            yield f"#{numbers['#']}\t{PROVENANCE} {target}\t{content}\n"


FORMAT = DocumentFormat(
    "brat",
    "brat standoff",
    write=write,
    sniff_path=sniff,
    read_path=read,
    main_file=main_file,
    update=update,
    merges=True,
    lossy=("evidence",),
)
