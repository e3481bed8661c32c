"""A table of results: rows of runs over seeds, published beside measured figures, and what is claimed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from unnoted.training.record import Failure, Record


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in per cent, over one seed or several.

    Attributes:
        mean: over the seeds.
        deviation: their standard deviation (of a sample); None for one seed, or where none was published.
        seeds: how many; None where that was not published.

    Example:
        >>> Figure.over([30.0, 32.0])
        Figure(mean=31.0, deviation=1.4142135623730951, seeds=2)
        >>> str(Figure.over([30.0, 32.0])), str(Figure(42.1))
        ('31.00 ± 1.41', '42.10')
    """

    mean: float
    deviation: float | None = None
    seeds: int | None = None

    @classmethod
    def over(cls, values: Sequence[float]) -> "Figure":
        """Of one value for each seed."""
        return cls(fmean(values), stdev(values) if len(values) > 1 else None, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row: what was published, and what our runs came to.

    Attributes:
        name: short and unique in its table, e.g. "ssr-pu".
        title: as the paper writes it, e.g. "SSR-PU+ATLOP+BERT-base".
        group: rows of one group stand together.
        published: figures by the title of their column; empty for rows that nobody published.
        measured: the same of our runs; empty if none came to an end.
        records: the finished runs, one for each seed.
        failures: those that failed.
        mark: where the published figures are from, in a word ("own", "reported"), or empty.
    """

    name: str
    title: str
    group: str
    published: Mapping[str, Figure]
    measured: Mapping[str, Figure]
    records: tuple[Record, ...]
    failures: tuple[Failure, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether one row is better than another, by a paired bootstrap over documents.

    Attributes:
        better: the name of a row.
        than: the name of another.
        difference: in points of F1.
        low: where the middle 95 % of the resampled differences begin.
        high: where they end.
        share: of the resamples in which it is better.
    """

    better: str
    than: str
    difference: float
    low: float
    high: float
    share: float

    @property
    def verdict(self) -> str:
        """What the middle 95 % of the resamples say: all above 0, all below, or neither.

        Example:
            >>> [Claim("a", "b", 1.0, low, 2.0, 0.9).verdict for low in (0.5, -0.5)]
            ['better', 'not certain']
        """
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "not certain"


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table of the paper, or of one's own.

    Attributes:
        name: as the command has it, e.g. "table1".
        title: one line on what it shows.
        columns: their titles, from left to right.
        rows: in the paper's order.
        notes: every way in which the runs depart from what was published, a line each.
        claims: who is better than whom.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[RowResult, ...]
    notes: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
