"""Plots are SVG that holds what it shows, the same each time."""

import pytest

from unnoted.evaluation import Reliability

pytest.importorskip("matplotlib", reason="plots are an extra")


def test_plots_are_svg_and_reproducible():
    from unnoted.experiments.plots import plot_lines, plot_precision_recall, plot_reliability

    curves = {"A $1": [(0.1, 0.9), (0.5, 0.4)], "<b>": []}
    for draw in (
        lambda: plot_precision_recall(curves, {"A $1": (0.3, 0.6)}),
        lambda: plot_reliability({"test": Reliability.from_scores([0.1, 0.9], [False, True])}),
        lambda: plot_lines({"A": [(0.2, 30.0), (1.0, 50.0)]}, "labels kept", "F1"),
    ):
        svg = draw()
        assert svg.startswith("<svg") and svg == draw() and "<b>" not in svg
