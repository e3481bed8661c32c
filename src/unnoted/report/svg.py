"""A matplotlib plot as SVG within a page: it takes the page's colours and font, and fetches nothing.

Text stays text, so that it can be read aloud, searched and copied. The ink is the page's own colour and each
series has a colour that the page may set, so that one plot serves on light and on dark ground.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#101010"
"""Drawn in the colour of the text around the plot."""

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that the colour-blind tell apart (Okabe and Ito). The page may set others: `--series-1` and on."""

LINES = ("--", "-", "-.", ":", *((0, dashes) for dashes in ((6, 1.2, 1, 1.2, 1, 1.2), (2.2, 1), (8, 2.5))))
MARKERS = ("o", "s", "^", "D", "v", "P")

WIDTH = 5.6
"""Inches. At the width of a phone a letter is then still 9 pixels high."""

LINE_OF_KEYS, KEY = 66, 7
"""How many letters fit side by side in the legend, and how many each key needs beside its title."""

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "unnoted",  # the same plot gets the same ids
    "text.parse_math": False,  # a name with two dollar signs is a name
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, and is wider than what browsers take
    **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 9.5),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK),
    "axes.edgecolor": f"{INK}73",
    "grid.alpha": 0.11,
    **dict.fromkeys(("axes.facecolor", "figure.facecolor"), "none"),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "legend.handlelength": 2.6,
}

_CSS = {INK: "currentColor"} | {
    colour: f"var(--series-{number}, {colour})" for number, colour in enumerate(COLOURS, start=1)
}
_COLOUR = re.compile("|".join(map(re.escape, _CSS)))
_FONT = re.compile(r"(?:'|&apos;)DejaVu Sans(?:'|&apos;)(?:, [^;\"]*)?")
_LEFT_OUT = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)


@contextmanager
def style() -> Iterator[None]:
    """What a plot is made under, as `@style()` above its function. Afterwards matplotlib is as it was."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # The browser draws the text, with whatever fonts it has: what this one lacks does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def look(index: int, size: float = 0, *, joined: bool = True, solid: bool | None = None) -> dict[str, Any]:
    """What the series at an index is drawn with, as `Axes.plot` takes it; neighbours differ in all of it.

    The first, by custom the baseline, is open and dashed, the others are filled. With `solid` given, what was
    measured is filled and solid at every index, and what was published open and dashed.
    """
    colour = (*COLOURS, INK)[index % (len(COLOURS) + 1)]
    line = LINES[index % len(LINES)] if solid is None else "-" if solid else "--"
    filled = index > 0 if solid is None else solid
    return {
        **{"color": colour, "linestyle": line if joined else "none", "linewidth": 1.8},
        **{"marker": MARKERS[index % len(MARKERS)] if size else "none", "markersize": size},
        **{
            "markerfacecolor": colour if filled else "none",
            "markeredgewidth": 1.6,
            "zorder": 4 if size else 3,
        },
    }


def new_axes(height: float, **properties: Any) -> Axes:  # noqa: ANN401 - whatever `Axes.set` takes
    """The axes of a new plot of some inches, with limits, labels and so on as `Axes.set` takes them."""
    axes = Figure(figsize=(WIDTH, height), layout="constrained").subplots()
    axes.set(**properties)
    return axes


def plain(text: str, longest: int = 36) -> str:
    r"""A text as a label: in one line, without control characters, and not longer than there is room.

    Example:
        >>> plain("one\n two"), plain("a" * 9, longest=5)
        ('one two', 'aaaa…')
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def inline_svg(axes: Axes, name: str, description: str) -> Markup:
    """A plot with a legend of what has a label, as an `<svg>` element. The same plot gives the same text.

    The name goes before every id and is unique in the page; the description is read aloud.
    """
    figure, (keys, titles) = axes.figure, axes.get_legend_handles_labels()
    if keys:
        columns = LINE_OF_KEYS // (max(map(len, titles)) + KEY)
        figure.legend(keys, titles, loc="outside upper center", ncols=max(min(columns, len(keys)), 1))
    stream = io.StringIO()
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(stream, format="svg", metadata=metadata)  # type: ignore[union-attr]
    _, view, inner = re.split(r'<svg[^>]*(viewBox="[^"]*")[^>]*>', _LEFT_OUT.sub("", stream.getvalue()))
    start = f'<svg {view} role="img" aria-label="{escape(description)}" style="stroke-linejoin: round">'
    # Only tags are touched: in matplotlib's SVG no text and no attribute has an angle bracket of its own.
    return Markup(start + re.sub(r"<[^>]*>", lambda tag: _adapted(tag[0], name), inner).strip())


def standalone(drawn: Markup) -> str:
    """What `inline_svg` gave as a file of its own.

    Example:
        >>> standalone(Markup('<svg viewBox="0 0 1 1"></svg>'))
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
    """
    return str(drawn).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _adapted(tag: str, name: str) -> str:
    """A tag whose ids are the plot's own and whose colours and font are the page's."""
    tag = _COLOUR.sub(lambda colour: _CSS[colour[0]], tag)
    tag = _FONT.sub("var(--plot-font, sans-serif)", tag).replace("xlink:href", "href")
    return re.sub(r' id="|href="#|url\(#', lambda before: f"{before[0]}{name}-", tag)
