"""A document drawn: its sentences with their entities, and beside them what became of each fact."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from unnoted.documents.schema import Document, Sentence
from unnoted.report.judged_facts import JudgedFact, State
from unnoted.report.page import fill

TYPE_COLOURS = 8
"""How many types have a colour of their own; the ninth has that of the first. The type is written, too."""

_CLOSING = frozenset({".", ",", ";", ":", "!", "?", ")", "]", "%", "'s", "’s"})
_OPENING = frozenset({"(", "["})


def draw_document(
    document: Document,
    facts: Sequence[JudgedFact],
    relation_names: Mapping[str, str] | None = None,
    number: int = 1,
    types: Sequence[str] | None = None,
) -> Markup:
    """A document and its facts as an `<article>`, for a page that has `style.css` and `highlight.js`.

    Args:
        document: what is drawn.
        facts: as `judge` gives them.
        relation_names: readable names; a relation without one is shown by its id.
        number: of the drawing in its page, from 1; ids are made from it.
        types: all entity types of the page, in the order of their colours; by default the document's own.
    """
    lines = drawn_mentions(document, entity_types([document]) if types is None else types)
    return fill(
        "drawing",
        document=document,
        sentences=list(map(drawn_sentence, document.sentences, lines)),
        groups=[(state, [each for each in enumerate(facts, 1) if each[1].state is state]) for state in State],
        methods=list(facts[0].found) if facts else [],
        names=relation_names or {},
        number=number,
    )


def legend(types: Sequence[str]) -> Markup:
    """What the symbols of facts and the colours of entity types mean."""
    coloured = [(name, index % TYPE_COLOURS) for index, name in enumerate(types)]
    return fill("legend", types=coloured, states=list(State))


def entity_types(documents: Iterable[Document]) -> list[str]:
    """All types of mentions, sorted."""
    entities = (entity for document in documents for entity in document.entities)
    return sorted({mention.type for entity in entities for mention in entity.mentions})


class DrawnMention(NamedTuple):
    """Where a mention begins and ends in its sentence, and the tags of its span."""

    start: int
    end: int
    opening: Markup
    closing: Markup


def drawn_mentions(document: Document, types: Sequence[str]) -> list[list[DrawnMention]]:
    """The mentions of each sentence, with their entities' numbers; an entity's first also shows its type."""
    lines: list[list[DrawnMention]] = [[] for _ in document.sentences]
    for index, entity in enumerate(document.entities):
        first = min((mention.span for mention in entity.mentions), default=None)
        for mention in dict.fromkeys(entity.mentions):
            opening = Markup('<span class="mention type-{}" data-entity="{}" title="entity {}, {}">').format(
                types.index(mention.type) % TYPE_COLOURS, index, index + 1, mention.type
            )
            shown = f"{mention.type} {index + 1}" if mention.span == first else index + 1
            closing = Markup('<small class="number">{}</small></span>').format(shown)
            lines[mention.sentence].append(DrawnMention(mention.start, mention.end, opening, closing))
    return lines


def drawn_sentence(words: Sentence, mentions: Sequence[DrawnMention]) -> Markup:
    """A sentence in which every mention is a span. One that would cross another is split.

    Example:
        >>> print(drawn_sentence(("Ada", "left", "."), [DrawnMention(0, 1, Markup("<b>"), Markup("</b>"))]))
        <b>Ada</b> left.
    """
    parts: list[Markup] = []
    open_spans: list[DrawnMention] = []
    for position, word in enumerate(words):
        broken = _close(parts, open_spans, position)
        if position and word not in _CLOSING and words[position - 1] not in _OPENING:
            parts.append(Markup(" "))
        starting = [drawn for drawn in mentions if drawn.start == position]
        # The longest opens first, so that the others lie within it.
        opened = sorted([*broken, *starting], key=lambda drawn: -drawn.end)
        parts += [drawn.opening for drawn in opened]
        open_spans += opened
        parts.append(escape(word))
    _close(parts, open_spans, len(words))
    return Markup("").join(parts)


def _close(parts: list[Markup], open_spans: list[DrawnMention], position: int) -> list[DrawnMention]:
    """Close what ends here, and what lies within it; gives what has to be opened again."""
    broken = []
    while any(drawn.end <= position for drawn in open_spans):
        innermost = open_spans.pop()
        ended = innermost.end <= position
        parts.append(innermost.closing if ended else Markup("</span>"))
        broken += [] if ended else [innermost]
    return broken
