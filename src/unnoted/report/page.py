"""Pages that need nothing else: the templates of this room, filled in. What is not `Markup` is escaped."""

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from unnoted.data.visualization import SCRIPT, STYLE
from unnoted.experiments.tables import Table
from unnoted.utils import templates_of


@cache
def environment() -> Environment:
    """The templates of this room, with what they call."""
    made = templates_of("unnoted.report")
    made.filters["html"] = table_html
    made.globals |= {"document_style": Markup(STYLE), "document_script": Markup(SCRIPT)}
    return made


def fill(template: str, **values: object) -> Markup:
    """A template of `templates/`, named without its ending `.html.j2`, with its values."""
    return Markup(environment().get_template(f"{template}.html.j2").render(**values))


def table_html(table: Table) -> Markup:
    """A table as HTML; the best values are strong."""
    return fill("table", table=table)
