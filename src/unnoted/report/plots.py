"""Plots: precision over recall, a figure of several methods for each of several rows, parts of a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from unnoted.evaluation import Score
from unnoted.report.formats import count, percent
from unnoted.report.looks import FAINT, WIDTH, Series, frame, legend
from unnoted.report.svg import INK, SERIES_COLOURS, inline_svg, plain, settings

LEAST_WRITTEN = 0.07
"""What share of the longest bar a part needs for its count to be written in it."""


class PrecisionsAndRecalls(Protocol):
    """What of a curve is drawn."""

    @property
    def precisions(self) -> NDArray[np.float64]:
        """At falling thresholds."""

    @property
    def recalls(self) -> NDArray[np.float64]:
        """At the same ones."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class MethodCurve:
    """A method's curve, if it has one, and the score where it decides.

    Attributes:
        title: of the method.
        curve: its curve.
        decided: its score where it decides.
        look: what it is drawn with; None for what its place in the plot gives.
    """

    title: str
    curve: PrecisionsAndRecalls | None
    decided: Score
    look: Series | None = None


def precision_recall_plot(methods: Sequence[MethodCurve], name: str) -> Markup:
    """Precision over recall, in per cent; a marker where each method decides; faint lines of equal F1.

    Args:
        methods: in the order of their looks.
        name: of the plot, unique in its page.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, WIDTH), layout="constrained")
        axes = figure.subplots()
        frame(axes)
        axes.set(xlim=(0, 102), ylim=(0, 102), xlabel="recall (%)", ylabel="precision (%)", aspect="equal")
        _equal_f1(axes)
        looks = [method.look or Series.of(index) for index, method in enumerate(methods)]
        for look, method in zip(looks, methods, strict=True):
            _add_method(axes, look, method)
        keys = [
            look.drawn([], [], joined=True, size=8, label=_decision(method))
            for look, method in zip(looks, methods, strict=True)
        ]
        legend(figure, keys, columns=1)
        told = "; ".join(map(_decision, methods))
        return inline_svg(figure, name, f"Precision over recall. {told}.")


def _add_method(axes: Axes, series: Series, method: MethodCurve) -> None:
    if method.curve is not None and len(method.curve):
        axes.add_line(series.drawn(100 * method.curve.recalls, 100 * method.curve.precisions, joined=True))
    if method.decided.predicted:
        point = series.drawn(
            [100 * method.decided.recall], [100 * method.decided.precision], joined=False, size=10
        )
        point.set_clip_on(False)  # a decision at the edge is drawn whole
        axes.add_line(point)


def _decision(method: MethodCurve) -> str:
    title = plain(method.title)
    if not method.decided.predicted:
        return f"{title}: states nothing"
    return f"{title}: F1 {percent(method.decided.f1)} where it decides"


def _equal_f1(axes: Axes) -> None:
    for f1 in (20, 40, 60, 80):
        recall = np.geomspace(100 * f1 / (200 - f1), 100, 100)  # from where the precision is 100
        precision = f1 * recall / (2 * recall - f1)
        axes.plot(recall, precision, color=INK, alpha=FAINT, linewidth=0.9, zorder=1)
        axes.text(103.5, precision[-1], f"F1 {f1}", color=INK, alpha=0.6, fontsize=8.5, va="center")


@dataclass(frozen=True, slots=True)
class DumbbellRow:
    """A row of a dumbbell plot: a share for each method; None where a method has none."""

    label: str
    shares: tuple[float | None, ...]


def dumbbell_plot(rows: Sequence[DumbbellRow], methods: Sequence[str], measure: str, name: str) -> Markup:
    """For each row a marker for each method, joined by a line, in per cent.

    Args:
        rows: from top to bottom.
        methods: their titles, in the order of their looks.
        measure: what is measured, e.g. "F1".
        name: of the plot, unique in its page.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 1.3 + 0.27 * max(len(rows), 1)), layout="constrained")
        axes = figure.subplots()
        frame(axes)
        axes.set(xlim=(-2, 102), ylim=(max(len(rows), 1) - 0.4, -0.6), xlabel=f"{measure} (%)")
        axes.set_yticks(range(len(rows)), labels=[plain(row.label) for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=INK, alpha=FAINT / 2, linewidth=0.8)
        for height, row in enumerate(rows):
            _add_row(axes, height, row)
        keys = [
            Series.of(index).drawn([], [], joined=False, size=7, label=plain(title))
            for index, title in enumerate(methods)
        ]
        legend(figure, keys, columns=len(keys))
        return inline_svg(
            figure, name, f"{measure} of {', '.join(map(plain, methods))} for {len(rows)} rows."
        )


def _add_row(axes: Axes, height: int, row: DumbbellRow) -> None:
    known = [(index, 100 * share) for index, share in enumerate(row.shares) if share is not None]
    if not known:
        return
    values = [value for _, value in known]
    axes.hlines(height, min(values), max(values), color=INK, alpha=FAINT, linewidth=2.5, zorder=2)
    for index, value in known:
        axes.add_line(Series.of(index).drawn([value], [height], joined=False, size=6.5))


@dataclass(frozen=True, slots=True)
class PartsRow:
    """A row of a plot of parts: how many there are in each part."""

    label: str
    counts: tuple[int, ...]


def parts_plot(rows: Sequence[PartsRow], parts: Sequence[str], thing: str, name: str) -> Markup:
    """For each row a bar that is divided into parts, each with its count where there is room for it.

    Args:
        rows: from top to bottom.
        parts: what the parts are, at most three.
        thing: what is counted.
        name: of the plot, unique in its page.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 1.2 + 0.5 * max(len(rows), 1)), layout="constrained")
        axes = figure.subplots()
        frame(axes)
        whole = max((sum(row.counts) for row in rows), default=0) or 1
        axes.set(xlim=(0, whole), ylim=(max(len(rows), 1) - 0.4, -0.6), xlabel=thing)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(round(value))))
        axes.set_yticks(range(len(rows)), labels=[plain(row.label, 20) for row in rows])
        axes.tick_params(axis="y", length=0)
        for height, row in enumerate(rows):
            _add_parts(axes, height, row.counts, whole)
        keys = [_part(index, label=plain(part)) for index, part in enumerate(parts)]
        legend(figure, keys, columns=len(keys), handle=1.6)
        return inline_svg(figure, name, f"{thing}: {', '.join(map(plain, parts))}.")


def _add_parts(axes: Axes, height: int, counts: Sequence[int], whole: int) -> None:
    start = 0
    for index, number in enumerate(counts):
        patch = _part(index)
        patch.set_bounds(start, height - 0.3, number, 0.6)
        axes.add_patch(patch)
        if number >= LEAST_WRITTEN * whole:
            axes.text(start + number / 2, height, count(number), color=INK, ha="center", va="center")
        start += number


def _part(index: int, label: str = "") -> Rectangle:
    """The look of a part: pale ink, a colour, or empty."""
    faces = ((INK, 0.16), (SERIES_COLOURS[2], 0.45), ("none", 0.0))
    edge = ("-", "-", ":")[index]
    return Rectangle(
        (0, 0), 1, 1, facecolor=faces[index], edgecolor=(INK, 0.5), linewidth=0.9, linestyle=edge, label=label
    )
