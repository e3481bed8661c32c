"""How plots look: what each method is drawn with, plain axes, and a legend that covers nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from unnoted.report.svg import INK, SERIES_COLOURS

WIDTH = 5.6
"""Inches. At the width of a phone a letter is then still 9 pixels high."""

FAINT = 0.22
"""How much ink auxiliary lines have."""

LONGEST_OF_TWO = 24
"""How many letters two titles may have to stand side by side."""

LineStyle: TypeAlias = Literal["--", "-", "-.", ":"] | tuple[float, tuple[float, ...]]
_LINES: tuple[LineStyle, ...] = (
    "--",
    "-",
    "-.",
    ":",
    (0.0, (6.0, 1.2, 1.0, 1.2, 1.0, 1.2)),
    (0.0, (2.2, 1.0)),
    (0.0, (8.0, 2.5)),
)
_MARKERS = ("o", "s", "^", "D", "v", "P")
_COLOURS = (*SERIES_COLOURS, INK)


@dataclass(frozen=True, slots=True)
class Series:
    """What a method is drawn with. Each differs from the next in colour, line and marker."""

    colour: str
    line: LineStyle
    marker: str
    filled: bool

    @classmethod
    def of(cls, index: int) -> "Series":
        """The look of the method at an index. The first, by custom the baseline, is open and dashed."""
        return cls(
            _COLOURS[index % len(_COLOURS)],
            _LINES[index % len(_LINES)],
            _MARKERS[index % len(_MARKERS)],
            filled=index > 0,
        )

    @property
    def measured(self) -> "Series":
        """The same for what was measured, where what was published is drawn too: filled, and solid."""
        return replace(self, line="-", filled=True)

    @property
    def published(self) -> "Series":
        """The same for what was published: open, and dashed."""
        return replace(self, line="--", filled=False)

    def drawn(
        self, x: ArrayLike, y: ArrayLike, *, joined: bool, size: float = 0.0, label: str = ""
    ) -> Line2D:
        """Points in this look.

        Args:
            x: where they lie.
            y: where they lie.
            joined: whether a line goes through them.
            size: of their markers; 0 draws none.
            label: for a legend.
        """
        return Line2D(
            x,
            y,
            color=self.colour,
            linestyle=self.line if joined else "none",
            linewidth=1.8,
            marker=self.marker if size else "none",
            markersize=size,
            markerfacecolor=self.colour if self.filled else "none",
            markeredgecolor=self.colour,
            markeredgewidth=1.6,
            label=label,
            zorder=4 if size else 3,
        )


def frame(axes: Axes) -> None:
    """Two faint axes instead of a box; everything in the page's ink."""
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set(color=INK, alpha=0.45)
    axes.tick_params(color=INK, labelcolor=INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)


def side_by_side(titles: Sequence[str]) -> int:
    """In how many columns titles fit above a plot.

    Example:
        >>> side_by_side(["A", "B"]), side_by_side(["A", "more than 24 letters long"]), side_by_side(["A"])
        (2, 1, 1)
    """
    return 2 if len(titles) > 1 and max(map(len, titles)) <= LONGEST_OF_TWO else 1


def legend(figure: Figure, keys: Sequence[Artist], columns: int, handle: float = 3.2) -> None:
    """What the looks mean, above the plot.

    Args:
        figure: gets the legend, and no ground of its own.
        keys: each with its label.
        columns: in how many columns they stand.
        handle: how long the samples are, in letters.
    """
    figure.patch.set_alpha(0.0)
    figure.legend(
        handles=keys,
        loc="outside upper center",
        ncols=max(columns, 1),
        frameon=False,
        labelcolor=INK,
        handlelength=handle,
    )
