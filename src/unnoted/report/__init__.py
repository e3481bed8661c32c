"""What people read: tables, plots, drawn documents and self-contained HTML pages, all made from records.

`write_table` writes a table of runs in every format, `demo_page` makes the page of `unnoted demo`, and
`draw_document` draws one document with what became of its facts.
"""

from unnoted.report.demo_page import demo_page
from unnoted.report.drawing import draw_document
from unnoted.report.grid_page import grid_page, write_statistics, write_table
from unnoted.report.judged_facts import judge

__all__ = ["demo_page", "draw_document", "grid_page", "judge", "write_statistics", "write_table"]
