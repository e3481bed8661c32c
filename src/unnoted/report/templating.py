"""The templates of this room, filled in: everything that is not `Markup` is escaped."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from unnoted.report.formats import count

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The one environment: it escapes, and an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    made.filters["count"] = count
    made.filters["breakable"] = breakable
    return made


def breakable(text: str) -> Markup:
    """A text that may go on in another line after each plus sign, as in names of models.

    Example:
        >>> print(breakable("A+B<C"))
        A+<wbr>B&lt;C
    """
    return escape(text).replace("+", Markup("+<wbr>"))


def fill(template: str, **values: object) -> Markup:
    """A template with its values, as HTML that may stand in another.

    Args:
        template: the name of a file in `templates/`, without its ending `.html.j2`.
        values: what the template asks for.
    """
    return Markup(environment().get_template(f"{template}.html.j2").render(**values))
