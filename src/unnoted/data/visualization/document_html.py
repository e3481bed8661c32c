"""A document as an HTML fragment: its sentences with their entities, and beside them its facts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization.arc_diagram import render_arcs
from unnoted.data.visualization.fact_table import DrawableFact, FactTable
from unnoted.data.visualization.mention_spans import (
    TYPE_COLOURS,
    drawn_mentions,
    drawn_sentence,
    entity_types,
)
from unnoted.utils import templates_of

_TEMPLATES = files("unnoted.data.visualization") / "templates"

STYLE = (_TEMPLATES / "document.css").read_text("utf-8")
"""The CSS of all drawn documents, once per page."""

SCRIPT = (_TEMPLATES / "highlight.js").read_text("utf-8")
"""Lights the mentions of an entity, and shows a fact in its text. Once per page; twice does no harm."""


@cache
def environment() -> Environment:
    """The templates of this room."""
    return templates_of("unnoted.data.visualization")


def render_document(
    document: Document,
    facts: Iterable[DrawableFact] | FactTable = (),
    *,
    names: Mapping[str, str] | None = None,
    outlined: Sequence[int] = (),
    supporting: Collection[int] = (),
    types: Sequence[str] | None = None,
    anchor: str | None = None,
    arcs: bool = True,
) -> Markup:
    """A document and its facts as an HTML fragment, for a page that has `STYLE` and `SCRIPT`.

    Whatever the document holds is escaped. Sentences and entities are numbered from 0, as in the files.

    Args:
        document: what is drawn; its own facts are drawn only if they are given.
        facts: listed beside the text, and as arcs below it; nothing of it where there is none.
        names: readable names of relations; a relation without one is shown by its id.
        outlined: the entities that are outlined as head and as tail, in this order.
        supporting: the sentences that are marked.
        types: all entity types of the page, in the order of their colours; by default the document's own.
        anchor: the id of the fragment in its page, from which facts get theirs; without it, none has one.
        arcs: whether facts are drawn as arcs, too.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "<Bo>")))
        >>> document = Document("d1", (("Ada", "met", "<Bo>"),), (ada, bo), (Fact(0, 1, "met", (0,)),))
        >>> html = render_document(document, document.facts, outlined=(0, 1))
        >>> 'class="mention type-0 head" data-entity="0" data-type="PER"' in html, "<Bo>" in html
        (True, False)
    """
    colours = entity_types([document]) if types is None else types
    lines = drawn_mentions(document, colours, outlined)
    table = FactTable.of(facts)
    drawn = environment().get_template("document.html.j2").render(
        document=document,
        sentences=list(map(drawn_sentence, document.sentences, lines)),
        table=table,
        listed=any(group.lines for group in table.groups),
        names=names or {},
        outlined=list(outlined),
        supporting=sorted(supporting),
        anchor=anchor,
        arcs=render_arcs(document, table, names=names, types=colours) if arcs else Markup(),
    )  # fmt: skip
    return Markup(drawn)


def render_types(types: Sequence[str]) -> Markup:
    """What the colours of entity types mean.

    Example:
        >>> print(render_types(["LOC"]))
        <p class="types">Entities, by type: <span class="mention type-0">LOC</span></p>
    """
    spans = (
        Markup('<span class="mention type-{}">{}</span>').format(index % TYPE_COLOURS, name)
        for index, name in enumerate(types)
    )
    return Markup('<p class="types">Entities, by type: {}</p>').format(Markup(" ").join(spans))
