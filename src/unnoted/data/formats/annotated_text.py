"""Annotated text, as annotation tools have it, to and from documents: characters ↔ words, spans ↔ entities.

A tool marks spans and draws relations between them. A document has entities, which are clusters of spans, and
facts between entities: a relation between two spans is a fact of their entities, and a fact is written as a
relation between the two spans of its entities that are nearest to each other.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple

from pydantic import Field

from unnoted.data.document import Decision, Document, Entity, Fact, Mention, Triple
from unnoted.data.entity_clustering import AnnotatedSpan, cluster_mentions
from unnoted.data.formats.records import Edits, ReadContext, Record, parse_as
from unnoted.data.tokenization import split_text, word_spans
from unnoted.data.validation import FieldNames
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import Limits
from unnoted.utils import short_repr

TOOL_FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
"""How errors name the parts of documents that tools have under other names."""


@dataclass(frozen=True, slots=True)
class SpanRelation:
    """A relation between two spans, given by their refs.

    Attributes:
        head: the ref of a span.
        tail: the ref of another one.
        relation: from head to tail.
        place: where it stands in the source, for messages.
        item: the number of the item of the source that holds it, such as a line; several may share one.
    """

    head: str
    tail: str
    relation: str
    place: str = ""
    item: int = -1

    def to_json(self) -> dict[str, Any]:
        """Its spans and relation, for notes of ours in files of tools."""
        return {"head": self.head, "tail": self.tail, "relation": self.relation}


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text with spans and relations between them.

    Attributes:
        id: the document's id.
        text: its text.
        spans: mentions.
        relations: facts.
        links: groups of spans that coreference joins.
        negatives: relations of which a person said that they do not hold.
        words: the characters of each word, where the source knows them.
        sentences: the characters at which sentences start, where the source knows them.
    """

    id: str
    text: str
    spans: Sequence[AnnotatedSpan] = ()
    relations: Sequence[SpanRelation] = ()
    links: Sequence[Sequence[str]] = ()
    negatives: Sequence[SpanRelation] = ()
    words: Sequence[tuple[int, int]] | None = None
    sentences: Sequence[int] | None = None


# From annotated text to documents -------------------------------------------------------------------------------


def to_document(annotated: AnnotatedText, context: ReadContext) -> Document:
    """The document of an annotated text: words cut where a span starts or ends, spans clustered, checked.

    A relation between two spans of one entity, or to something that is no span, is a defect and left out; the
    same relation between other spans of the same entities is the same fact.
    """
    _check_spans(annotated, context)
    spans = [(span.start, span.end) for span in annotated.spans]
    breaks, by_rule = annotated.sentences or (), annotated.sentences is None
    split = split_text(annotated.text, spans, breaks, annotated.words, by_rule)

    def mention(span: AnnotatedSpan, type: str) -> Mention:
        place = split.locate(span.start, span.end)
        if place is None:  # the words of a damaged file may not be those of its text
            raise DataError(short_repr(span.name), "at least one word", annotated.id, span.place)
        return Mention(*place, intern(type), intern(span.name))

    document = build_document(annotated, split.sentences, mention, context.log, annotated.text)
    return context.validate(document, TOOL_FIELDS)


def build_document(
    annotated: AnnotatedText,
    sentences: tuple[tuple[str, ...], ...],
    mention: Callable[[AnnotatedSpan, str], Mention],
    log: DefectLog,
    text: str | None = None,
) -> Document:
    """The document of clustered spans and of relations between them."""
    clusters = cluster_mentions(annotated.spans, annotated.links)
    for first, other in clusters.refused:
        expected = f"the id of {short_repr(first.name)}, which it is linked to; they stay apart"
        log.add(DefectKind.CONFLICTING_ID, annotated.id, other.place, short_repr(other.id), expected)
    entities: list[Entity] = []
    owners: dict[str, int] = {}
    for group in clusters.groups:
        kind = next((span.type for span in group if span.type is not None), None)
        if kind is None:
            found = short_repr(group[0].name)
            log.add(DefectKind.UNLINKED_MENTION, annotated.id, group[0].place, found, "a type")
            continue
        owners.update((span.ref, len(entities)) for span in group)
        identifier = next((span.id for span in group if span.id is not None), None)
        entities.append(Entity(tuple(mention(span, span.type or kind) for span in group), identifier))
    facts = tuple(Fact(*triple) for triple in _project(annotated.relations, owners, annotated.id, log))
    negatives = tuple(_project(annotated.negatives, owners, annotated.id, log))
    return Document(annotated.id, sentences, tuple(entities), facts, text, negatives)


def _project(
    relations: Iterable[SpanRelation], owners: Mapping[str, int], document: str, log: DefectLog
) -> Iterator[Triple]:
    """Relations between spans as triples of their entities, each once."""
    seen: set[Triple] = set()
    for each in relations:
        missing = next((ref for ref in (each.head, each.tail) if ref not in owners), None)
        if missing is not None:
            expected = "a mention of an entity"
            log.add(DefectKind.UNLINKED_ENTITY, document, each.place, short_repr(missing), expected)
            continue
        triple = owners[each.head], owners[each.tail], intern(each.relation)
        if triple[0] == triple[1]:
            found = f"{short_repr(each.relation)} between two mentions of one entity"
            log.add(DefectKind.SELF_RELATION, document, each.place, found, "two entities")
        elif triple not in seen:
            seen.add(triple)
            yield triple


def _check_spans(annotated: AnnotatedText, context: ReadContext) -> None:
    context.limits.check("mentions", len(annotated.spans), "mentions", annotated.id)
    known: set[str] = set()
    for span in annotated.spans:
        if span.ref in known:
            found = f"{short_repr(span.ref)} a second time"
            raise DataError(found, "a new name", annotated.id, span.place)
        known.add(span.ref)
        offsets = f"{span.place}, start/end"
        check_span(annotated.text, span.start, span.end, annotated.id, span.place, offsets, context.limits)
        if annotated.words is None:
            log_misaligned(annotated.text, span.start, span.end, annotated.id, span.place, context.log)
    for missing in (ref for refs in annotated.links for ref in refs if ref not in known):
        context.log.add(
            DefectKind.UNLINKED_ENTITY, annotated.id, "coreference", short_repr(missing), "a mention"
        )


def check_span(
    text: str, start: int, end: int, document: str, place: str, offsets: str, limits: Limits
) -> None:
    """Refuse a mention that lies outside its text, is too long, or has no word; `offsets` is their place."""
    if not 0 <= start < end <= len(text):
        expected = f"0 <= start < end <= {len(text)}, the characters of the text"
        raise DataError(f"{short_repr(start)} to {short_repr(end)}", expected, document, offsets)
    limits.check("mention", end - start, "characters in one mention", document, place)
    if not text[start:end].strip():
        raise DataError(short_repr(text[start:end]), "at least one word", document, offsets)


_FIRST_WITHOUT_BLANKS = "\u0e00"
"""From Thai on, many scripts write words without blanks between them."""


def log_misaligned(text: str, start: int, end: int, document: str, place: str, log: DefectLog) -> None:
    """Log a span that begins or ends inside a word, or at a blank: mostly offsets that are off by one.

    Letters beyond those of Europe, India and the Near East do not count: words are not always apart there.
    """

    def is_letter(letter: str) -> bool:
        return letter < _FIRST_WITHOUT_BLANKS and letter.isalnum()

    for kind, name, at, edge in (
        (DefectKind.CUT_START, "start", start, text[start]),
        (DefectKind.CUT_END, "end", end, text[end - 1]),
    ):
        inside = 0 < at < len(text) and is_letter(text[at - 1]) and is_letter(text[at])
        if inside or edge.isspace():
            found = f"{at}, which makes it {short_repr(text[start:end])}"
            expected = f"the edge of a word in {short_repr(text[max(0, start - 15) : end + 15])}"
            log.add(kind, document, f"{place}.{name}", found, expected)


# From documents to annotated text -------------------------------------------------------------------------------


def from_document(document: Document) -> AnnotatedText:
    """A document as annotated text; spans are called `T1`, `T2` and so on, entity by entity.

    Several mentions of an entity without id are linked. A document without text gets one: its words with a
    blank between them, and each sentence on a line.

    Example:
        >>> ada, kelm = Entity((Mention(0, 0, 1, "PER", "Ada"),)), Entity((Mention(0, 3, 4, "LOC", "Kelm"),))
        >>> document = Document("1", (("Ada", "lives", "in", "Kelm"),), (ada, kelm), (Fact(0, 1, "home"),))
        >>> annotated = from_document(document)
        >>> [(span.ref, span.start, span.end) for span in annotated.spans], annotated.relations[0].relation
        ([('T1', 0, 3), ('T2', 13, 17)], 'home')
    """
    text = document_text(document)
    words = word_spans(document, text)
    groups: list[list[AnnotatedSpan]] = []
    count = 0
    for entity in document.entities:
        group = []
        for mention in entity.mentions:
            count += 1
            inside = words[mention.sentence][mention.start : mention.end]
            start, end = _with_blanks(inside[0][0], inside[-1][1], mention.name, text)
            group.append(AnnotatedSpan(f"T{count}", start, end, mention.type, text[start:end], entity.id))
        groups.append(group)
    links = [[span.ref for span in group] for group in groups if len(group) > 1 and group[0].id is None]
    relations = [_relation_between(groups, fact.triple) for fact in document.facts]
    negatives = [_relation_between(groups, triple) for triple in document.negatives]
    spans = [span for group in groups for span in group]
    return AnnotatedText(document.id, text, spans, relations, links, negatives)


def document_text(document: Document) -> str:
    """The text of a document, or its words with blanks between them and each sentence on a line."""
    if document.text is not None:
        return document.text
    return "\n".join(" ".join(sentence) for sentence in document.sentences)


def _with_blanks(start: int, end: int, name: str, text: str) -> tuple[int, int]:
    """The characters of a mention, with the blanks at its ends that its name has."""
    before = len(name) - len(name.lstrip())
    after = len(name) - len(name.rstrip())
    if name.strip() and text[max(start - before, 0) : end + after] == name:
        return start - before, end + after
    return start, end


def _relation_between(entities: Sequence[Sequence[AnnotatedSpan]], triple: Triple) -> SpanRelation:
    """A fact as a relation between the typed spans of its entities that start nearest to each other."""
    heads, tails = ([span for span in entities[index] if span.type is not None] for index in triple[:2])
    ordered = sorted(tails, key=_start)
    pairs = []
    for head in heads:
        place = bisect_left(ordered, head.start, key=_start)
        pairs += [(head, tail) for tail in ordered[max(place - 1, 0) : place + 1]]
    # Of several equally near pairs the first in the text.
    head, tail = min(pairs, key=lambda pair: (abs(pair[0].start - pair[1].start), *map(_start, pair)))
    return SpanRelation(head.ref, tail.ref, triple[2])


def _start(span: AnnotatedSpan) -> int:
    return span.start


# Decisions as edits of relations between spans ------------------------------------------------------------------

UNNAMED = "related"
"""The relation of an arrow that was drawn and not labelled."""
NOTE = "unnoted"
"""The field that keeps what a tool has no place for: known negatives, and who decided."""


class RelationEdits(NamedTuple):
    """What decisions change in one annotated text.

    Attributes:
        new: relations of facts that become labels or known negatives, with their decisions.
        removed: relations that are deleted; several may be one fact.
        restored: known negatives that are deleted.
        links: refs of the spans of each entity that was merged.
    """

    new: list[tuple[SpanRelation, Decision]]
    removed: list[SpanRelation]
    restored: list[SpanRelation]
    links: list[list[str]]

    @property
    def added(self) -> list[tuple[SpanRelation, Decision]]:
        """Relations of facts that become labels."""
        return [(each, decision) for each, decision in self.new if decision.holds]

    @property
    def rejected(self) -> list[tuple[SpanRelation, Decision]]:
        """Relations of facts that become known negatives."""
        return [(each, decision) for each, decision in self.new if not decision.holds]

    @property
    def provenance(self) -> list[dict[str, Any]]:
        """Who decided, for each decision that says so."""
        return [
            each.to_json() | {"holds": decision.holds, "provenance": dict(decision.provenance)}
            for each, decision in self.new
            if decision.provenance
        ]


def edit_relations(annotated: AnnotatedText, edits: Edits) -> RelationEdits:
    """Decisions about the facts of an annotated text as changes of its relations."""
    groups = cluster_mentions(annotated.spans, annotated.links).groups
    separate = [group for group in groups if any(span.type is not None for span in group)]
    merged = {group[0]: [span for index in group for span in separate[index]] for group in edits.groups}
    entities = [merged[first] for first in edits.same_as]
    owners = {span.ref: first for first, spans in merged.items() for span in spans}
    triples = edits.triples

    def is_gone(each: SpanRelation) -> bool:
        head, tail = owners.get(each.head), owners.get(each.tail)
        # Between mentions of one entity there is no fact: merging makes it so.
        return (head, tail, each.relation) in triples or (edits.merges and head is not None and head == tail)

    new = [(_relation_between(entities, decision.triple), decision) for decision in edits.decisions]
    removed = list(filter(is_gone, annotated.relations))
    links = [[span.ref for span in merged[group[0]]] for group in edits.groups if len(group) > 1]
    return RelationEdits(new, removed, list(filter(is_gone, annotated.negatives)), links)


class _NegativeRecord(Record):
    head: str
    tail: str
    relation: str


class _NoteRecord(Record):
    negatives: list[_NegativeRecord] = Field([])


def read_note(note: object, document: str, place: str) -> list[SpanRelation]:
    """The known negatives of a note of ours in the file of a tool; there are none where there is no note."""
    listed = [] if note is None else parse_as(_NoteRecord, note, document, place).negatives
    return [
        SpanRelation(each.head, each.tail, each.relation, f"{place}.negatives[{number}]", number)
        for number, each in enumerate(listed)
    ]


def make_note(negatives: Iterable[SpanRelation]) -> dict[str, Any]:
    """A note with known negatives."""
    return {"negatives": [each.to_json() for each in negatives]}


def update_note(note: object, edits: RelationEdits) -> dict[str, Any]:
    """A note after edits: its known negatives, and the provenance of every decision that has one."""
    fields = dict(note) if isinstance(note, dict) else {}
    restored = {each.item for each in edits.restored}
    kept = [each for number, each in enumerate(fields.get("negatives", [])) if number not in restored]
    kept += [each.to_json() for each, _ in edits.rejected]
    if kept or "negatives" in fields:
        fields["negatives"] = kept
    if edits.provenance:
        fields["provenance"] = [*fields.get("provenance", []), *edits.provenance]
    return fields
