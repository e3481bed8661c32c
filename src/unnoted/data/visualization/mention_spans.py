"""Sentences in which every mention is a span, however mentions lie within and across one another."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from unnoted.data.document import Document, Sentence

TYPE_COLOURS = 8
"""How many types have a colour of their own; the ninth has that of the first. The type is written, too."""

_CLOSING = frozenset({".", ",", ";", ":", "!", "?", ")", "]", "%", "'s", "’s"})
_OPENING = frozenset({"(", "["})


class DrawnMention(NamedTuple):
    """Where a mention begins and ends in its sentence, and the tags of its span."""

    start: int
    end: int
    opening: Markup
    closing: Markup


def drawn_mentions(
    document: Document, types: Sequence[str], outlined: Sequence[int] = ()
) -> list[list[DrawnMention]]:
    """The mentions of each sentence, with their entities' numbers; an entity's first also shows its type.

    Args:
        document: what is drawn.
        types: in the order of their colours; one that is not among them has the last colour.
        outlined: the entities that are outlined as head and as tail.
    """
    lines: list[list[DrawnMention]] = [[] for _ in document.sentences]
    roles = dict(zip(("head", "tail"), outlined, strict=False))
    for index, entity in enumerate(document.entities):
        first = min((mention.span for mention in entity.mentions), default=None)
        marks = "".join(f" {role}" for role, outlined_entity in roles.items() if outlined_entity == index)
        for mention in dict.fromkeys(entity.mentions):
            opening = Markup(
                '<span class="mention type-{}{}" data-entity="{}" data-type="{}" title="entity {}, {}">'
            ).format(type_colour(mention.type, types), marks, index, mention.type, index, mention.type)
            shown = f"{mention.type} {index}" if mention.span == first else index
            closing = Markup('<small class="number">{}</small></span>').format(shown)
            lines[mention.sentence].append(DrawnMention(mention.start, mention.end, opening, closing))
    return lines


def type_colour(kind: str, types: Sequence[str]) -> int:
    """The number of a type's colour.

    Example:
        >>> type_colour("PER", ["LOC", "PER"]), type_colour("unknown", ["LOC"])
        (1, 7)
    """
    return types.index(kind) % TYPE_COLOURS if kind in types else TYPE_COLOURS - 1


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


def entity_types(documents: Iterable[Document]) -> list[str]:
    """All types of mentions, sorted."""
    entities = (entity for document in documents for entity in document.entities)
    return sorted({mention.type for entity in entities for mention in entity.mentions})
