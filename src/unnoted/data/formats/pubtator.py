"""PubTator text: ChemDisGene (relations in separate files) and BioCreative V CDR (relations inline).

Offsets count the characters of the title, ONE space, and the abstract. An entity is a type and an id: a
species and a gene may share a number. A mention of several ids (`A|B`, `A;B`) is a mention of each.

Relation rows are document, relation, subject id, object id, separated by tabs. A fifth column that says
`false` is our own: the row is a known negative.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import TextIO, TypeAlias

from unnoted.data.document import Decision, Document, Entity, Fact, Mention, Triple
from unnoted.data.entity_clustering import AnnotatedSpan
from unnoted.data.formats.annotated_text import TOOL_FIELDS
from unnoted.data.formats.records import DocumentFormat, Edits, ReadContext, RelationRow
from unnoted.data.tokenization import SplitText, split_text
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import Limits, numbered_lines, open_output, open_text
from unnoted.utils import short_repr

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


def _is_row(columns: Sequence[str]) -> bool:
    return len(columns) == 4 or columns[4:] == [FALSE]


def sniff_rows(start: str) -> bool:
    """Whether a file that starts like this is a separate file of relation rows."""
    return _is_row(start.split("\n", 1)[0].rstrip("\r").split("\t"))


def read_rows(stream: TextIO, context: ReadContext) -> None:
    """Keep the rows of a separate file until their documents come."""
    log = context.log
    for number, line in numbered_lines(stream, context.limits):
        text = line.rstrip("\r\n")
        columns = text.split("\t")
        if not text:
            continue
        if not _is_row(columns) or not all(columns):
            expected = "document, relation, subject and object, separated by tabs"
            place = f"line {number}"
            log.error(DataError(short_repr(text), expected, place=place, file=log.file))
            continue
        context.relation_rows.setdefault(columns[0], []).append(RelationRow(columns, log.file, number))
        log.relation_rows += 1


def log_unused_rows(context: ReadContext) -> None:
    """Log every row of a separate file whose document never came."""
    for document, rows in context.relation_rows.items():
        for row in rows:
            place, expected = f"line {row.line}", "a known document"
            context.log.add(DefectKind.UNKNOWN_DOCUMENT, document, place, row.columns[1], expected, row.file)
    context.relation_rows.clear()


# Documents ------------------------------------------------------------------------------------------------------


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
            raise DataError(
                found, limits.allowance("document"), place=f"line {number}", kind=DefectKind.TOO_LARGE
            )
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
            raise DataError(short_repr(line), f"a line of {identifier}", identifier, f"line {number}")
        if _is_inline_row(columns):
            rows.append(RelationRow(columns, log.file, number))
            log.relation_rows += 1
        else:
            annotations.append(_annotation(columns, number, identifier, text))
    split = split_text(text, [(item.start, item.end) for item in annotations], [title_end])
    entities, positions = _entities(annotations, split, identifier, context)
    facts, negatives = (
        list(_project_rows((row for row in rows if len(row.columns) == size), positions, identifier, log))
        for size in (4, 5)
    )
    labelled = tuple(Fact(*triple) for triple in facts)
    document = Document(identifier, split.sentences, entities, labelled, text, tuple(negatives))
    return context.validate(document, TOOL_FIELDS)


def _is_inline_row(columns: Sequence[str]) -> bool:
    return _is_row(columns) and not _is_offset(columns[1])


def _is_offset(text: str) -> bool:
    """Digits as everybody writes them (Python takes those of every script), and not thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) < 20


def _header(first_line: int, lines: list[str], context: ReadContext) -> tuple[str, str, int, int]:
    """The id, the whole text, where the title ends in it, and the index of the first line after them."""
    title = _HEADER.fullmatch(lines[0])
    if title is None or title[2] != "t":
        raise DataError(short_repr(lines[0]), "a title line, 'ID|t|title'", place=f"line {first_line}")
    identifier = context.register_id(title[1], f"line {first_line}")
    abstract = _HEADER.fullmatch(lines[1]) if len(lines) > 1 else None
    if abstract is None:
        context.log.add(
            DefectKind.NO_ABSTRACT, identifier, f"line {first_line}", "a title", "'ID|a|abstract' after it"
        )
        return identifier, title[3] + " ", len(title[3]), 1
    if (abstract[1], abstract[2]) != (identifier, "a"):
        expected = f"'{identifier}|a|abstract'"
        raise DataError(short_repr(lines[1]), expected, identifier, f"line {first_line + 1}")
    return identifier, f"{title[3]} {abstract[3]}", len(title[3]), 2


def _annotation(columns: list[str], number: int, identifier: str, text: str) -> AnnotatedSpan:
    place = f"line {number}"
    if len(columns) not in (6, 7):
        expected = "6 columns: document, start, end, mention, type, id (or 4: a relation)"
        raise DataError(f"{len(columns)} columns in {short_repr(columns)}", expected, identifier, place)
    _, start, end, mention, kind, ids = columns[:6]
    if not (_is_offset(start) and _is_offset(end) and int(start) < int(end) <= len(text)):
        found = f"{short_repr(start)} to {short_repr(end)}"
        expected = f"whole numbers, 0 <= start < end <= {len(text)}"
        raise DataError(found, expected, identifier, f"{place}, start/end")
    covered = text[int(start) : int(end)]
    if covered != mention:
        found, expected = (
            f"{short_repr(mention)} at {start} to {end}",
            f"{short_repr(covered)}, the text there",
        )
        raise DataError(found, expected, identifier, f"{place}, mention", kind=DefectKind.OFFSET_MISMATCH)
    if not covered.strip() or not kind:
        raise DataError(short_repr(columns), "a mention with a word and a type", identifier, place)
    return AnnotatedSpan(place, int(start), int(end), intern(kind), intern(mention), ids, place)


def _entities(
    annotations: Iterable[AnnotatedSpan], split: SplitText, identifier: str, context: ReadContext
) -> tuple[tuple[Entity, ...], Positions]:
    """Entities in order of first mention, and the index of each by type and id."""
    log = context.log
    mentions: dict[tuple[str, str], list[Mention]] = {}
    for item in annotations:
        kind, written = item.type or "", item.id or ""
        parts = [written] if kind in MUTATION_TYPES else _IDS.split(written)
        ids = [single for single in dict.fromkeys(parts) if single not in UNLINKED]
        if not ids:
            log.add(DefectKind.UNLINKED_MENTION, identifier, item.place, short_repr(written), "an id")
        elif len(ids) > 1:
            log.add(DefectKind.SHARED_MENTION, identifier, item.place, short_repr(written), "one id")
        context.limits.check("entities", len(ids), "ids of one mention", identifier, item.place)
        span = split.locate(item.start, item.end)
        assert span is not None  # a mention has a word: checked when its line was read
        for single in ids:
            mentions.setdefault((kind, intern(single)), []).append(Mention(*span, kind, item.name))
        context.limits.check("entities", len(mentions), "entities or more", identifier, item.place)
    entities = tuple(Entity(tuple(found), single) for (_, single), found in mentions.items())
    return entities, {key: index for index, key in enumerate(mentions)}


def _project_rows(
    rows: Iterable[RelationRow], positions: Positions, identifier: str, log: DefectLog
) -> Iterator[Triple]:
    """Rows as triples of entities; each row that cannot be one is logged by reason."""
    by_id: dict[str, int] = {}
    for (_, single), index in positions.items():
        by_id.setdefault(single, index)
    for row in rows:
        _, relation, *ids = row.columns[:4]
        types = _TYPED_RELATION.match(relation)
        ends: list[int] = []
        for number, single in enumerate(ids, start=1):
            kind = _TYPES[types[number]] if types else None
            end = positions.get((kind, single)) if kind else by_id.get(single)
            if end is None:
                reason = DefectKind.WRONG_TYPE if single in by_id else DefectKind.UNLINKED_ENTITY
                expected = f"a linked {kind or 'entity'}"
                log.add(reason, identifier, f"line {row.line}", short_repr(single), expected, row.file)
                break
            ends.append(end)
        if len(ends) == 2 and ends[0] == ends[1]:
            found, expected = short_repr(ids[0]), "two entities"
            log.add(DefectKind.SELF_RELATION, identifier, f"line {row.line}", found, expected, row.file)
        elif len(ends) == 2:
            yield ends[0], ends[1], intern(relation)


# Decisions written back -----------------------------------------------------------------------------------------


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the file with relation rows of some documents removed, and new ones at the end of their documents."""
    with open_text(path) as stream:
        text = stream.read()
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    # Each document's last line, after which its new rows are written.
    last = {_document_of(line): number for number, line in enumerate(lines) if line.strip()}
    written: list[str] = []
    for number, line in enumerate(lines):
        edit = edits.get(_document_of(line)) if line.strip() else None
        if edit is None or not _is_decided(line, edit):
            written.append(line)
        if edit is not None and last[edit.document.id] == number:
            written[-1] = written[-1].rstrip("\r") + end.removesuffix("\n")
            written += [_row(edit.document, decision) + end.removesuffix("\n") for decision in edit.decisions]
            written += [""] if number == len(lines) - 1 else []
    with open_output(to) as output:
        output.write("\n".join(written))


def _document_of(line: str) -> str:
    """The id of the document that a line belongs to."""
    return line.replace("|", "\t", 1).split("\t", 1)[0]


def _is_decided(line: str, edit: Edits) -> bool:
    """Whether a line is the row of a fact that was decided about."""
    columns = line.rstrip("\r").split("\t")
    return _is_inline_row(columns) and not edit.triples.isdisjoint(_project(columns, edit.document))


def _project(columns: Sequence[str], document: Document) -> Iterator[Triple]:
    """The fact of a row, if it is one."""
    positions = {(entity.type, entity.id or ""): index for index, entity in enumerate(document.entities)}
    return _project_rows([RelationRow(columns)], positions, document.id, DefectLog())


def _row(document: Document, decision: Decision) -> str:
    """The row of a decision.

    Raises:
        DataError: no row could name this pair alone, because a gene and a species may share an id.
    """
    subject, object_ = (document.entities[index].id or "" for index in (decision.head, decision.tail))
    columns = [document.id, decision.relation, subject, object_]
    is_named = list(_project(columns, document)) == [decision.triple]
    if not is_named or any(letter in "".join(columns) for letter in "\t\r\n"):
        place = f"relation {short_repr(decision.relation)}"
        expected = "a relation and ids that name this pair alone"
        raise DataError(f"{subject}, {object_}", expected, document.id, place, file="decisions")
    return "\t".join(columns + ([] if decision.holds else [FALSE]))


FORMAT = DocumentFormat(
    "pubtator", "PubTator", sniff=sniff, read=read, typed=True, update=update, keeps_provenance=False
)


ROWS_FORMAT = DocumentFormat("relation-rows", "relation rows", sniff=sniff_rows, read_relations=read_rows)
