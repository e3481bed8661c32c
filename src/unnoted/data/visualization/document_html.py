"""A document as an HTML fragment: its sentences with their mentions, and a table of facts beside them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup, escape

from unnoted.data.document import Document, Fact, Sentence, entity_types
from unnoted.utils import templates_of

_TEMPLATES = files("unnoted.data.visualization") / "templates"

STYLE = (_TEMPLATES / "style.css").read_text("utf-8")
"""The style sheet of every page: documents first, then the pages around them."""

DOCUMENT_STYLE = STYLE.partition("/* Pages */")[0]
"""The part of it that a notebook needs."""

SLIDER_SCRIPT = (_TEMPLATES / "slider.js").read_text("utf-8")
"""Makes the slider over scores work. Once per page."""

SCRIPT = (_TEMPLATES / "highlight.js").read_text("utf-8")
"""Highlights the mentions of an entity or of a fact. Once per page; twice does no harm."""

TYPE_COLOURS = 8
"""Types with a colour of their own; the ninth has that of the first. The type is written, too."""

_CLOSING = frozenset({".", ",", ";", ":", "!", "?", ")", "]", "%", "'s", "’s"})
_OPENING = frozenset({"(", "["})


@cache
def environment() -> Environment:
    """The templates of this package."""
    return templates_of("unnoted.data.visualization")


# Facts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact, with the text of every further column, and its score where a page has a slider over scores."""

    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()
    cells: tuple[str, ...] = ()
    score: float | None = None


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts under one heading.

    Attributes:
        rows: the facts.
        title: the heading; none if it is empty.
        symbol: stands before each of the facts.
        name: of the class `state-NAME`, by which a page may colour the symbol.
    """

    rows: tuple[FactRow, ...]
    title: str = ""
    symbol: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class FactTable:
    """The facts that are shown with a document.

    Attributes:
        groups: in the order of reading.
        columns: the titles of the further columns.
        threshold: facts whose score is not above it are hidden.

    Example:
        >>> FactTable.from_facts([Fact(0, 1, "spouse", (2,))]).rows
        [FactRow(head=0, tail=1, relation='spouse', evidence=(2,), cells=(), score=None)]
    """

    groups: tuple[FactGroup, ...]
    columns: tuple[str, ...] = ()
    threshold: float | None = None

    @classmethod
    def from_facts(cls, facts: Iterable[Fact]) -> "FactTable":
        """Facts in one group without a heading."""
        return cls((FactGroup(tuple(FactRow(*fact.triple, fact.evidence) for fact in facts)),))

    @property
    def rows(self) -> list[FactRow]:
        """All facts, in the order of reading."""
        return [row for group in self.groups for row in group.rows]

    def is_hidden(self, row: FactRow) -> bool:
        """Whether a fact has a score that is not above the threshold."""
        return self.threshold is not None and row.score is not None and row.score <= self.threshold


# Sentences ------------------------------------------------------------------------------------------------------


class MentionTags(NamedTuple):
    """The words of a mention in its sentence, and the tags around them."""

    start: int
    end: int
    opening: Markup
    closing: Markup


def tag_mentions(
    document: Document, types: Sequence[str], highlighted: Sequence[int] = ()
) -> list[list[MentionTags]]:
    """The mentions of each sentence with their entities' numbers; the first of an entity also shows its type.

    Args:
        document: with the entities.
        types: in the order of their colours; a type that is not among them has the last colour.
        highlighted: the entities that are outlined as head and as tail.
    """
    lines: list[list[MentionTags]] = [[] for _ in document.sentences]
    for index, entity in enumerate(document.entities):
        first = min((mention.span for mention in entity.mentions), default=None)
        marks = "".join(
            f" {role}" for role, number in zip(("head", "tail"), highlighted, strict=False) if number == index
        )
        for mention in dict.fromkeys(entity.mentions):
            opening = Markup(
                '<span class="mention type-{}{}" data-entity="{}" data-type="{}" title="entity {}, {}">'
            ).format(_type_colour(mention.type, types), marks, index, mention.type, index + 1, mention.type)
            number = f"{mention.type} {index + 1}" if mention.span == first else index + 1
            closing = Markup('<small class="number">{}</small></span>').format(number)
            lines[mention.sentence].append(MentionTags(mention.start, mention.end, opening, closing))
    return lines


def _type_colour(type: str, types: Sequence[str]) -> int:
    """The number of a type's colour."""
    return types.index(type) % TYPE_COLOURS if type in types else TYPE_COLOURS - 1


def render_sentence(words: Sentence, mentions: Sequence[MentionTags]) -> Markup:
    """A sentence in which every mention is a span; a span that would cross another is split.

    Example:
        >>> print(render_sentence(("Ada", "left", "."), [MentionTags(0, 1, Markup("<b>"), Markup("</b>"))]))
        <b>Ada</b> left.
    """
    parts: list[Markup] = []
    open_spans: list[MentionTags] = []
    for position, word in enumerate(words):
        broken = _close_spans(parts, open_spans, position)
        if position and word not in _CLOSING and words[position - 1] not in _OPENING:
            parts.append(Markup(" "))
        starting = [mention for mention in mentions if mention.start == position]
        # The longest opens first, so that the others lie within it.
        opened = sorted([*broken, *starting], key=lambda mention: -mention.end)
        parts += [mention.opening for mention in opened]
        open_spans += opened
        parts.append(escape(word))
    _close_spans(parts, open_spans, len(words))
    return Markup("").join(parts)


def _close_spans(parts: list[Markup], open_spans: list[MentionTags], position: int) -> list[MentionTags]:
    """Close the spans that end here and those within them; returns the latter, which go on."""
    broken = []
    while any(mention.end <= position for mention in open_spans):
        innermost = open_spans.pop()
        ended = innermost.end <= position
        parts.append(innermost.closing if ended else Markup("</span>"))
        broken += [] if ended else [innermost]
    return broken


# The whole document ---------------------------------------------------------------------------------------------


def render_document(
    document: Document,
    facts: Iterable[Fact] | FactTable = (),
    *,
    names: Mapping[str, str] | None = None,
    highlighted: Sequence[int] = (),
    evidence: Collection[int] = (),
    types: Sequence[str] | None = None,
    anchor: str | None = None,
) -> Markup:
    """A document and its facts as an HTML fragment, for a page that has `STYLE` and `SCRIPT`.

    Whatever the document holds is escaped. Sentences and entities are counted from 1
    for people; `data-entity` and `data-sentence` have the numbers of the files, which begin at 0.

    Args:
        document: its own facts are shown only if they are given.
        facts: shown in a table beside the text.
        names: readable names of relations; a relation without one is shown by its id.
        highlighted: the entities that are outlined as head and as tail, in this order.
        evidence: the sentences that are highlighted.
        types: all entity types of the page, in the order of their colours; by default the document's own.
        anchor: the id of the fragment in its page, from which facts get theirs; without it, none has one.

    Example:
        >>> from unnoted.data import Entity, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "<Bo>")))
        >>> document = Document("d1", (("Ada", "met", "<Bo>"),), (ada, bo), (Fact(0, 1, "met", (0,)),))
        >>> html = render_document(document, document.facts, highlighted=(0, 1))
        >>> 'class="mention type-0 head" data-entity="0" data-type="PER"' in html, "<Bo>" in html
        (True, False)
    """
    mentions = tag_mentions(document, entity_types([document]) if types is None else types, highlighted)
    table = facts if isinstance(facts, FactTable) else FactTable.from_facts(facts)
    return Markup(
        environment()
        .get_template("document.html.j2")
        .render(
            document=document,
            sentences=list(map(render_sentence, document.sentences, mentions)),
            table=table,
            has_facts=bool(table.rows),
            names=names or {},
            highlighted=list(highlighted),
            evidence=sorted(evidence),
            anchor=anchor,
        )
    )


def render_types(types: Sequence[str]) -> Markup:
    """The legend of the colours of entity types.

    Example:
        >>> print(render_types(["LOC"]))
        <p class="types">Entities, by type: <span class="mention type-0">LOC</span></p>
    """
    spans = (
        Markup('<span class="mention type-{}">{}</span>').format(index % TYPE_COLOURS, name)
        for index, name in enumerate(types)
    )
    return Markup('<p class="types">Entities, by type: {}</p>').format(Markup(" ").join(spans))


def render_slider(
    threshold: float, lowest: float = 0.0, precision: Sequence[float | None] | None = None
) -> Markup:
    """A slider that shows the facts of a page with a score above its value; works with `SLIDER_SCRIPT`.

    Args:
        threshold: where it stands at first.
        lowest: the least value.
        precision: what is expected at the thresholds 0, 0.01, ..., 0.99; None if scores are not calibrated.

    Example:
        >>> print(render_slider(0.5, 0.25))
        <label class="slider">Score above <input id="threshold" type="range" min="0.25" max="1" step="any" value="0.5" data-precision="[]" aria-describedby="outcome"></label> <output id="outcome" for="threshold"></output>
    """
    return Markup(
        '<label class="slider">Score above <input id="threshold" type="range" min="{}" max="1" step="any" value="{}" '
        'data-precision="{}" aria-describedby="outcome"></label> <output id="outcome" for="threshold"></output>'
    ).format(lowest, threshold, json.dumps(precision or []))
