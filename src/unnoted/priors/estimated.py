"""Priors that were estimated: for each relation a value and an interval, and one ratio for all of them."""

from dataclasses import dataclass
from typing import Any, TypedDict

from unnoted.priors.priors import Priors

LEVEL = 0.9
"""How often an interval should contain the truth."""

LARGEST_PRIOR = 0.99
"""No relation holds for all pairs: an estimate stays below this."""


class EstimatedRow(TypedDict):
    """What was estimated for one relation, as a report shows it."""

    relation: str
    labelled: int
    estimated: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    prior: float
    basis: str


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and the ends of the interval that should contain the truth nine times in ten."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EstimatedPriors:
    """Estimated overall priors of every relation, with their intervals.

    Args:
        relations: the relation ids, K of them.
        pairs: how many candidate pairs the priors are shares of.
        labelled: π_l of each relation.
        overall: π of each relation, estimated; at least π_l and below 1.
        low: the lower end of its interval.
        high: the upper end.
        ratio: true facts per labelled one, over all relations.
        basis: what each estimate rests on: `own` (its own labels or answers too), `pooled` (the other
            relations alone) or `none` (nothing: the prior is the labelled one).

    Example:
        >>> found = EstimatedPriors(("spouse",), 1000, (0.01,), (0.03,), (0.02,), (0.05,),
        ...                         Interval(3, 2, 5), ("own",))
        >>> found.priors.overall, found.rows()[0]["estimated"], found.rows()[0]["ratio"]
        ((0.03,), 30.0, 3.0)
    """

    relations: tuple[str, ...]
    pairs: int
    labelled: tuple[float, ...]
    overall: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    ratio: Interval
    basis: tuple[str, ...]

    @property
    def priors(self) -> Priors:
        """What losses take."""
        return Priors(self.relations, self.labelled, self.overall)

    def rows(self) -> list[EstimatedRow]:
        """A row for each relation, in facts and as ratios."""
        return [self._row(number) for number in range(len(self.relations))]

    def _row(self, number: int) -> EstimatedRow:
        labelled = self.labelled[number]
        ends = (self.overall[number], self.low[number], self.high[number])
        ratios = [end / labelled if labelled else None for end in ends]
        facts = [end * self.pairs for end in ends]
        return EstimatedRow(
            relation=self.relations[number], labelled=round(labelled * self.pairs),
            estimated=facts[0], low=facts[1], high=facts[2],
            ratio=ratios[0], ratio_low=ratios[1], ratio_high=ratios[2],
            prior=self.overall[number], basis=self.basis[number],
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        ratio = {"estimate": self.ratio.estimate, "low": self.ratio.low, "high": self.ratio.high}
        return {"pairs": self.pairs, "level": LEVEL, "ratio": ratio, "relations": self.rows()}


def bounded(overall: float, labelled: float) -> float:
    """An overall prior that is possible: at least the labelled one, and below 1.

    Example:
        >>> bounded(0.001, 0.01), bounded(3.0, 0.01), bounded(0.02, 0.01)
        (0.01, 0.99, 0.02)
    """
    return max(labelled, min(overall, LARGEST_PRIOR))
