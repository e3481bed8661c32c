"""What a notebook shows for documents: fragments with their style and script, under a title."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization.document_html import SCRIPT, STYLE, render_document
from unnoted.data.visualization.fact_table import DrawableFact, FactTable
from unnoted.utils import format_count, plural

SHOWN = 10
"""How many documents of a corpus a notebook draws."""


def notebook_html(
    document: Document,
    facts: Iterable[DrawableFact] | FactTable = (),
    *,
    names: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
) -> Markup:
    """A document with all that it needs to be looked at, as `_repr_html_` gives it.

    Example:
        >>> html = notebook_html(Document("d1", (("It", "rained"),), ()))
        >>> "d1: 1 sentence, 0 entities, 0 facts" in html, "<style>" in html
        (True, True)
    """
    table = FactTable.of(facts)
    facts_drawn = sum(1 for _ in table.lines())
    parts = (
        plural(len(document.sentences), "sentence"),
        plural(len(document.entities), "entity", "entities"),
        plural(facts_drawn, "fact"),
    )
    drawn = render_document(document, table, names=names, types=types)
    return _cell(f"{document.id}: {', '.join(parts)}", drawn)


def notebook_list(
    title: str,
    documents: Sequence[Document],
    names: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
) -> Markup:
    """The first documents of many, each folded away, with its labelled facts.

    Example:
        >>> rained = Document("d1", (("It", "rained"),), ())
        >>> html = notebook_list("Two documents", [rained, rained])
        >>> html.count("<details"), "The first" in html
        (2, False)
    """
    folds = (
        Markup("<details{}><summary>{}</summary>{}</details>").format(
            Markup(" open") if number == 0 else "",
            f"{document.id}: {plural(len(document.facts), 'fact')}",
            render_document(document, document.facts, names=names, types=types),
        )
        for number, document in enumerate(documents[:SHOWN])
    )
    cut = f"The first {SHOWN} of {format_count(len(documents))} documents." if len(documents) > SHOWN else ""
    note = Markup('<div class="unnoted-document"><p>{}</p></div>').format(cut) if cut else Markup()
    return _cell(title, Markup("\n").join(folds) + note)


def _cell(title: str, content: Markup) -> Markup:
    return Markup(
        '<style>{}</style>\n<div class="unnoted-document"><p class="title">{}</p></div>\n'
        "{}\n<script>{}</script>"
    ).format(Markup(STYLE), title, content, Markup(SCRIPT))
