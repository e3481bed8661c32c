"""A table of runs: published beside measured figures for each row, and who is better than whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from unnoted.training.record import Failure, Record
from unnoted.training.settings import Settings


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in per cent: mean and standard deviation (of a sample) over the seeds, as far as known.

    Example:
        >>> str(Figure.over([30.0, 32.0])), str(Figure(42.1))
        ('31.00 ± 1.41', '42.10')
    """

    mean: float
    deviation: float | None = None
    seeds: int | None = None

    @classmethod
    def over(cls, values: Sequence[float]) -> "Figure":
        """Of one value per seed."""
        return cls(fmean(values), stdev(values) if len(values) > 1 else None, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row; while it is only planned, it has no records and nothing measured.

    Attributes:
        name: short and unique in its table, e.g. "ssr-pu".
        title: as the paper writes it, e.g. "SSR-PU+ATLOP+BERT-base".
        group: rows of one group stand together.
        published: figures by the title of their column; empty for rows that nobody published.
        measured: the same of our runs; empty if none finished.
        records: the finished runs, one per seed.
        failures: why runs failed, or why the row cannot be run.
        mark: where the published figures are from: "own", "reported" or "".
        runs: the settings of its runs, one per seed; empty if it is not run.
    """

    name: str
    title: str
    group: str
    published: Mapping[str, Figure]
    measured: Mapping[str, Figure]
    records: tuple[Record, ...]
    failures: tuple[Failure, ...] = ()
    mark: str = ""
    runs: tuple[Settings, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether one row is better than another, by a paired bootstrap over documents and seeds.

    The difference is in points of F1; the middle 95 % of the resampled ones are between low and high. The
    share is that of the resamples in which it is better. The seeds are those that both rows have.
    """

    better: str
    than: str
    difference: float
    low: float
    high: float
    share: float
    seeds: int

    @property
    def verdict(self) -> str:
        """What the middle 95 % of the resamples say: all above 0, all below, or neither.

        With one seed they say nothing of what another seed would do, so that neither row is called better.

        Example:
            >>> [Claim("a", "b", 1.0, low, 2.0, 0.9, seeds=3).verdict for low in (0.5, -0.5)]
            ['better', 'not certain']
            >>> Claim("a", "b", 1.0, 0.5, 2.0, 0.9, seeds=1).verdict
            'ahead, with one seed'
        """
        if self.low <= 0 <= self.high:
            return "not certain"
        if self.seeds < 2:
            return f"{'ahead' if self.low > 0 else 'behind'}, with one seed"
        return "better" if self.low > 0 else "worse"


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table of the paper, or of one's own; see `plan` for how a planned one is run.

    Attributes:
        name: as the command has it, e.g. "table1".
        title: one line on what it shows.
        columns: their titles.
        rows: from top to bottom.
        notes: every departure from what was published, a line each.
        claims: who is better than whom.
        compared: the names of rows (better, than) that claims are made about.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[RowResult, ...]
    notes: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()

    @property
    def runs(self) -> list[Settings]:
        """Those of all rows."""
        return [run for row in self.rows for run in row.runs]
