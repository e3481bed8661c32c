"""The picture of the README: the precision-recall curve of each model, and where on it the model decides.

python -m tools.docs.picture GOLD ATLOP=demo/atlop SSR-PU=demo/ssr-pu
"""

import csv
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.docs.drawing import look, new_axes, svg

PICTURE = Path(__file__).parents[2] / "docs/precision-recall.svg"
MARKERS = ("o", "s")

POINTS = 150
"""As many points of a curve are drawn, at even steps of recall."""


@dataclass(frozen=True)
class Curve:
    """Precision over recall, in per cent, and where the model decides."""

    name: str
    recall: list[float]
    precision: list[float]
    decided: tuple[float, float]

    @classmethod
    def of(cls, name: str, model: str, gold: str) -> "Curve":
        """The curve of a model on gold documents, as `unnoted evaluate` writes it."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "curve.csv"
            call = ["evaluate", "--model", model, "--gold", gold, "--curve", str(file), "--json"]
            start = "from unnoted.cli.main import main; main()"
            printed = subprocess.run([sys.executable, "-c", start, *call], check=True, stdout=subprocess.PIPE)
            with file.open(newline="", encoding="utf-8") as stream:
                rows = [(float(row["recall"]), float(row["precision"])) for row in csv.DictReader(stream)]
        score = json.loads(printed.stdout)["overall"]
        step = rows[-1][0] / POINTS
        kept = [
            row
            for before, row in zip([(-1.0, 0.0), *rows], rows, strict=False)
            if row[0] // step > before[0] // step
        ]
        return cls(
            name,
            [100 * recall for recall, _ in kept],
            [100 * precision for _, precision in kept],
            (100 * score["recall"], 100 * score["precision"]),
        )


def picture(curves: list[Curve]) -> str:
    """The curves as SVG."""
    figure, axes = new_axes("recall (%)", "precision (%)", height=3.5)
    axes.set(xlim=(0, 100), ylim=(0, 103))
    for index, (curve, marker) in enumerate(zip(curves, MARKERS, strict=True)):
        axes.plot(curve.recall, curve.precision, **look(index))
        colour = look(index)["color"]
        axes.plot(*curve.decided, color=colour, marker=marker, markersize=9)
        label = f"{curve.name} decides here"
        axes.annotate(label, curve.decided, (10, 4), textcoords="offset points", color=colour)
    return svg(figure, "Precision over recall")


def main(gold: str, *models: str) -> None:
    """Draw `NAME=MODEL`, two of them, on gold documents."""
    curves = [Curve.of(*model.split("=", 1), gold) for model in models]
    PICTURE.write_text(picture(curves), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
