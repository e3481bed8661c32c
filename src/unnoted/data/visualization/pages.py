"""Pages and notebook cells of rendered documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from unnoted.data.document import Document, Fact, entity_types
from unnoted.data.visualization.document_html import (
    DOCUMENT_STYLE,
    SCRIPT,
    SLIDER_SCRIPT,
    STYLE,
    FactTable,
    environment,
    render_document,
    render_types,
)
from unnoted.utils import format_count, plural

MOST_DOCUMENTS = 1000
"""Documents of one page, so that a browser can hold it."""

AT_ONCE = 20
"""Documents that are in a page from the start; the others are kept as text until they are opened."""

NOTEBOOK_DOCUMENTS = 10
"""Documents of a corpus that a notebook shows."""


class DocumentEntry(NamedTuple):
    """A document of a page, the facts that are shown with it, and readable names of their relations."""

    document: Document
    table: FactTable
    names: Mapping[str, str]


def documents_page(
    title: str,
    lines: Sequence[str],
    documents: Sequence[DocumentEntry],
    total: int | None = None,
    notice: str = "",
    slider: Markup | None = None,
) -> Markup:
    """A page of folded documents with a search field, which needs no network; the first document is open.

    Args:
        title: of the page.
        lines: below the title.
        documents: at most `MOST_DOCUMENTS` of them, or the page gets slow.
        total: how many there are in all, if some are left out: the page says so.
        notice: what has to be known before anything else, in large type.
        slider: over the scores of the facts, if they have any.

    Example:
        >>> rained = DocumentEntry(Document("d1", (("It", "rained"),), ()), FactTable(()), {})
        >>> page = documents_page("Facts", ["Some."], [rained], total=3)
        >>> "The first 1 of 3 documents" in page, page.count("<details")
        (True, 1)
    """
    types = entity_types(entry.document for entry in documents)
    entries = (
        (
            document,
            [row for row in table.rows if not table.is_hidden(row)],
            [row.score for row in table.rows],
            render_document(document, table, names=names, types=types, anchor=f"document-{number}"),
        )
        for number, (document, table, names) in enumerate(documents, start=1)
    )
    cut = ""
    if total is not None and total > len(documents):
        counts = f"{format_count(len(documents))} of {format_count(total)}"
        cut = f"The first {counts} documents are shown here."
    return Markup(
        environment()
        .get_template("pages.html.j2")
        .render(
            title=title,
            notice=notice,
            lines=[*lines, cut] if cut else lines,
            cut=cut,
            types=render_types(types) if types else "",
            at_once=AT_ONCE,
            later=len(documents) > AT_ONCE,
            entries=entries,
            style=Markup(STYLE),
            script=Markup(SCRIPT),
            slider=slider,
            slider_script=Markup(SLIDER_SCRIPT),
        )
    )


def notebook_html(
    document: Document,
    facts: Iterable[Fact] | FactTable = (),
    *,
    names: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
) -> Markup:
    """A document with style and script, for `_repr_html_`.

    Example:
        >>> html = notebook_html(Document("d1", (("It", "rained"),), ()))
        >>> "d1: 1 sentence, 0 entities, 0 facts" in html, "<style>" in html
        (True, True)
    """
    table = facts if isinstance(facts, FactTable) else FactTable.from_facts(facts)
    parts = (
        plural(len(document.sentences), "sentence"),
        plural(len(document.entities), "entity", "entities"),
        plural(len(table.rows), "fact"),
    )
    rendered = render_document(document, table, names=names, types=types)
    return _render_cell(f"{document.id}: {', '.join(parts)}", rendered)


def notebook_list(
    title: str,
    documents: Sequence[Document],
    names: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
) -> Markup:
    """The first documents of many, folded, with their labelled facts.

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
        for number, document in enumerate(documents[:NOTEBOOK_DOCUMENTS])
    )
    note = Markup()
    if len(documents) > NOTEBOOK_DOCUMENTS:
        cut = f"The first {NOTEBOOK_DOCUMENTS} of {format_count(len(documents))} documents."
        note = Markup('<div class="unnoted-document"><p>{}</p></div>').format(cut)
    return _render_cell(title, Markup("\n").join(folds) + note)


def _render_cell(title: str, content: Markup) -> Markup:
    return Markup(
        '<style>{}</style>\n<div class="unnoted-document"><p class="title">{}</p></div>\n'
        "{}\n<script>{}</script>"
    ).format(Markup(DOCUMENT_STYLE), title, content, Markup(SCRIPT))
