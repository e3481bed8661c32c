"""The templates of a room, as all pages are filled in from them."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from unnoted.common.wording import count, counted, duration, percent


def templates_of(package: str, folder: str = "templates") -> Environment:
    """The templates in a folder of a package: they escape, and an unknown name is an error.

    Example:
        >>> made = templates_of("unnoted.report")
        >>> made.from_string("{{ name }}: {{ 1200 | count }}").render(name="<b>")
        '&lt;b&gt;: 1,200'
    """
    made = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"count": count, "counted": counted, "duration": duration, "percent": percent}
    return made
