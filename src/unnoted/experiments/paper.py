"""The paper's tables as data: published figures, and the settings that they came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from unnoted.experiments.results import MeanStd
from unnoted.training.config import TrainingConfig, load_config
from unnoted.utils import lookup


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row as it was published; see `Row` for what they share.

    Attributes:
        config: the name of its settings; empty where nothing is trained.
        changes: what the row has other than its config.
        behind: the row that the paper ranks above this one; None for the best.
    """

    name: str
    title: str
    group: str
    published: Mapping[str, MeanStd]
    config: str = ""
    changes: Mapping[str, float] = field(default_factory=dict)
    mark: str = ""
    behind: str | None = None

    @property
    def setting(self) -> str:
        """The data set and its labels, such as "docred-original"."""
        return self.config.partition("/")[0]

    @property
    def settings(self) -> TrainingConfig:
        """Its settings as they were published."""
        return load_config(self.config, self.changes)


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as it was published; see `TableResult` for what they share.

    Attributes:
        number: in print.
        word: another name of it, such as "losses".
        label: of the table in the paper's source.
        seeds: that were averaged over; None where the paper does not say.
    """

    number: int
    word: str
    label: str
    title: str
    columns: tuple[str, ...]
    seeds: tuple[int, ...] | None
    rows: tuple[PaperRow, ...]

    @property
    def name(self) -> str:
        """As the command has it, e.g. "table2"."""
        return f"table{self.number}"

    @property
    def setting(self) -> str:
        """The data set and labels of its rows; empty for statistics of the data."""
        return self.rows[0].setting

    def row(self, name: str) -> PaperRow:
        """The row of a name; an unknown one is an error that names the nearest, or the tables that have it."""
        rows = {row.name: row for row in self.rows}
        if name not in rows and (
            others := [
                each.name for each in published().values() if any(row.name == name for row in each.rows)
            ]
        ):
            raise ValueError(f"{name!r} is a row of {', '.join(others)}; {self.name} has {', '.join(rows)}")
        return lookup(f"row of {self.name}", name, rows)


def table_named(name: str) -> PaperTable:
    """The table of a printed number or a word; an unknown one is an error that names the nearest.

    Example:
        >>> table = table_named("priors")
        >>> table.name, table.columns, [row.name for row in table.rows]
        ('table12', ('F1', 'P', 'R'), ['prior-2', 'prior-3', 'prior-4'])
        >>> print(table.row("prior-2").published["P"], table.row("prior-2").changes)
        78.98 {'prior_multiplier': 2}
    """
    words = {table.word: table for table in published().values()}
    return lookup("table", name, {**published(), **words})


@cache
def published() -> Mapping[str, PaperTable]:
    """The paper's tables by name, in the order of print, read from `published.json`."""
    text = (resources.files("unnoted.experiments") / "published.json").read_text("utf-8")
    tables = {}
    for entry in json.loads(text)["tables"]:
        columns, seeds = tuple(entry["columns"]), entry["seeds"]
        rows = []
        for row in entry["rows"]:
            figures = dict(zip(columns, map(_parse_figure, row.pop("figures")), strict=True))
            rows.append(PaperRow(published=figures, **row))
        read = {"columns": columns, "seeds": seeds and tuple(seeds), "rows": tuple(rows)}
        table = PaperTable(**(entry | read))
        tables[table.name] = table
    return tables


def _parse_figure(printed: str) -> MeanStd:
    """A figure as it is printed, such as "32.57 ± 0.22" or "3,053"."""
    mean, _, deviation = printed.replace(",", "").partition("±")
    return MeanStd(float(mean), float(deviation) if deviation else None)
