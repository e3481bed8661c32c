"""Many documents with their facts as one page: folded, to be searched, from disk and without a network."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization.document_html import (
    SCRIPT,
    STYLE,
    environment,
    render_document,
    render_types,
)
from unnoted.data.visualization.fact_table import FactTable
from unnoted.data.visualization.mention_spans import entity_types
from unnoted.utils import format_count

MOST_DOCUMENTS = 1000
"""How many documents a page draws, so that a browser can hold it."""

AT_ONCE = 20
"""How many of them are in the page from the start; the others are kept as text until they are opened."""


class DrawnDocument(NamedTuple):
    """A document of a page, the facts that are drawn with it, and readable names of their relations."""

    document: Document
    table: FactTable
    names: Mapping[str, str]


def documents_page(
    title: str, lines: Sequence[str], documents: Sequence[DrawnDocument], total: int | None = None
) -> Markup:
    """A page of documents, the first one open.

    Args:
        title: of the page.
        lines: what is said below the title.
        documents: at most `MOST_DOCUMENTS` of them, or the page gets slow.
        total: how many there are in all, if some are left out: the page says so.

    Example:
        >>> rained = DrawnDocument(Document("d1", (("It", "rained"),), ()), FactTable(()), {})
        >>> page = documents_page("Facts", ["Some."], [rained], total=3)
        >>> "The first 1 of 3 documents" in page, page.count("<details")
        (True, 1)
    """
    types = entity_types(each.document for each in documents)
    left_out = total is not None and total > len(documents)
    cut = (
        f"The first {format_count(len(documents))} of {format_count(total or 0)} documents are drawn here."
        if left_out
        else ""
    )
    return Markup(
        environment().get_template("documents_page.html.j2").render(
            title=title,
            lines=[*lines, cut] if cut else lines,
            cut=cut,
            types=render_types(types) if types else "",
            at_once=AT_ONCE,
            later=len(documents) > AT_ONCE,
            entries=_entries(documents, types),
            style=Markup(STYLE),
            script=Markup(SCRIPT),
        )
    )  # fmt: skip


def _entries(
    documents: Iterable[DrawnDocument], types: Sequence[str]
) -> Iterable[tuple[Document, int, Markup]]:
    for number, (document, table, names) in enumerate(documents, start=1):
        facts = sum(1 for _ in table.lines())
        anchor = f"document-{number}"
        yield document, facts, render_document(document, table, names=names, types=types, anchor=anchor)
