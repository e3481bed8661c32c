"""A matplotlib figure as SVG within a page: it takes the page's colours and font, and asks for nothing.

Text stays text, so that it can be read aloud, searched and copied. The ink is the page's own colour and each
series has a colour that the page may set, so that one plot serves on light and on dark ground.
"""

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

INK = "#101010"
"""Drawn in the colour of the text around the plot."""

SERIES_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that the colour-blind tell apart (Okabe and Ito). The page may set others: `--series-1` and on."""

_CSS = {INK: "currentColor"} | {
    colour: f"var(--series-{number}, {colour})" for number, colour in enumerate(SERIES_COLOURS, start=1)
}
_COLOUR = re.compile("|".join(map(re.escape, _CSS)))
_FONT = re.compile(r"'DejaVu Sans'(, [^;]*)?")
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@contextmanager
def settings() -> Iterator[None]:
    """What a figure is made and written under. Afterwards matplotlib is as it was."""
    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "unnoted",
            "text.parse_math": False,  # a name with two dollar signs is a name
            "font.family": ["DejaVu Sans"],  # comes with matplotlib, and is wider than what browsers take
            "font.size": 10,
            "legend.fontsize": 9.5,
            "xtick.labelsize": 9.5,
            "ytick.labelsize": 9.5,
        }
    ):
        yield


def plain(text: str, longest: int = 36) -> str:
    r"""A text as a label: in one line, without control characters, and not longer than there is room.

    Example:
        >>> plain("one\n two"), plain("a" * 9, longest=5)
        ('one two', 'aaaa…')
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def inline_svg(figure: Figure, name: str, description: str) -> Markup:
    """A figure as an `<svg>` element. The same figure gives the same text.

    Args:
        figure: made under `settings`.
        name: goes before every id, so that several plots can stand in one page.
        description: what is read aloud in place of the plot.
    """
    stream = io.StringIO()
    with settings(), warnings.catch_warnings():
        # The browser draws the text, with whatever fonts it has: what this one lacks does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata=_NO_METADATA)
    root = ElementTree.fromstring(stream.getvalue())
    for element in root.iter():
        _adapt(element, name)
    _remove(root, "metadata", "style")
    for length in ("width", "height"):
        del root.attrib[length]
    root.attrib |= {
        "role": "img",
        "aria-label": description,
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))


def _adapt(element: ElementTree.Element, name: str) -> None:
    """Drop namespaces, which HTML does not need; make ids the plot's own; let the page colour and set it."""
    element.tag = _local(element.tag)
    attributes = {_local(key): value for key, value in element.attrib.items()}
    element.attrib.clear()
    for key, value in attributes.items():
        match key:
            case "id":
                value = f"{name}-{value}"
            case "href":
                value = value.replace("#", f"#{name}-", 1)
            case "style" | "clip-path":
                value = _COLOUR.sub(lambda match: _CSS[match[0]], value)
                value = _FONT.sub("var(--plot-font, sans-serif)", value)
                value = value.replace("url(#", f"url(#{name}-")
        element.set(key, value)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _remove(parent: ElementTree.Element, *tags: str) -> None:
    for child in list(parent):
        if child.tag in tags:
            parent.remove(child)
        else:
            _remove(child, *tags)
