"""A plot of figures that change with a setting, or from one level of labelling to the next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from unnoted.experiments.results import Figure
from unnoted.report.looks import FAINT, WIDTH, Series, frame, legend, side_by_side
from unnoted.report.svg import INK, inline_svg, plain, settings

NARROWEST = 0.06
"""What share of an axis two ticks need between them for both to be labelled."""


@dataclass(frozen=True, slots=True)
class TrendLine:
    """Figures at several places.

    Attributes:
        title: what they are of.
        look: how they are drawn.
        points: each with its place, from left to right.
    """

    title: str
    look: Series
    points: tuple[tuple[float, Figure], ...]

    @classmethod
    def through(
        cls, title: str, look: Series, points: Iterable[tuple[float, Figure | None]]
    ) -> list["TrendLine"]:
        """A line through the figures that are known; none if none is."""
        known = tuple((place, figure) for place, figure in points if figure is not None)
        return [cls(title, look, known)] if known else []


@dataclass(frozen=True, slots=True)
class Ticks:
    """The places on an axis that have a label.

    Attributes:
        title: of the axis.
        places: each with its label, from left to right.
    """

    title: str
    places: tuple[tuple[float, str], ...]

    @classmethod
    def of_numbers(cls, title: str, numbers: Sequence[float]) -> "Ticks":
        """A label at each number, but for those too close to the one before."""
        kept: list[float] = []
        ordered = sorted(set(numbers))
        for number in ordered:
            if not kept or number - kept[-1] >= NARROWEST * (ordered[-1] - ordered[0]):
                kept.append(number)
        return cls(title, tuple((number, f"{number:g}") for number in kept))

    @classmethod
    def of_names(cls, title: str, names: Sequence[str]) -> "Ticks":
        """Names at even distances."""
        return cls(title, tuple((float(place), name) for place, name in enumerate(names)))


def trend_plot(lines: Sequence[TrendLine], ticks: Ticks, measure: str, name: str) -> Markup:
    """Lines through figures in per cent; a bar through each as long as two standard deviations.

    Args:
        lines: in the order of the legend.
        ticks: the horizontal axis.
        measure: what is measured, for the vertical axis.
        name: of the plot, unique in its page.
    """
    with settings():
        figure = Drawing(figsize=(WIDTH, 0.72 * WIDTH), layout="constrained")
        axes = figure.subplots()
        frame(axes)
        axes.set(xlabel=ticks.title, ylabel=f"{measure} (%)")
        axes.set_xticks([place for place, _ in ticks.places], labels=[label for _, label in ticks.places])
        axes.grid(axis="y", color=INK, alpha=FAINT / 2, linewidth=0.8)
        for line in lines:
            _add_line(axes, line)
        _fit(axes, lines)
        keys = [line.look.drawn([], [], joined=True, size=7, label=plain(line.title)) for line in lines]
        legend(figure, keys, columns=side_by_side([line.title for line in lines]))
        told = "; ".join(_told(line) for line in lines)
        return inline_svg(figure, name, f"{measure} by {ticks.title}. {told}.")


def _add_line(axes: Axes, line: TrendLine) -> None:
    places = [place for place, _ in line.points]
    axes.add_line(line.look.drawn(places, [figure.mean for _, figure in line.points], joined=True, size=7))
    for place, figure in line.points:
        if figure.deviation:
            low, high = figure.mean - figure.deviation, figure.mean + figure.deviation
            axes.vlines(place, low, high, color=line.look.colour, linewidth=1.4, zorder=3)


def _fit(axes: Axes, lines: Sequence[TrendLine]) -> None:
    """All figures with some room; from 0 where the lowest is near it."""
    places = [place for line in lines for place, _ in line.points] or [0.0, 1.0]
    spread = max(max(places) - min(places), 1e-9)
    axes.set_xlim(min(places) - 0.06 * spread, max(places) + 0.06 * spread)
    ends = [
        figure.mean + sign * (figure.deviation or 0.0)
        for line in lines
        for _, figure in line.points
        for sign in (-1, 1)
    ] or [0.0, 100.0]
    low, high = min(ends), max(ends)
    room = max(0.12 * (high - low), 1.0)
    axes.set_ylim(-0.03 * high if low < high / 4 else low - room, high + room)


def _told(line: TrendLine) -> str:
    return f"{plain(line.title)}: {', '.join(f'{figure.mean:.1f}' for _, figure in line.points)}"
