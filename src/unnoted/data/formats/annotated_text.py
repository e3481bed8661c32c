"""Annotated text, as annotation tools have it, to and from documents: characters ↔ words, spans ↔ entities.

A tool marks spans and draws relations between them. A document has entities, which are clusters of spans, and
facts between entities: a relation between two spans is a fact of their entities, and a fact is written as a
relation between the two spans of its entities that are nearest to each other.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Any

from pydantic import Field

from unnoted.data.document import Document, Entity, Fact, Mention, Triple
from unnoted.data.entity_clustering import cluster_mentions
from unnoted.data.formats.records import ReadContext, Record, parse_as
from unnoted.data.tokenization import split_at, split_text, word_spans
from unnoted.data.validation import FieldNames
from unnoted.errors import DefectLog, Kind, fail
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from unnoted.data.decisions import Decision, Edits

TOOL_FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
"""How errors name the parts of documents that tools have under other names."""


@dataclass(frozen=True, slots=True)
class AnnotatedSpan:
    """A mention as a tool marks it: characters `start` to `end` (exclusive) of a text.

    Attributes:
        ref: the tool's name of the span, such as `T1`; relations refer to it.
        start: the first character.
        end: the first character after it.
        type: None for a span that only coreference gives an entity, such as a pronoun. No relation is attached
            to it when a fact is written, because tools have no such span in their lists of entities.
        name: the marked text, as the tool has it.
        id: its entity's id in a knowledge base, if it has one.
        place: where it stands in the source, for messages.
    """

    ref: str
    start: int
    end: int
    type: str | None
    name: str
    id: str | None = None
    place: str = ""


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

    @property
    def entities(self) -> list[list[AnnotatedSpan]]:
        """The spans of each entity; a cluster without any type is no entity."""
        groups = cluster_mentions(self.spans, self.links).groups
        return [group for group in groups if any(span.type is not None for span in group)]


# From annotated text to documents -------------------------------------------------------------------------------


def to_document(annotated: AnnotatedText, context: ReadContext, names: FieldNames = TOOL_FIELDS) -> Document:
    """The document of an annotated text: words cut where a span starts or ends, spans clustered, checked.

    A relation between two spans of one entity, or to something that is no span, is a defect and left out; the
    same relation between other spans of the same entities is the same fact.
    """
    _check_spans(annotated, context)
    spans = [(span.start, span.end) for span in annotated.spans]
    if annotated.words is None:
        split = split_text(annotated.text, spans)
    else:
        split = split_at(annotated.text, annotated.words, spans, annotated.sentences)

    def mention(span: AnnotatedSpan, type: str) -> Mention:
        place = split.locate(span.start, span.end)
        if place is None:  # the words of a damaged file may not be those of its text
            fail(Kind.MALFORMED, annotated.id, span.place, short_repr(span.name), "at least one word")
        return Mention(*place, intern(type), intern(span.name))

    entities, owners = build_entities(annotated, mention, context.log)
    facts, negatives = (
        tuple(project_to_entities(relations, owners, annotated.id, context.log))
        for relations in (annotated.relations, annotated.negatives)
    )
    labelled = tuple(Fact(*triple) for triple in facts)
    document = Document(annotated.id, split.sentences, tuple(entities), labelled, annotated.text, negatives)
    return context.validate(document, names)


def _check_spans(annotated: AnnotatedText, context: ReadContext) -> None:
    context.limits.check("mentions", len(annotated.spans), "mentions", annotated.id)
    length = len(annotated.text)
    known: set[str] = set()
    for span in annotated.spans:
        if span.ref in known:
            found = f"{short_repr(span.ref)} a second time"
            fail(Kind.MALFORMED, annotated.id, span.place, found, "a new name")
        known.add(span.ref)
        if not 0 <= span.start < span.end <= length:
            expected = f"0 <= start < end <= {length}, the characters of the text"
            found = f"{short_repr(span.start)} to {short_repr(span.end)}"
            fail(Kind.MALFORMED, annotated.id, f"{span.place}, start/end", found, expected)
        size = span.end - span.start
        context.limits.check("mention", size, "characters in one mention", annotated.id, span.place)
        if not annotated.text[span.start : span.end].strip():
            fail(Kind.MALFORMED, annotated.id, span.place, "a mention of blanks", "a mention with a word")
        if annotated.words is None:
            log_misaligned(annotated.text, span.start, span.end, annotated.id, span.place, context.log)
    for missing in (ref for refs in annotated.links for ref in refs if ref not in known):
        context.log.add(Kind.UNLINKED_ENTITY, annotated.id, "coreference", short_repr(missing), "a mention")


def build_entities(
    annotated: AnnotatedText, mention: Callable[[AnnotatedSpan, str], Mention], log: DefectLog
) -> tuple[list[Entity], dict[str, int]]:
    """The entities of an annotated text, and for each span the index of its entity.

    Args:
        annotated: whose spans are clustered; what a link cannot join is a defect.
        mention: makes the mention of a span and a type.
        log: takes what is wrong.
    """
    clusters = cluster_mentions(annotated.spans, annotated.links)
    for first, other in clusters.refused:
        expected = f"the id of {short_repr(first.name)}, which it is linked to; they stay apart"
        log.add(Kind.CONFLICTING_ID, annotated.id, other.place, short_repr(other.id), expected)
    entities: list[Entity] = []
    owners: dict[str, int] = {}
    for group in clusters.groups:
        kind = next((span.type for span in group if span.type is not None), None)
        if kind is None:
            found = short_repr(group[0].name)
            log.add(Kind.UNLINKED_MENTION, annotated.id, group[0].place, found, "a type")
            continue
        owners.update((span.ref, len(entities)) for span in group)
        identifier = next((span.id for span in group if span.id is not None), None)
        entities.append(Entity(tuple(mention(span, span.type or kind) for span in group), identifier))
    return entities, owners


def project_to_entities(
    relations: Iterable[SpanRelation], owners: Mapping[str, int], document: str, log: DefectLog
) -> Iterator[Triple]:
    """Relations between spans as triples of their entities, each once."""
    seen: set[Triple] = set()
    for each in relations:
        missing = next((ref for ref in (each.head, each.tail) if ref not in owners), None)
        if missing is not None:
            expected = "a mention of an entity"
            log.add(Kind.UNLINKED_ENTITY, document, each.place, short_repr(missing), expected)
            continue
        head, tail = owners[each.head], owners[each.tail]
        if head == tail:
            found = f"{short_repr(each.relation)} between two mentions of one entity"
            log.add(Kind.SELF_RELATION, document, each.place, found, "two entities")
            continue
        triple = head, tail, intern(each.relation)
        if triple not in seen:
            seen.add(triple)
            yield triple


_FIRST_WITHOUT_BLANKS = "\u0e00"
"""From Thai on, many scripts write words without blanks between them."""


def log_misaligned(text: str, start: int, end: int, document: str, place: str, log: DefectLog) -> None:
    """Log a span that begins or ends inside a word, or at a blank: mostly offsets that are off by one.

    Letters beyond those of Europe, India and the Near East do not count: words are not always apart there.
    """

    def is_letter(letter: str) -> bool:
        return letter < _FIRST_WITHOUT_BLANKS and letter.isalnum()

    for kind, name, at, edge in (
        (Kind.CUT_START, "start", start, text[start]),
        (Kind.CUT_END, "end", end, text[end - 1]),
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
            start, end = _character_span(mention, words, text)
            group.append(AnnotatedSpan(f"T{count}", start, end, mention.type, text[start:end], entity.id))
        groups.append(group)
    links = [[span.ref for span in group] for group in groups if len(group) > 1 and group[0].id is None]
    relations = [relation_between(groups, fact.triple) for fact in document.facts]
    negatives = [relation_between(groups, triple) for triple in document.negatives]
    spans = [span for group in groups for span in group]
    return AnnotatedText(document.id, text, spans, relations, links, negatives)


def relation_between(entities: Sequence[Sequence[AnnotatedSpan]], triple: Triple) -> SpanRelation:
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


def document_text(document: Document) -> str:
    """The text of a document, or its words with blanks between them and each sentence on a line."""
    if document.text is not None:
        return document.text
    return "\n".join(" ".join(sentence) for sentence in document.sentences)


def _character_span(
    mention: Mention, words: Sequence[Sequence[tuple[int, int]]], text: str
) -> tuple[int, int]:
    """The characters of a mention, with the blanks at its ends that its name has."""
    inside = words[mention.sentence][mention.start : mention.end]
    start, end = inside[0][0], inside[-1][1]
    name = mention.name
    before = len(name) - len(name.lstrip())
    after = len(name) - len(name.rstrip())
    if name.strip() and text[max(start - before, 0) : end + after] == name:
        return start - before, end + after
    return start, end


# Decisions as edits of relations between spans ------------------------------------------------------------------

UNNAMED = "related"
"""The relation of an arrow that was drawn and not labelled."""
NOTE = "unnoted"
"""The field that keeps what a tool has no place for: known negatives, and who decided."""


@dataclass(frozen=True, slots=True)
class RelationEdits:
    """What decisions change in one annotated text.

    Attributes:
        added: relations of facts that become labels, with their decisions.
        rejected: relations of facts that become known negatives, with their decisions.
        removed: relations that are deleted; several may be one fact.
        restored: known negatives that are deleted.
    """

    added: list[tuple[SpanRelation, "Decision"]] = field(default_factory=list)
    rejected: list[tuple[SpanRelation, "Decision"]] = field(default_factory=list)
    removed: list[SpanRelation] = field(default_factory=list)
    restored: list[SpanRelation] = field(default_factory=list)

    @classmethod
    def from_decisions(cls, annotated: AnnotatedText, edits: "Edits") -> "RelationEdits":
        """Decisions about the facts of an annotated text as changes of its relations."""
        entities = annotated.entities
        owners = {span.ref: number for number, group in enumerate(entities) for span in group}

        def attach(decisions: "list[Decision]") -> list[tuple[SpanRelation, "Decision"]]:
            return [(relation_between(entities, decision.triple), decision) for decision in decisions]

        def matching(relations: Iterable[SpanRelation], triples: set[Triple]) -> list[SpanRelation]:
            return [
                each
                for each in relations
                if (owners.get(each.head), owners.get(each.tail), each.relation) in triples
            ]

        return cls(
            attach(edits.added),
            attach(edits.rejected),
            matching(annotated.relations, edits.removed),
            matching(annotated.negatives, edits.restored),
        )

    @property
    def new(self) -> list[tuple[SpanRelation, "Decision"]]:
        """What is added, with the decisions."""
        return [*self.added, *self.rejected]


class NegativeRecord(Record):
    """A known negative in a note of ours."""

    head: str
    tail: str
    relation: str


class NoteRecord(Record):
    """A note of ours in the file of a tool."""

    negatives: list[NegativeRecord] = Field([])


def note_negatives(note: object, document: str, place: str) -> list[SpanRelation]:
    """The known negatives of a note; there are none where there is no note."""
    if note is None:
        return []
    listed = parse_as(NoteRecord, note, document, place).negatives
    return [
        SpanRelation(each.head, each.tail, each.relation, f"{place}.negatives[{number}]", number)
        for number, each in enumerate(listed)
    ]


def make_note(relations: Iterable[SpanRelation]) -> dict[str, Any]:
    """A note with known negatives."""
    listed = [{"head": each.head, "tail": each.tail, "relation": each.relation} for each in relations]
    return {"negatives": listed}


def update_note(note: object, edits: RelationEdits) -> dict[str, Any]:
    """A note after edits: its known negatives, and the provenance of every decision that has one."""
    fields = dict(note) if isinstance(note, dict) else {}
    restored = {each.item for each in edits.restored}
    kept = [each for number, each in enumerate(fields.get("negatives", [])) if number not in restored]
    kept += make_note(relation for relation, _ in edits.rejected)["negatives"]
    if kept or "negatives" in fields:
        fields["negatives"] = kept
    provenance = [
        {"head": relation.head, "tail": relation.tail, "relation": relation.relation}
        | {"holds": decision.holds, "provenance": dict(decision.provenance)}
        for relation, decision in edits.new
        if decision.provenance
    ]
    if provenance:
        fields["provenance"] = [*fields.get("provenance", []), *provenance]
    return fields
