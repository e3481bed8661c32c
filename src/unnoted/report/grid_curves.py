"""Precision and recall of each row of a table, a plot for each group."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from unnoted.experiments.results import RowResult, TableResult
from unnoted.report.gains import BASELINE, METHOD
from unnoted.report.looks import Series
from unnoted.report.page import figure
from unnoted.report.plots import MethodCurve, precision_recall_plot


@dataclass(frozen=True, slots=True, eq=False)
class ThinnedCurve:
    """The points of a curve that a record keeps."""

    recalls: NDArray[np.float64]
    precisions: NDArray[np.float64]

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]]) -> "ThinnedCurve":
        """From (recall, precision) at falling thresholds."""
        both = np.array(points, dtype=np.float64).reshape(-1, 2)
        return cls(both[:, 0], both[:, 1])

    def __len__(self) -> int:
        return len(self.recalls)


def group_curves(result: TableResult, anchor: str) -> list[Markup]:
    """A plot for each group of rows that has a finished run.

    Args:
        result: the table.
        anchor: goes before the names of the plots, so that they are unique in their page.
    """
    made = []
    for number, group in enumerate(dict.fromkeys(row.group for row in result.rows), start=1):
        rows = [row for row in result.rows if row.group == group and row.records]
        if not rows:
            continue
        methods = [_method(row, look) for row, look in zip(rows, looks_of(rows), strict=True)]
        plot = precision_recall_plot(methods, f"{anchor}-curves-{number}")
        made.append(figure(plot, _curves_caption(group, rows)))
    return made


def looks_of(rows: Sequence[RowResult]) -> list[Series]:
    """The two methods that are looked at most are drawn alike in every plot; the others by their place."""
    methods = [row.records[0].settings.get("loss") for row in rows]
    if len(set(methods)) < len(methods):
        return [Series.of(index) for index in range(len(rows))]
    others = count(2)
    known = {BASELINE: 0, METHOD: 1}
    return [Series.of(known[method] if method in known else next(others)) for method in methods]


def _method(row: RowResult, look: Series) -> MethodCurve:
    scored = row.records[0].scored["test"]
    return MethodCurve(row.title, ThinnedCurve.of(scored.curve), scored.overall, look)


def _curves_caption(group: str, rows: Sequence[RowResult]) -> str:
    told = f"{group}: p" if group else "P"
    told += (
        "recision and recall on the test documents at every threshold; the marker is where a model decides."
    )
    if any(len(row.records) > 1 for row in rows):
        told += " Of several seeds, the first."
    return told
