"""PubTator text: ChemDisGene (relations in separate files) and BioCreative V CDR (relations inline).

Offsets count the characters of the title, ONE space, and the abstract. An entity is a type and an id: a
species and a gene may share a number. A mention of several ids (`A|B`, `A;B`) is a mention of each.

Relation rows are document, relation, subject id, object id, separated by tabs. A fifth column that says
`false` is our own: the row is a known negative.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, TextIO, TypeAlias

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats.annotated_text import TOOL_FIELDS
from unnoted.data.formats.records import ReadContext, RelationRow, read_text
from unnoted.data.tokenization import split_text
from unnoted.errors import DataError, Defect, DefectLog, Kind, fail
from unnoted.io import Limits, numbered_lines
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from unnoted.data.decisions import Decision, Edits

UNLINKED = frozenset({"-", "-1", ""})
MUTATION_TYPES = frozenset({"SNP", "DNAMutation", "ProteinMutation", "Mutation"})
"""Types whose ids have `|` and `;` in their own syntax."""
FALSE = "false"
"""The fifth column of a known negative."""

Positions: TypeAlias = Mapping[tuple[str, str], int]
"""The index of each entity by type and id."""

_HEADER = re.compile(r"([^\s|]+)\|([ta])\|(.*)", re.DOTALL)
_IDS = re.compile(r"[|;]")
_TYPED_RELATION = re.compile(r"(chem|gene|disease)_(chem|gene|disease):")
_TYPES = {"chem": "Chemical", "gene": "Gene", "disease": "Disease"}


# Relation rows --------------------------------------------------------------------------------------------------


def split_row(line: str) -> list[str] | None:
    r"""The columns of a relation row without its end of line; None if it is no row.

    Example:
        >>> split_row("1\tspouse\tA\tB\tfalse"), split_row("1\tspouse\tA")
        (['1', 'spouse', 'A', 'B', 'false'], None)
    """
    columns = line.split("\t")
    is_row = all(columns) and (len(columns) == 4 or columns[4:] == [FALSE])
    return columns if is_row else None


def sniff_rows(start: str) -> bool:
    """Whether a file that starts like this is a separate file of relation rows."""
    columns = start.split("\n", 1)[0].rstrip("\r").split("\t")
    return len(columns) == 4 or columns[4:] == [FALSE]


def read_rows(stream: TextIO, context: ReadContext) -> None:
    """Keep the rows of a separate file until their documents come."""
    log = context.log
    for number, line in numbered_lines(stream, context.limits):
        text = line.rstrip("\r\n")
        if not text:
            continue
        try:
            if (columns := split_row(text)) is None:
                expected = "document, relation, subject and object, separated by tabs"
                fail(Kind.MALFORMED, None, f"line {number}", short_repr(text), expected)
        except DataError as error:
            log.error(error)
            continue
        document, relation, subject, object_, *false = columns
        row = RelationRow(relation, subject, object_, log.file, number, not false)
        context.relation_rows.setdefault(document, []).append(row)
        log.relation_rows += 1


def log_unused_rows(context: ReadContext) -> None:
    """Log every row of a separate file whose document never came."""
    for document, rows in context.relation_rows.items():
        for row in rows:
            place = f"line {row.line}"
            context.log.add(
                Kind.UNKNOWN_DOCUMENT, document, place, row.relation, "a known document", row.file
            )
    context.relation_rows.clear()


# Documents ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Annotation:
    """One mention line."""

    line: int
    start: int
    end: int
    text: str
    type: str
    ids: str


def sniff(start: str) -> bool:
    """Whether a file that starts like this opens a PubTator document."""
    return _HEADER.match(start) is not None


def read(stream: TextIO, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a PubTator file, one at a time."""
    return context.read_each(_blocks(stream, context.limits), _document)


def _blocks(stream: TextIO, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """The lines of each document and the number of the first; a blank line ends a document."""
    lines: list[str] = []
    size = 0
    for number, line in numbered_lines(stream, limits):
        text = line.rstrip("\r\n")
        size = size + len(line) if lines else len(line)
        if size > limits.document:
            found = f"more than {limits.document:,} characters without a blank line"
            fail(Kind.TOO_LARGE, None, f"line {number}", found, limits.allowance("document"))
        if text:
            lines.append(text)
        elif lines:
            yield number - len(lines), lines
            lines = []
    if lines:
        yield number - len(lines) + 1, lines


def _document(block: tuple[int, list[str]], context: ReadContext) -> Document:
    first_line, lines = block
    log = context.log
    log.line = first_line
    identifier, text, title_end, body = _header(first_line, lines, context)
    rows = context.relation_rows.pop(identifier, [])
    annotations = []
    for number, line in enumerate(lines[body:], start=first_line + body):
        columns = line.split("\t")
        if columns[0] != identifier:
            fail(Kind.MALFORMED, identifier, f"line {number}", short_repr(line), f"a line of {identifier}")
        if _is_inline_row(columns):
            rows.append(RelationRow(columns[1], columns[2], columns[3], log.file, number, len(columns) == 4))
            log.relation_rows += 1
        else:
            annotations.append(_annotation(columns, number, identifier, text))
    split = split_text(text, [(item.start, item.end) for item in annotations], [title_end])
    entities, positions = _entities(annotations, split.locate, identifier, context)
    facts = tuple(project_rows((row for row in rows if row.holds), positions, identifier, log))
    rejected = project_rows((row for row in rows if not row.holds), positions, identifier, log)
    negatives = tuple(fact.triple for fact in rejected)
    document = Document(identifier, split.sentences, entities, facts, text, negatives)
    return context.validate(document, TOOL_FIELDS)


def _is_inline_row(columns: Sequence[str]) -> bool:
    is_row = len(columns) == 4 or (len(columns) == 5 and columns[4] == FALSE)
    return is_row and not is_offset(columns[1])


def is_offset(text: str) -> bool:
    """Digits as everybody writes them (Python takes those of every script), and not thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) < 20


def _header(first_line: int, lines: list[str], context: ReadContext) -> tuple[str, str, int, int]:
    """The id, the whole text, where the title ends in it, and the index of the first line after them."""
    title = _HEADER.fullmatch(lines[0])
    if title is None or title[2] != "t":
        fail(Kind.MALFORMED, None, f"line {first_line}", short_repr(lines[0]), "a title line, 'ID|t|title'")
    identifier = context.register_id(title[1], f"line {first_line}")
    abstract = _HEADER.fullmatch(lines[1]) if len(lines) > 1 else None
    if abstract is None:
        context.log.add(
            Kind.NO_ABSTRACT, identifier, f"line {first_line}", "a title", "'ID|a|abstract' after it"
        )
        return identifier, title[3] + " ", len(title[3]), 1
    if (abstract[1], abstract[2]) != (identifier, "a"):
        expected = f"'{identifier}|a|abstract'"
        fail(Kind.MALFORMED, identifier, f"line {first_line + 1}", short_repr(lines[1]), expected)
    return identifier, f"{title[3]} {abstract[3]}", len(title[3]), 2


def _annotation(columns: list[str], number: int, identifier: str, text: str) -> Annotation:
    place = f"line {number}"
    if len(columns) not in (6, 7):
        expected = "6 columns: document, start, end, mention, type, id (or 4: a relation)"
        fail(Kind.MALFORMED, identifier, place, f"{len(columns)} columns in {short_repr(columns)}", expected)
    _, start, end, mention, kind, ids = columns[:6]
    if not (is_offset(start) and is_offset(end) and int(start) < int(end) <= len(text)):
        found = f"{short_repr(start)} to {short_repr(end)}"
        expected = f"whole numbers, 0 <= start < end <= {len(text)}"
        fail(Kind.MALFORMED, identifier, f"{place}, start/end", found, expected)
    covered = text[int(start) : int(end)]
    if covered != mention:
        found, expected = (
            f"{short_repr(mention)} at {start} to {end}",
            f"{short_repr(covered)}, the text there",
        )
        fail(Kind.OFFSET_MISMATCH, identifier, f"{place}, mention", found, expected)
    if not covered.strip() or not kind:
        fail(Kind.MALFORMED, identifier, place, short_repr(columns), "a mention with a word and a type")
    return Annotation(number, int(start), int(end), intern(mention), intern(kind), ids)


def _entities(
    annotations: Iterable[Annotation],
    locate: Callable[[int, int], tuple[int, int, int] | None],
    identifier: str,
    context: ReadContext,
) -> tuple[tuple[Entity, ...], Positions]:
    """Entities in order of first mention, and the index of each by type and id."""
    log = context.log
    mentions: dict[tuple[str, str], list[Mention]] = {}
    for item in annotations:
        parts = [item.ids] if item.type in MUTATION_TYPES else _IDS.split(item.ids)
        ids = [single for single in dict.fromkeys(parts) if single not in UNLINKED]
        place = f"line {item.line}"
        if not ids:
            log.add(Kind.UNLINKED_MENTION, identifier, place, short_repr(item.ids), "an id")
        elif len(ids) > 1:
            log.add(Kind.SHARED_MENTION, identifier, place, short_repr(item.ids), "one id")
        context.limits.check("entities", len(ids), "ids of one mention", identifier, place)
        span = locate(item.start, item.end)
        assert span is not None  # a mention has a word: checked when its line was read
        for single in ids:
            mentions.setdefault((item.type, intern(single)), []).append(Mention(*span, item.type, item.text))
        context.limits.check("entities", len(mentions), "entities or more", identifier, place)
    entities = tuple(Entity(tuple(found), single) for (_, single), found in mentions.items())
    return entities, {key: index for index, key in enumerate(mentions)}


def project_rows(
    rows: Iterable[RelationRow], positions: Positions, identifier: str, log: DefectLog
) -> Iterator[Fact]:
    """Rows as facts between entities; each row that cannot be one is logged by reason."""
    by_id = {
        single: index for (_, single), index in reversed(list(positions.items()))
    }  # the first one counts
    for row in rows:

        def drop(reason: Kind, found: str, expected: str, row: RelationRow = row) -> None:
            log.add(reason, identifier, f"line {row.line}", short_repr(found), expected, row.file)

        types = _TYPED_RELATION.match(row.relation)
        ends: list[int] = []
        for number, single in enumerate((row.subject, row.object), start=1):
            kind = _TYPES[types[number]] if types else None
            index = positions.get((kind, single)) if kind else by_id.get(single)
            if index is None:
                reason = Kind.WRONG_TYPE if single in by_id else Kind.UNLINKED_ENTITY
                drop(reason, single, f"a linked {kind or 'entity'}")
                break
            ends.append(index)
        if len(ends) < 2:
            continue
        if ends[0] == ends[1]:
            drop(Kind.SELF_RELATION, row.subject, "two entities")
        else:
            yield Fact(ends[0], ends[1], intern(row.relation))


# Files written again --------------------------------------------------------------------------------------------


def select(paths: Sequence[Path], is_wanted: Callable[[str], bool]) -> str:
    """The lines of certain documents, verbatim, with a blank line between documents."""
    blocks = (
        "".join(f"{line}\n" for line in lines)
        for path in paths
        for filled, lines in groupby(read_text(path).split("\n"), lambda line: bool(line.strip("\r\ufeff ")))
        if filled
    )
    return "\n".join(
        block.lstrip("\ufeff") for block in blocks if is_wanted(block.lstrip("\ufeff").partition("|")[0])
    )


def update(path: Path, edits: "Mapping[str, Edits]") -> str:
    """The file with relation rows of some documents removed, and new ones at the end of their documents."""
    text = read_text(path)
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    # Each document's last line, from which on its new rows are written.
    last = {_document_of(line): number for number, line in enumerate(lines) if line.strip()}
    pieces: list[str] = []
    for number, line in enumerate(lines):
        document = _document_of(line)
        edit = edits.get(document) if line.strip() else None
        ended = line + ("\n" if number < len(lines) - 1 else "")
        if edit is None:
            pieces.append(ended)
            continue
        if not _is_removed(line, edit):
            pieces.append(ended)
        if last[document] == number:
            if edit.decisions and not pieces[-1].endswith("\n"):
                pieces[-1] += end
            pieces += [_row(edit.document, decision) + end for decision in edit.decisions]
    return "".join(pieces)


def _document_of(line: str) -> str:
    """The id of the document that a line belongs to."""
    return line.lstrip("\ufeff").replace("|", "\t", 1).split("\t", 1)[0]


def _is_removed(line: str, edit: "Edits") -> bool:
    columns = line.rstrip("\r").split("\t")
    if not _is_inline_row(columns):
        return False
    gone = edit.removed if len(columns) == 4 else edit.restored
    return any(fact.triple in gone for fact in _project(columns, edit.document))


def _project(columns: Sequence[str], document: Document) -> Iterator[Fact]:
    """The fact of a row, if it is one."""
    positions = {(entity.type, entity.id or ""): index for index, entity in enumerate(document.entities)}
    row = RelationRow(columns[1], columns[2], columns[3], "", 0)
    return project_rows([row], positions, document.id, DefectLog())


def _row(document: Document, decision: "Decision") -> str:
    """The row of a decision.

    Raises:
        DataError: no row could name this pair alone, because a gene and a species may share an id.
    """
    subject, object_ = (document.entities[index].id or "" for index in (decision.head, decision.tail))
    columns = [document.id, decision.relation, subject, object_]
    found = [fact.triple for fact in _project(columns, document)]
    if found != [decision.triple] or any(letter in "".join(columns) for letter in "\t\r\n"):
        place = f"relation {short_repr(decision.relation)}"
        expected = "a relation and ids that name this pair alone"
        found_ids = f"{subject}, {object_}"
        raise DataError(Defect(Kind.MALFORMED, "decisions", document.id, place, found_ids, expected))
    return "\t".join(columns + ([] if decision.holds else [FALSE]))
