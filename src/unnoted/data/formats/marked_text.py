"""Between marked text, as annotation tools have it, and documents: characters to words, marks to entities."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from sys import intern

from unnoted.data.document import Document, Entity, Fact, Mention, Triple
from unnoted.data.entity_clustering import cluster_mentions
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.reading import Reading
from unnoted.data.formats.word_edges import note_cuts
from unnoted.data.tokenization import SplitText, split_at, split_text
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DefectLog, Kind, fail
from unnoted.utils import short_repr

Span = tuple[int, int]


def document_of(marked: MarkedText, reading: Reading, names: FieldNames | None = None) -> Document:
    """The document of a marked text: words cut where a mark starts or ends, arcs lifted to entities, checked.

    An arc between two marks of one entity, or to something that is no mark, is a defect and left out; the
    same arc between other marks of the same entities is the same fact.
    """
    _check_marks(marked, reading)
    spans = [(mark.start, mark.end) for mark in marked.marks]
    if marked.words is None:
        split = split_text(marked.text, spans)
    else:
        split = split_at(marked.text, marked.words, spans, marked.sentences)
    entities: list[Entity] = []
    owners: dict[str, int] = {}
    for group in grouped(marked, reading.log):
        entity = _entity(group, split, marked.id, reading.log)
        if entity is not None:
            owners.update((mark.ref, len(entities)) for mark in group)
            entities.append(entity)
    facts, negatives = (
        tuple(lifted(arcs, owners, marked.id, reading.log)) for arcs in (marked.arcs, marked.negatives)
    )
    document = Document(
        marked.id,
        split.sentences,
        tuple(entities),
        tuple(Fact(*triple) for triple in facts),
        marked.text,
        negatives,
    )
    return validate(document, reading.log, names or FieldNames(), reading.vocabulary, reading.limits)


def _check_marks(marked: MarkedText, reading: Reading) -> None:
    reading.limits.check("mentions", len(marked.marks), "mentions", marked.id)
    length = len(marked.text)
    known: set[str] = set()
    for mark in marked.marks:
        if mark.ref in known:
            fail(Kind.MALFORMED, marked.id, mark.place, f"{short_repr(mark.ref)} a second time", "a new name")
        known.add(mark.ref)
        if not 0 <= mark.start < mark.end <= length:
            expected = f"0 <= start < end <= {length}, the characters of the text"
            found = f"{short_repr(mark.start)} to {short_repr(mark.end)}"
            fail(Kind.MALFORMED, marked.id, f"{mark.place}, start/end", found, expected)
        reading.limits.check(
            "mention", mark.end - mark.start, "characters in one mention", marked.id, mark.place
        )
        if not marked.text[mark.start : mark.end].strip():
            fail(Kind.MALFORMED, marked.id, mark.place, "a mention of blanks", "a mention with a word")
        if marked.words is None:
            note_cuts(marked.text, mark.start, mark.end, marked.id, mark.place, reading.log)
    for missing in (ref for refs in marked.links for ref in refs if ref not in known):
        reading.log.add(Kind.UNLINKED_ENTITY, marked.id, "coreference", short_repr(missing), "a mention")


def grouped(marked: MarkedText, log: DefectLog) -> list[list[Mark]]:
    """The marks that are of one entity; what a link cannot join is a defect."""
    found = cluster_mentions(marked.marks, marked.links)
    for first, other in found.refused:
        expected = f"the id of {short_repr(first.name)}, which it is linked to; they stay apart"
        log.add(Kind.CONFLICTING_ID, marked.id, other.place, short_repr(other.id), expected)
    return found.groups


def _entity(group: Sequence[Mark], split: SplitText, document: str, log: DefectLog) -> Entity | None:
    """The entity of some marks; None if no mark says of which type it is."""
    kind = next((mark.type for mark in group if mark.type is not None), None)
    if kind is None:
        log.add(Kind.UNLINKED_MENTION, document, group[0].place, short_repr(group[0].name), "a type")
        return None
    identifier = next((mark.id for mark in group if mark.id is not None), None)
    mentions = []
    for mark in group:
        span = split.locate(mark.start, mark.end)
        if span is None:  # the words of a damaged file may not be those of its text
            fail(Kind.MALFORMED, document, mark.place, short_repr(mark.name), "at least one word")
        mentions.append(Mention(*span, intern(mark.type or kind), intern(mark.name)))
    return Entity(tuple(mentions), identifier)


def lifted(
    arcs: Sequence[MarkedArc], owners: Mapping[str, int], document: str, log: DefectLog
) -> Iterator[Triple]:
    """Arcs between marks as triples of their entities, each once."""
    seen: set[Triple] = set()
    for arc in arcs:
        missing = next((ref for ref in (arc.head, arc.tail) if ref not in owners), None)
        if missing is not None:
            log.add(Kind.UNLINKED_ENTITY, document, arc.place, short_repr(missing), "a mention of an entity")
            continue
        head, tail = owners[arc.head], owners[arc.tail]
        if head == tail:
            found = f"{short_repr(arc.relation)} between two mentions of one entity"
            log.add(Kind.SELF_RELATION, document, arc.place, found, "two entities")
            continue
        triple = head, tail, intern(arc.relation)
        if triple not in seen:
            seen.add(triple)
            yield triple


def marked_of(document: Document) -> MarkedText:
    """A document as marked text; marks are called `T1`, `T2` and so on, entity by entity.

    Several mentions of an entity without id are linked, and a fact is an arc between the mentions of its
    entities that stand nearest to each other. A document without text gets one: its words with a blank
    between them, and each sentence on a line.

    Example:
        >>> ada, kelm = Entity((Mention(0, 0, 1, "PER", "Ada"),)), Entity((Mention(0, 3, 4, "LOC", "Kelm"),))
        >>> document = Document("1", (("Ada", "lives", "in", "Kelm"),), (ada, kelm), (Fact(0, 1, "home"),))
        >>> marked = marked_of(document)
        >>> [(mark.ref, mark.start, mark.end) for mark in marked.marks], marked.arcs[0].relation
        ([('T1', 0, 3), ('T2', 13, 17)], 'home')
    """
    text = text_of(document)
    words = word_spans(document, text)
    groups: list[list[Mark]] = []
    count = 0
    for entity in document.entities:
        group = []
        for mention in entity.mentions:
            count += 1
            start, end = _characters(mention, words, text)
            name = text[start:end]
            group.append(Mark(f"T{count}", start, end, mention.type, name, entity.id))
        groups.append(group)
    links = [[mark.ref for mark in group] for group in groups if len(group) > 1 and group[0].id is None]
    arcs = [arc_between(groups, fact.triple) for fact in document.facts]
    negatives = [arc_between(groups, triple) for triple in document.negatives]
    return MarkedText(document.id, text, [mark for group in groups for mark in group], arcs, links, negatives)


def arc_between(entities: Sequence[Sequence[Mark]], triple: Triple) -> MarkedArc:
    """A fact as an arc between the mentions of its entities that stand nearest to each other."""
    head, tail = nearest_marks(entities[triple[0]], entities[triple[1]])
    return MarkedArc(head.ref, tail.ref, triple[2])


def nearest_marks(heads: Sequence[Mark], tails: Sequence[Mark]) -> tuple[Mark, Mark]:
    """The two marks that start nearest to each other; where several do, the first in the text."""
    ordered = sorted(tails, key=_start)
    pairs = []
    for head in heads:
        place = bisect_left(ordered, head.start, key=_start)
        pairs += [(head, tail) for tail in ordered[max(place - 1, 0) : place + 1]]
    return min(pairs, key=lambda pair: (abs(pair[0].start - pair[1].start), pair[0].start, pair[1].start))


def _start(mark: Mark) -> int:
    return mark.start


def text_of(document: Document) -> str:
    """The text of a document, or its words with blanks between them and each sentence on a line."""
    if document.text is not None:
        return document.text
    return "\n".join(" ".join(sentence) for sentence in document.sentences)


def word_spans(document: Document, text: str) -> list[list[Span]]:
    """Where each word of each sentence stands in the text, whose words they are.

    Example:
        >>> document = Document("1", (("It", "fell", "."), ("So", "what", "?")), (), (), "It fell. So what?")
        >>> word_spans(document, document.text)[1]
        [(9, 11), (12, 16), (16, 17)]
    """
    places = (place for place, letter in enumerate(text) if not letter.isspace())
    found = []
    last = 0
    for sentence in document.sentences:
        spans = []
        for word in sentence:
            taken = [next(places) for letter in word if not letter.isspace()]
            last = taken[-1] + 1 if taken else last
            spans.append((taken[0], last) if taken else (last, last))
        found.append(spans)
    return found


def _characters(mention: Mention, words: Sequence[Sequence[Span]], text: str) -> Span:
    """Where a mention stands in the text, with the blanks at its ends that its name has."""
    inside = words[mention.sentence][mention.start : mention.end]
    start, end = inside[0][0], inside[-1][1]
    name = mention.name
    before = len(name) - len(name.lstrip())
    after = len(name) - len(name.rstrip())
    if name.strip() and text[max(start - before, 0) : end + after] == name:
        return start - before, end + after
    return start, end
