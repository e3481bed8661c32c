"""A document with its facts as HTML and SVG: one renderer for notebooks, reports and web pages.

`render_document` gives a fragment. A page has `STYLE` and `SCRIPT` once; without the script everything can
still be read. All of it lies within the class `unnoted-document`, so that nothing else in a page changes.
"""

from unnoted.data.visualization.arc_diagram import render_arcs
from unnoted.data.visualization.document_html import (
    SCRIPT,
    STYLE,
    render_document,
    render_types,
)
from unnoted.data.visualization.documents_page import MOST_DOCUMENTS, DrawnDocument, documents_page
from unnoted.data.visualization.fact_table import FactCell, FactGroup, FactLine, FactTable
from unnoted.data.visualization.mention_spans import entity_types
from unnoted.data.visualization.notebook import notebook_html, notebook_list

__all__ = [
    "MOST_DOCUMENTS",
    "SCRIPT",
    "STYLE",
    "DrawnDocument",
    "FactCell",
    "FactGroup",
    "FactLine",
    "FactTable",
    "documents_page",
    "entity_types",
    "notebook_html",
    "notebook_list",
    "render_arcs",
    "render_document",
    "render_types",
]
