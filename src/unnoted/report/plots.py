"""Plots of methods, one function for each kind; each gives an `<svg>` whose `name` is unique in its page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import FuncFormatter, MaxNLocator

from unnoted.evaluation import Reliability, Score
from unnoted.report.svg import COLOURS, INK, WIDTH, inline_svg, look, new_axes, plain, style
from unnoted.utils import format_count, percent

FAINT, LEAST_WRITTEN = 0.22, 0.07
"""The ink of auxiliary lines; the share of the longest bar that a part needs for its count to be written."""

PARTS = (((INK, 0.16), "-"), ((COLOURS[2], 0.45), "-"), ("none", ":"))
"""Face and edge of each part of a bar: pale ink, a colour, empty."""


@dataclass(frozen=True, slots=True)
class MethodCurve:
    """A method's curve, (recall, precision) at falling thresholds or nothing, and its decision."""

    title: str
    points: Sequence[tuple[float, float]]
    decided: Score

    def __str__(self) -> str:
        if not self.decided.predicted:
            return f"{plain(self.title)}: predicts nothing"
        return f"{plain(self.title)}: F1 {percent(self.decided.f1)} as decided"


@style()
def precision_recall_plot(methods: Sequence[MethodCurve], name: str) -> Markup:
    """Precision over recall; a marker where each method decides; faint lines of equal F1."""
    axes = new_axes(WIDTH, xlim=(0, 102), ylim=(0, 102), xlabel="recall (%)", ylabel="precision (%)")
    axes.set_aspect("equal")
    for f1 in (20, 40, 60, 80):
        recall = np.geomspace(100 * f1 / (200 - f1), 100, 100)  # from where the precision is 100
        precision = f1 * recall / (2 * recall - f1)
        axes.plot(recall, precision, color=INK, alpha=FAINT, linewidth=0.9, zorder=1)
        axes.text(103.5, precision[-1], f"F1 {f1}", alpha=0.6, fontsize=8.5, va="center")
    for index, method in enumerate(methods):
        points = 100 * np.array(method.points, dtype=float).reshape(-1, 2)
        axes.plot(*points.T, **look(index))
        if method.decided.predicted:  # a decision at the edge is drawn whole
            where = 100 * method.decided.recall, 100 * method.decided.precision
            axes.plot(*where, clip_on=False, **look(index, 10, joined=False))
        axes.plot([], [], label=str(method), **look(index, 8))
    return inline_svg(axes, name, f"Precision over recall. {'; '.join(map(str, methods))}.")


@style()
def dumbbell_plot(
    rows: Sequence[tuple[str, Sequence[float]]], methods: Sequence[str], measure: str, name: str
) -> Markup:
    """For each row, a label and a share for each method, markers that a line joins."""
    lowest = max(len(rows), 1)
    axes = new_axes(1.3 + 0.27 * lowest, xlim=(-2, 102), ylim=(lowest - 0.4, -0.6), xlabel=f"{measure} (%)")
    axes.set_yticks(range(len(rows)), labels=[plain(label) for label, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    shares = 100 * np.array([row for _, row in rows]).reshape(-1, len(methods))  # [rows, methods]
    axes.hlines(range(len(rows)), shares.min(1), shares.max(1), color=INK, alpha=FAINT, linewidth=2.5)
    for index, title in enumerate(methods):
        axes.plot(shares[:, index], range(len(rows)), label=plain(title), **look(index, 6.5, joined=False))
    return inline_svg(axes, name, f"{measure} of {', '.join(map(plain, methods))} for {len(rows)} rows.")


@style()
def parts_plot(
    rows: Sequence[tuple[str, Sequence[int]]], parts: Sequence[str], thing: str, name: str
) -> Markup:
    """For each row, a label and a count for each of up to three parts, a bar divided into these parts."""
    whole, lowest = max((sum(counts) for _, counts in rows), default=0) or 1, max(len(rows), 1)
    axes = new_axes(1.2 + 0.5 * lowest, xlim=(0, whole), ylim=(lowest - 0.4, -0.6), xlabel=thing)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_count(round(value))))
    axes.set_yticks(range(len(rows)), labels=[plain(label, 20) for label, _ in rows])
    axes.tick_params(axis="y", length=0)
    start = np.zeros(len(rows))
    for index, (part, (face, edge)) in enumerate(zip(parts, PARTS, strict=False)):
        numbers = np.array([counts[index] for _, counts in rows], dtype=int)
        bars = axes.barh(range(len(rows)), numbers, 0.6, start, facecolor=face, label=plain(part))
        for bar in bars:
            bar.set(edgecolor=(INK, 0.5), linewidth=0.9, linestyle=edge)
        written = [format_count(number) if number >= LEAST_WRITTEN * whole else "" for number in numbers]
        axes.bar_label(bars, written, label_type="center")
        start += numbers
    return inline_svg(axes, name, f"{thing}: {', '.join(map(plain, parts))}.")


@style()
def reliability_plot(rows: Sequence[tuple[str, Reliability]], name: str) -> Markup:
    """The share of facts that is true over their probability; on the faint line the two are equal."""
    axes = new_axes(WIDTH, xlim=(0, 102), ylim=(0, 102), xlabel="probability (%)", ylabel="true facts (%)")
    axes.set_aspect("equal")
    axes.plot([0, 100], [0, 100], color=INK, alpha=FAINT, linewidth=0.9, zorder=1)
    told = []
    for index, (title, found) in enumerate(rows):
        points = 100 * np.array([(part.score, part.correct) for part in found.bins]).reshape(-1, 2)
        told.append(f"{plain(title)}: calibration error {found.error:.3f}")
        axes.plot(*points.T, clip_on=False, label=told[-1], **look(index, 6))
    return inline_svg(axes, name, f"Share of true facts over their probability. {'; '.join(told)}.")
