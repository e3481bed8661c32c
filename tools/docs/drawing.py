"""How the drawings of the documentation look, and a figure as an SVG that stands alone."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 5.6
"""Inches. At the width of a phone a letter is then still 9 pixels high."""

FAINT = 0.22
"""How opaque auxiliary lines and areas are."""

INK = "#101010"
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7")
LINES = ("--", "-", "-.", ":")

Line = tuple[str, Sequence[float] | np.ndarray, Sequence[float] | np.ndarray]
"""A label, and where the points of a line lie."""


def look(index: int) -> dict[str, Any]:
    """What a line is drawn with: each differs from the next in colour and dashes."""
    return {"color": COLOURS[index], "linestyle": LINES[index], "linewidth": 1.8}


def new_axes(x: str, y: str, height: float = 3.6) -> tuple[Figure, Axes]:
    """A figure with two axes instead of a box."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor="white")
    axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw(figure: Figure, axes: Axes, lines: Sequence[Line], columns: int) -> Figure:
    """Draw lines, with a legend above the plot, where it covers nothing."""
    for index, (label, x, y) in enumerate(lines):
        axes.plot(x, y, label=label, **look(index))
    figure.legend(loc="outside upper center", ncols=columns, frameon=False, handlelength=3.2)
    return figure


def svg(figure: Figure, title: str) -> str:
    """A figure as SVG. Text stays text, so that it can be searched and read aloud."""
    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "unnoted"}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata={**nothing, "Title": title})
    # Browsers have a sans-serif; the plotting library's own font is seldom among theirs.
    return stream.getvalue().replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
