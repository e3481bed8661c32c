"""Documents with their facts as HTML, the same in notebooks, reports and web pages.

`render_document` gives a fragment. A page has `STYLE` and `SCRIPT` once; without the script everything can
still be read. All of it lies within the class `unnoted-document`, so that nothing else in a page changes.
"""

from unnoted.data.visualization.document_html import (
    SCRIPT,
    SLIDER_SCRIPT,
    STYLE,
    FactGroup,
    FactRow,
    FactTable,
    render_document,
    render_slider,
    render_types,
)
from unnoted.data.visualization.pages import (
    MOST_DOCUMENTS,
    DocumentEntry,
    documents_page,
    notebook_html,
    notebook_list,
)

__all__ = [
    "MOST_DOCUMENTS",
    "SCRIPT",
    "SLIDER_SCRIPT",
    "STYLE",
    "DocumentEntry",
    "FactGroup",
    "FactRow",
    "FactTable",
    "documents_page",
    "notebook_html",
    "notebook_list",
    "render_document",
    "render_slider",
    "render_types",
]
