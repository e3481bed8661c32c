"""The columns of tables: a title, and which figure of a finished run it shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unnoted.common.lookup import lookup
from unnoted.evaluation import Score
from unnoted.experiments.results import Figure
from unnoted.training.record import Record, Scored


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A figure of a run.

    Attributes:
        title: as the paper writes it.
        sets: the sets of documents that it may be of; the first one that was scored is shown.
        share: the figure, between 0 and 1.

    Example:
        >>> columns_titled(["Dev F1"])[0].sets
        ('dev', 'test')
    """

    title: str
    sets: tuple[str, ...]
    share: Callable[[Scored], float]

    def of(self, record: Record) -> float:
        """The run's figure in per cent."""
        name = next(name for name in self.sets if name in record.scored)
        return 100 * self.share(record.scored[name])


def _all(scored: Scored) -> Score:
    """Where published scores leave out facts that nobody could reach, so do ours beside them."""
    return scored.overall if scored.reachable is None else scored.reachable


def _frequent(scored: Scored) -> Score:
    return scored.frequent if scored.reachable_frequent is None else scored.reachable_frequent


SHARES: Mapping[str, Callable[[Scored], float]] = {
    "Ign F1": lambda scored: scored.ignoring_train.f1,
    "F1": lambda scored: _all(scored).f1,
    "P": lambda scored: _all(scored).precision,
    "R": lambda scored: _all(scored).recall,
    "Freq. F1": lambda scored: _frequent(scored).f1,
    "Freq. P": lambda scored: _frequent(scored).precision,
    "Freq. R": lambda scored: _frequent(scored).recall,
    "Best F1": lambda scored: scored.best_f1,
    "AP": lambda scored: scored.average_precision,
}
"""Every figure by its title."""

SETS: Mapping[str, tuple[str, ...]] = {"": ("test",), "Test ": ("test",), "Dev ": ("dev", "test")}
"""Which documents a title's beginning stands for. Where the development documents stand in for those of the
test, they are scored once, as `test`."""

COLUMNS: Mapping[str, ScoreColumn] = {
    f"{begin}{title}": ScoreColumn(f"{begin}{title}", sets, share)
    for begin, sets in SETS.items()
    for title, share in SHARES.items()
}
"""Every column by its title."""


def columns_titled(titles: Sequence[str]) -> tuple[ScoreColumn, ...]:
    """The columns of these titles."""
    return tuple(lookup("column", title, COLUMNS) for title in titles)


def measured(records: Sequence[Record], columns: Sequence[ScoreColumn]) -> dict[str, Figure]:
    """The figures of a row over its seeds; none if no run came to an end."""
    if not records:
        return {}
    return {column.title: Figure.over([column.of(record) for record in records]) for column in columns}
