"""A table of runs: published beside measured figures for each row, and which differences are significant."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from unnoted.evaluation import Score, paired_bootstrap
from unnoted.training.config import TrainingConfig
from unnoted.training.results import Failure, Record, RunScores
from unnoted.utils import lookup


@dataclass(frozen=True, slots=True)
class MeanStd:
    """A figure in per cent: mean and standard deviation (of a sample) over the seeds, as far as known.

    Example:
        >>> str(MeanStd.from_values([30.0, 32.0])), str(MeanStd(42.1))
        ('31.00 ± 1.41', '42.10')
    """

    mean: float
    std: float | None = None
    seeds: int | None = None

    @classmethod
    def from_values(cls, values: Sequence[float]) -> "MeanStd":
        """Over one value per seed."""
        return cls(fmean(values), stdev(values) if len(values) > 1 else None, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.std is None else f"{self.mean:.2f} ± {self.std:.2f}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row; while it is only planned, it has no records and nothing measured.

    Attributes:
        name: short and unique in its table, e.g. "ssr-pu".
        title: as the paper writes it, e.g. "SSR-PU+ATLOP+BERT-base".
        group: rows of one group are listed together.
        runs: the settings of its runs, one per seed; empty if it is not run.
        published: figures by the title of their column; empty for rows that nobody published.
        mark: where the published figures are from: "own", "reported" or "".
        measured: the figures of our runs; empty if none finished.
        records: the finished runs, one per seed.
        failures: why runs failed, or why the row cannot be run.
    """

    name: str
    title: str
    group: str
    runs: tuple[TrainingConfig, ...] = ()
    published: Mapping[str, MeanStd] = field(default_factory=dict)
    mark: str = ""
    measured: Mapping[str, MeanStd] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Significance:
    """Whether one row is better than another, by a paired bootstrap over documents and seeds.

    The difference is in points of F1; 95 % of the resampled ones are between low and high. The share is the
    fraction of resamples in which the first row is better. The seeds are those that both rows have.
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
        """Whether 95 % of the resamples are above 0, below, or neither.

        One seed says nothing of what another seed would do, so that neither row is called better.

        Example:
            >>> [Significance("a", "b", 1.0, low, 2.0, 0.9, seeds=3).verdict for low in (0.5, -0.5)]
            ['better', 'not significant']
            >>> Significance("a", "b", 1.0, 0.5, 2.0, 0.9, seeds=1).verdict
            'ahead, with one seed'
        """
        if self.low <= 0 <= self.high:
            return "not significant"
        if self.seeds < 2:
            return f"{'ahead' if self.low > 0 else 'behind'}, with one seed"
        return "better" if self.low > 0 else "worse"


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table of the paper, or of one's own.

    Attributes:
        name: as the command has it, e.g. "table2".
        title: one line on what it shows.
        columns: their titles.
        rows: from top to bottom.
        notes: every deviation from what was published, a line each.
        compared: the names of rows (better, than) whose difference is tested.
        significance: the outcome of these tests.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()
    significance: tuple[Significance, ...] = ()

    @property
    def runs(self) -> list[TrainingConfig]:
        """Those of all rows."""
        return [run for row in self.rows for run in row.runs]


# Columns: which figure of a finished run a title means

CURVE = {
    "Best F1": "the highest F1 on the precision-recall curve, its threshold chosen on the test labels: "
    "a bound, not a result",
    "AP": "average precision, the area under that curve; both are over all true facts",
}
"""Columns of the whole curve, shown beside the F1 as decided, and what they mean."""

# Where published scores leave out facts that no system could reach, ours beside them do, too.
FIGURES: Mapping[str, Callable[[RunScores], float]] = {
    "Ign F1": lambda scored: scored.ignoring_train.f1,
    "F1": lambda scored: (scored.reachable or scored.overall).f1,
    "P": lambda scored: (scored.reachable or scored.overall).precision,
    "R": lambda scored: (scored.reachable or scored.overall).recall,
    "Freq. F1": lambda scored: (scored.reachable_frequent or scored.frequent).f1,
    "Freq. P": lambda scored: (scored.reachable_frequent or scored.frequent).precision,
    "Freq. R": lambda scored: (scored.reachable_frequent or scored.frequent).recall,
    "Best F1": lambda scored: scored.best_f1,
    "AP": lambda scored: scored.average_precision,
}

SETS = {"": ("test",), "Test ": ("test",), "Dev ": ("dev", "test")}
"""The documents that a title's beginning means: the first set that was scored. Development documents that
stand in for those of the test are scored once, as `test`."""

COLUMNS = {f"{prefix}{title}": (sets, FIGURES[title]) for prefix, sets in SETS.items() for title in FIGURES}


def measure(records: Sequence[Record], titles: Iterable[str]) -> dict[str, MeanStd]:
    """The figures of a row over its seeds, by the titles of columns; none if no run finished."""
    measured = {}
    for title in titles:
        sets, figure = lookup("column", title, COLUMNS)
        scored = [next(each.scored[name] for name in sets if name in each.scored) for each in records]
        if scored:
            measured[title] = MeanStd.from_values([100 * figure(each) for each in scored])
    return measured


def compute_significance(compared: Iterable[tuple[str, str]], rows: Sequence[Row]) -> list[Significance]:
    """Compare rows on the test documents, with the seeds that both have finished runs of."""
    finished: dict[str, dict[int, dict[str, Score]]] = {}
    for row in rows:
        finished[row.name] = {}
        for record in row.records:
            documents = record.scored["test"].documents
            finished[row.name][record.config["seed"]] = {name: ign.score for name, ign in documents.items()}
    tests = []
    for better, than in compared:
        first, second = finished.get(better, {}), finished.get(than, {})
        if seeds := [seed for seed in first if seed in second]:
            result = paired_bootstrap([first[seed] for seed in seeds], [second[seed] for seed in seeds])
            figures = result.difference, result.low, result.high, result.share
            tests.append(Significance(better, than, *figures, seeds=len(seeds)))
    return tests
