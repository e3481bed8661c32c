"""Plots as SVG, by matplotlib (`pip install 'unnoted[plots]'`)."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from unnoted.evaluation import Reliability
from unnoted.utils import require_extra

Points = Sequence[tuple[float, float]]


def plot_precision_recall(
    curves: Mapping[str, Points], decided: Mapping[str, tuple[float, float]] | None = None
) -> str:
    """Precision over recall.

    Args:
        curves: points (recall, precision) by title.
        decided: the point at which each method decides, by title.
    """
    figure, axes = _square("recall (%)", "precision (%)")
    for number, (title, points) in enumerate(curves.items()):
        axes.plot(*_percentages(points), color=f"C{number}", label=title)
        if decided and title in decided:
            axes.plot(*_percentages([decided[title]]), marker="o", color=f"C{number}", linestyle="none")
    return _svg(figure, axes)


def plot_reliability(reliability: Mapping[str, Reliability]) -> str:
    """The fraction of facts that is true over their score; where scores are calibrated, the two are equal."""
    figure, axes = _square("score (%)", "true facts (%)")
    axes.plot([0, 100], [0, 100], color="grey", linewidth=0.8)
    for title, each in reliability.items():
        points = [(part.score, part.correct) for part in each.bins]
        axes.plot(*_percentages(points), marker=".", label=f"{title}: calibration error {each.error:.3f}")
    return _svg(figure, axes)


def plot_lines(lines: Mapping[str, Points], x: str, y: str) -> str:
    """Lines through points (x, y), such as the F1 of methods over the fraction of labels kept."""
    figure, axes = _figure(6.4, 4.0, x, y)
    for title, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker=".", label=title)
    return _svg(figure, axes)


def _percentages(points: Points) -> tuple[list[float], list[float]]:
    return [100 * x for x, _ in points], [100 * y for _, y in points]


def _figure(width: float, height: float, x: str, y: str) -> tuple[Any, Any]:
    # Not pyplot, which keeps figures and asks for a display.
    figure = require_extra("matplotlib.figure", "plots").Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot(xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    return figure, axes


def _square(x: str, y: str) -> tuple[Any, Any]:
    figure, axes = _figure(5.2, 5.2, x, y)
    axes.set(xlim=(0, 102), ylim=(0, 102), aspect="equal")
    return figure, axes


def _svg(figure: Any, axes: Any) -> str:  # noqa: ANN401
    for line in axes.get_lines():  # names may hold what matplotlib takes for mathematics
        line.set_label(str(line.get_label()).replace("$", r"\$"))
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")
    matplotlib = require_extra("matplotlib", "plots")
    with matplotlib.rc_context(
        {"svg.hashsalt": "unnoted", "svg.fonttype": "none", "font.family": "sans-serif"}
    ):
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
