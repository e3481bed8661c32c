"""The second picture of the README: F1 of each loss over the share of facts that are labelled.

python -m tools.docs.labelling_levels runs/compare
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from tools.docs.drawing import FAINT, look, new_axes, svg
from unnoted.training import Record

PICTURE = Path(__file__).parents[2] / "docs/labelling-levels.svg"
TITLES = {"atlop": "ATLOP", "ssr-pu": "SSR-PU"}

Points = dict[float, list[tuple[float, float]]]
"""F1 as decided and best F1 of the curve of each seed, by the labelled share; all in per cent."""


def points(records: Iterable[Record]) -> dict[str, Points]:
    """The figures of every loss; the most labels that a run had count as all."""
    runs = list(records)
    labels = [sum(record.train_facts.values()) for record in runs]
    found: dict[str, Points] = defaultdict(lambda: defaultdict(list))
    for record, kept in zip(runs, labels, strict=True):
        scored = record.scored["test"]
        figures = 100 * scored.overall.f1, 100 * scored.best_f1
        found[record.settings["loss"]][100 * kept / max(labels)].append(figures)
    return found


def picture(losses: dict[str, Points]) -> str:
    """Each loss as a line through its means, with a dot for every seed; the best F1 of the curve is faint."""
    figure, axes = new_axes("facts that are labelled (%)", "F1 (%)", height=3.4)
    axes.set(xlim=(0, 103), ylim=(0, 60))
    for index, loss in enumerate(TITLES):
        shares = sorted(losses[loss])
        decided, best = (
            [fmean(each[place] for each in losses[loss][share]) for share in shares] for place in (0, 1)
        )
        colour = look(index)["color"]
        axes.plot(shares, decided, label=f"{TITLES[loss]}, as it decides", **look(index))
        axes.plot(shares, best, color=colour, alpha=2 * FAINT, linewidth=1, label="at its best threshold")
        seeds = [(share, f1) for share in shares for f1, _ in losses[loss][share]]
        axes.plot(*zip(*seeds, strict=True), color=colour, marker="o", markersize=4, linestyle="none")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, handlelength=3.2)
    return svg(figure, "F1 over the share of facts that are labelled")


def main(folder: str) -> None:
    """Draw the finished runs in a folder that `unnoted compare` wrote."""
    records = map(Record.read, sorted(Path(folder).glob("*/record.json")))
    PICTURE.write_text(picture(points(records)), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
