"""A sentence as HTML in which every mention is a span, however mentions lie over one another."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from unnoted.documents.schema import Document, Mention, Sentence

COLOURS = 8
"""How many types have a colour of their own; the ninth has that of the first. The type is written, too."""

_CLOSING = frozenset({".", ",", ";", ":", "!", "?", ")", "]", "%", "'s", "’s"})
_OPENING = frozenset({"(", "["})


@dataclass(frozen=True, slots=True)
class DrawnMention:
    """A mention with what is drawn of it.

    Attributes:
        mention: where it stands.
        entity: the index of its entity.
        colour: the number of its type's colour.
        first: whether it is the entity's first in reading order; that one also shows its type.
    """

    mention: Mention
    entity: int
    colour: int
    first: bool

    def opening(self, continued: bool) -> Markup:
        """The start of the span; a continued one was broken off by another mention's end."""
        return Markup('<span class="mention type-{}{}" data-entity="{}" title="{}">').format(
            self.colour,
            " continued" if continued else "",
            self.entity,
            f"entity {self.entity + 1}, {self.mention.type}",
        )

    def closing(self) -> Markup:
        """The end of the span, with the entity's number."""
        number = self.entity + 1
        shown = f"{self.mention.type} {number}" if self.first else number
        return Markup('<small class="number">{}</small></span>').format(shown)


def drawn_mentions(document: Document, types: Sequence[str]) -> list[list[DrawnMention]]:
    """The mentions of each sentence of a document.

    Args:
        document: any.
        types: all types, in the order of their colours.
    """
    lines: list[list[DrawnMention]] = [[] for _ in document.sentences]
    for index, entity in enumerate(document.entities):
        first = min((mention.span for mention in entity.mentions), default=None)
        for mention in dict.fromkeys(entity.mentions):
            colour = types.index(mention.type) % COLOURS
            lines[mention.sentence].append(DrawnMention(mention, index, colour, mention.span == first))
    return lines


def drawn_sentence(words: Sentence, mentions: Sequence[DrawnMention]) -> Markup:
    """A sentence with its mentions. Spans lie within one another; one that would cross another is split.

    Example:
        >>> ada = DrawnMention(Mention(0, 0, 1, "PER", "Ada"), entity=4, colour=0, first=True)
        >>> print(drawn_sentence(("Ada", "left", "."), [ada]))
        <span class="mention type-0" data-entity="4" title="entity 5, PER">Ada<small \
class="number">PER 5</small></span> left.
    """
    parts: list[Markup] = []
    open_spans: list[DrawnMention] = []
    for position, word in enumerate(words):
        broken = _close(parts, open_spans, position)
        if position and _are_apart(words[position - 1], word):
            parts.append(Markup(" "))
        starting = [drawn for drawn in mentions if drawn.mention.start == position]
        # The longest opens first, so that the others lie within it.
        for drawn in sorted([*broken, *starting], key=lambda drawn: -drawn.mention.end):
            parts.append(drawn.opening(continued=drawn in broken))
            open_spans.append(drawn)
        parts.append(escape(word))
    _close(parts, open_spans, len(words))
    return Markup("").join(parts)


def _close(parts: list[Markup], open_spans: list[DrawnMention], position: int) -> list[DrawnMention]:
    """Close what ends here, and what lies within it; gives what has to be opened again."""
    broken = []
    while any(drawn.mention.end <= position for drawn in open_spans):
        innermost = open_spans.pop()
        if innermost.mention.end <= position:
            parts.append(innermost.closing())
        else:
            parts.append(Markup("</span>"))
            broken.append(innermost)
    return broken


def _are_apart(word: str, following: str) -> bool:
    """Whether a space stands between two words, as is usual in print."""
    return following not in _CLOSING and word not in _OPENING
