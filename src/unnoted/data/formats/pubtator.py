"""PubTator text: ChemDisGene (relations in separate files) and BioCreative V CDR (relations inline).

Offsets count the characters of the title, ONE space, and the abstract. An entity is a type and an id: a
species and a gene may share a number. A mention of several ids (`A|B`, `A;B`) is a mention of each.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import TextIO, TypeAlias

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.relation_rows import Row
from unnoted.data.tokenization import split_text
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import Limits, numbered_lines
from unnoted.utils import short_repr

FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
UNLINKED = frozenset({"-", "-1", ""})
MUTATION_TYPES = frozenset({"SNP", "DNAMutation", "ProteinMutation", "Mutation"})
"""Types whose ids have `|` and `;` in their own syntax."""

Locate: TypeAlias = Callable[[int, int], tuple[int, int, int] | None]
"""From a character span to (sentence, start, end) in words."""

_HEADER = re.compile(r"([^\s|]+)\|([ta])\|(.*)", re.DOTALL)
_IDS = re.compile(r"[|;]")
_TYPED_RELATION = re.compile(r"(chem|gene|disease)_(chem|gene|disease):")
_TYPES = {"chem": "Chemical", "gene": "Gene", "disease": "Disease"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """One mention line."""

    line: int
    start: int
    end: int
    text: str
    type: str
    ids: str


def looks_like(line: str) -> bool:
    """Whether a line opens a PubTator document."""
    return _HEADER.match(line) is not None


def read(stream: TextIO, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a PubTator file, one at a time."""
    return reading.each(_blocks(stream, reading.limits), _document)


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


def _document(block: tuple[int, list[str]], reading: Reading) -> Document:
    first_line, lines = block
    log = reading.log
    log.line = first_line
    identifier, text, title_end, body = _header(first_line, lines, reading)
    rows = reading.rows.take(identifier)
    annotations = []
    for number, line in enumerate(lines[body:], start=first_line + body):
        columns = line.split("\t")
        if columns[0] != identifier:
            fail(Kind.MALFORMED, identifier, f"line {number}", short_repr(line), f"a line of {identifier}")
        if len(columns) == 4 and not is_offset(columns[1]):
            rows.append(Row(columns[1], columns[2], columns[3], log.file, number))
            log.relation_rows += 1
        else:
            annotations.append(_annotation(columns, number, identifier, text))
    split = split_text(text, [(item.start, item.end) for item in annotations], [title_end])
    entities, positions = _entities(annotations, split.locate, identifier, reading)
    facts = tuple(facts_of((row for row in rows if row.holds), positions, identifier, log))
    rejected = facts_of((row for row in rows if not row.holds), positions, identifier, log)
    negatives = tuple(fact.triple for fact in rejected)
    document = Document(identifier, split.sentences, entities, facts, text, negatives)
    return validate(document, log, FIELDS, reading.vocabulary, reading.limits)


def _header(first_line: int, lines: list[str], reading: Reading) -> tuple[str, str, int, int]:
    """The id, the whole text, where the title ends in it, and the index of the first line after them."""
    title = _HEADER.fullmatch(lines[0])
    if title is None or title[2] != "t":
        fail(Kind.MALFORMED, None, f"line {first_line}", short_repr(lines[0]), "a title line, 'ID|t|title'")
    identifier = reading.new_id(title[1], f"line {first_line}")
    abstract = _HEADER.fullmatch(lines[1]) if len(lines) > 1 else None
    if abstract is None:
        reading.log.add(
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
        expected = f"whole numbers, 0 <= start < end <= {len(text)}"
        found = f"{short_repr(start)} to {short_repr(end)}"
        fail(Kind.MALFORMED, identifier, f"{place}, start/end", found, expected)
    covered = text[int(start) : int(end)]
    if covered != mention:
        found = f"{short_repr(mention)} at {start} to {end}"
        fail(
            Kind.OFFSET_MISMATCH,
            identifier,
            f"{place}, mention",
            found,
            f"{short_repr(covered)}, the text there",
        )
    if not covered.strip() or not kind:
        fail(Kind.MALFORMED, identifier, place, short_repr(columns), "a mention with a word and a type")
    return Annotation(number, int(start), int(end), intern(mention), intern(kind), ids)


def is_offset(text: str) -> bool:
    """Digits as everybody writes them (Python takes those of every script), and not thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) < 20


def _entities(
    annotations: Iterable[Annotation], locate: Locate, identifier: str, reading: Reading
) -> tuple[tuple[Entity, ...], dict[tuple[str, str], int]]:
    """Entities in order of first mention, and where each (type, id) stands among them."""
    log = reading.log
    mentions: dict[tuple[str, str], list[Mention]] = {}
    for item in annotations:
        ids = _ids(item)
        place = f"line {item.line}"
        if not ids:
            log.add(Kind.UNLINKED_MENTION, identifier, place, short_repr(item.ids), "an id")
        elif len(ids) > 1:
            log.add(Kind.SHARED_MENTION, identifier, place, short_repr(item.ids), "one id")
        reading.limits.check("entities", len(ids), "ids of one mention", identifier, place)
        span = locate(item.start, item.end)
        assert span is not None  # a mention has a word: checked when its line was read
        for single in ids:
            mentions.setdefault((item.type, intern(single)), []).append(Mention(*span, item.type, item.text))
        reading.limits.check("entities", len(mentions), "entities or more", identifier, place)
    entities = tuple(Entity(tuple(found), single) for (_, single), found in mentions.items())
    return entities, {key: index for index, key in enumerate(mentions)}


def _ids(item: Annotation) -> list[str]:
    parts = [item.ids] if item.type in MUTATION_TYPES else _IDS.split(item.ids)
    return [single for single in dict.fromkeys(parts) if single not in UNLINKED]


def facts_of(
    rows: Iterable[Row], positions: Mapping[tuple[str, str], int], identifier: str, log: DefectLog
) -> Iterator[Fact]:
    """The rows as facts; each row that cannot be one is logged by reason."""
    by_id = {
        single: index for (_, single), index in reversed(list(positions.items()))
    }  # the first one counts
    for row in rows:
        types = _TYPED_RELATION.match(row.relation)
        ends: list[int] = []
        for number, single in enumerate((row.subject, row.object), start=1):
            kind = _TYPES[types[number]] if types else None
            index = positions.get((kind, single)) if kind else by_id.get(single)
            if index is None:
                reason = Kind.WRONG_TYPE if single in by_id else Kind.UNLINKED_ENTITY
                _drop(row, reason, single, f"a linked {kind or 'entity'}", identifier, log)
                break
            ends.append(index)
        if len(ends) < 2:
            continue
        if ends[0] == ends[1]:
            _drop(row, Kind.SELF_RELATION, row.subject, "two entities", identifier, log)
        else:
            yield Fact(ends[0], ends[1], intern(row.relation))


def _drop(row: Row, reason: Kind, found: str, expected: str, identifier: str, log: DefectLog) -> None:
    log.add(reason, identifier, f"line {row.line}", short_repr(found), expected, row.file)
