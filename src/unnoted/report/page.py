"""Pages that need nothing else: the templates of this room, filled in. What is not `Markup` is escaped."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from unnoted.common.tables import Table
from unnoted.common.wording import count, counted, duration, percent


@cache
def environment() -> Environment:
    """The one environment: it escapes, and an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("unnoted.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    written = {"count": count, "counted": counted, "duration": duration, "percent": percent}
    made.filters |= written | {"html": table_html, "breakable": breakable}
    return made


def fill(template: str, **values: object) -> Markup:
    """A template with its values, as HTML that may stand in another.

    Args:
        template: the name of a file in `templates/`, without its ending `.html.j2`.
        values: what the template asks for.
    """
    return Markup(environment().get_template(f"{template}.html.j2").render(**values))


def table_html(table: Table) -> Markup:
    """A table as HTML; the best values are strong."""
    return fill("table", table=table)


def breakable(text: str) -> Markup:
    """A text that may continue on another line after each plus sign, as in names of models.

    Example:
        >>> print(breakable("A+B<C"))
        A+<wbr>B&lt;C
    """
    return escape(text).replace("+", Markup("+<wbr>"))
