"""The columns of tables: a title, and which figure of a finished run it shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from unnoted.evaluation import Score
from unnoted.experiments.results import Figure
from unnoted.training.record import Record, Scored
from unnoted.utils import lookup

Share: TypeAlias = Callable[[Scored], float]


def _all(scored: Scored) -> Score:
    """Where published scores leave out facts that nobody could reach, so do ours beside them."""
    return scored.reachable or scored.overall


def _frequent(scored: Scored) -> Score:
    return scored.reachable_frequent or scored.frequent


SHARES: Mapping[str, Share] = {
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

SETS: Mapping[str, tuple[str, ...]] = {"": ("test",), "Test ": ("test",), "Dev ": ("dev", "test")}
"""Which documents a title's beginning stands for: the first set that was scored. Development documents that
stand in for those of the test are scored once, as `test`."""

COLUMNS: Mapping[str, tuple[tuple[str, ...], Share]] = {
    f"{begin}{title}": (sets, share) for begin, sets in SETS.items() for title, share in SHARES.items()
}


def measured(records: Sequence[Record], titles: Iterable[str]) -> dict[str, Figure]:
    """The figures of a row over its seeds, by the titles of columns; none if no run finished."""
    columns = {title: lookup("column", title, COLUMNS) for title in titles}
    if not records:
        return {}
    return {
        title: Figure.over([100 * share(_scored(record, sets)) for record in records])
        for title, (sets, share) in columns.items()
    }


def _scored(record: Record, sets: Iterable[str]) -> Scored:
    return next(record.scored[name] for name in sets if name in record.scored)
