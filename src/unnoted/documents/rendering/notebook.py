"""What a notebook shows for a document: the fragment with its style and script, under a title."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from unnoted.common.wording import counted
from unnoted.documents.rendering.document_html import SCRIPT, STYLE, render_document
from unnoted.documents.rendering.fact_table import DrawableFact, FactTable
from unnoted.documents.schema import Document


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
    title = describe(document, sum(1 for _ in table.lines()))
    return Markup("<style>{}</style>\n{}\n{}<script>{}</script>").format(
        Markup(STYLE),
        Markup('<div class="unnoted-document"><p class="title">{}</p></div>').format(title),
        render_document(document, table, names=names, types=types),
        Markup(SCRIPT),
    )


def describe(document: Document, facts: int) -> str:
    """A document in one line.

    Example:
        >>> describe(Document("d1", (("It", "rained"),), ()), 2)
        'd1: 1 sentence, 0 entities, 2 facts'
    """
    parts = (
        counted(len(document.sentences), "sentence"),
        counted(len(document.entities), "entity", "entities"),
        counted(facts, "fact"),
    )
    return f"{document.id}: {', '.join(parts)}"
