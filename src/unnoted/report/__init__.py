"""What people read: tables, plots, drawn documents, and one self-contained HTML page."""

from unnoted.report.demonstration import render, write
from unnoted.report.drawing import Drawing
from unnoted.report.grid_page import grid_page
from unnoted.report.grid_tables import table_csv, table_latex, table_markdown, table_text
from unnoted.report.page import Page, Section
from unnoted.report.plots import (
    DumbbellRow,
    MethodCurve,
    PartsRow,
    dumbbell_plot,
    parts_plot,
    precision_recall_plot,
)
from unnoted.report.states import JudgedFact, State, judge
from unnoted.report.tables import Column, Table

__all__ = [
    "Column",
    "Drawing",
    "DumbbellRow",
    "JudgedFact",
    "MethodCurve",
    "Page",
    "PartsRow",
    "Section",
    "State",
    "Table",
    "dumbbell_plot",
    "grid_page",
    "judge",
    "parts_plot",
    "precision_recall_plot",
    "render",
    "table_csv",
    "table_latex",
    "table_markdown",
    "table_text",
    "write",
]
