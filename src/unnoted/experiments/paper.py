"""The paper's tables as data: what was published, where it stands, and which settings it came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from unnoted.common.lookup import lookup
from unnoted.experiments.results import Figure

ALIASES = {"statistics": "accents1"}
"""Other names of tables."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row as it was published.

    Attributes:
        name: short and unique in its table.
        title: as the paper writes it.
        group: rows of one group stand together.
        mark: "own" for baselines that the authors trained, "reported" for those taken from elsewhere, or "".
        config: the settings, a config's name.
        changes: what the row has other than its config.
        behind: the row that the paper puts before this one; None for the best.
        published: figures by the title of their column.
    """

    name: str
    title: str
    group: str
    mark: str
    config: str
    changes: Mapping[str, float]
    behind: str | None
    published: Mapping[str, Figure]

    @property
    def setting(self) -> str:
        """The data set and its labels, such as "docred-original"."""
        return self.config.partition("/")[0]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as it was published.

    Attributes:
        name: as the command has it.
        label: of the table in the paper's source.
        title: one line on what it shows.
        columns: their titles, from left to right.
        seeds: that were averaged over; None where the paper does not say.
        rows: from top to bottom.
    """

    name: str
    label: str
    title: str
    columns: tuple[str, ...]
    seeds: tuple[int, ...] | None
    rows: tuple[PaperRow, ...]

    def row(self, name: str) -> PaperRow:
        """The row of a name; an unknown one is an error that names the nearest."""
        return lookup(f"row of {self.name}", name, {row.name: row for row in self.rows})


@dataclass(frozen=True, slots=True)
class PaperStatistics:
    """The table of the data sets' statistics: by row, then by column.

    Attributes:
        name: as the command has it.
        label: of the table in the paper's source.
        title: one line on what it shows.
        columns: the data sets' parts.
        rows: the figure of each part, by the row's title.
    """

    name: str
    label: str
    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Figure]]


@dataclass(frozen=True, slots=True)
class Paper:
    """All tables.

    Example:
        >>> table = published().table("table9")
        >>> table.columns, [row.name for row in table.rows]
        (('F1', 'P', 'R'), ['prior-2', 'prior-3', 'prior-4'])
        >>> print(table.row("prior-2").published["P"], table.row("prior-2").changes)
        78.98 {'prior_multiplier': 2}
    """

    source: str
    statistics: PaperStatistics
    tables: Mapping[str, PaperTable]

    @property
    def names(self) -> tuple[str, ...]:
        """Every table, in the paper's order."""
        return (self.statistics.name, *self.tables)

    def named(self, name: str) -> PaperTable | PaperStatistics:
        """The table of a name or an alias; an unknown one is an error that names the nearest."""
        every: dict[str, PaperTable | PaperStatistics] = {
            self.statistics.name: self.statistics,
            **self.tables,
        }
        every |= {alias: every[of] for alias, of in ALIASES.items()}
        return lookup("table", name, every)

    def table(self, name: str) -> PaperTable:
        """A table of runs."""
        return lookup("table", name, self.tables)


@cache
def published() -> Paper:
    """The paper's tables, read from `published.json`."""
    text = (resources.files("unnoted.experiments") / "published.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    tables = [_table(entry) for entry in content["tables"]]
    return Paper(
        content["source"], _statistics(content["statistics"]), {table.name: table for table in tables}
    )


def figure(printed: str, seeds: int | None = None) -> Figure:
    """A figure as it is printed.

    Example:
        >>> figure("32.57 ± 0.22", 5), figure("3,053")
        (Figure(mean=32.57, deviation=0.22, seeds=5), Figure(mean=3053.0, deviation=None, seeds=None))
    """
    mean, _, deviation = printed.replace(",", "").partition("±")
    return Figure(float(mean), float(deviation) if deviation else None, seeds)


def _statistics(entry: Mapping[str, Any]) -> PaperStatistics:
    columns = tuple(entry["columns"])
    rows = {
        title: dict(zip(columns, map(figure, figures), strict=True))
        for title, figures in entry["rows"].items()
    }
    return PaperStatistics(entry["name"], entry["label"], entry["title"], columns, rows)


def _table(entry: Mapping[str, Any]) -> PaperTable:
    columns = tuple(entry["columns"])
    seeds = None if entry["seeds"] is None else tuple(entry["seeds"])
    rows = tuple(_row(row, columns, seeds) for row in entry["rows"])
    return PaperTable(entry["name"], entry["label"], entry["title"], columns, seeds, rows)


def _row(entry: Mapping[str, Any], columns: tuple[str, ...], seeds: tuple[int, ...] | None) -> PaperRow:
    mark = entry.get("mark", "")
    # What was reported from elsewhere was not averaged over the paper's seeds.
    averaged = None if seeds is None or mark == "reported" else len(seeds)
    figures = [figure(printed, averaged) for printed in entry["figures"]]
    return PaperRow(
        name=entry["name"],
        title=entry["title"],
        group=entry["group"],
        mark=mark,
        config=entry["config"],
        changes=entry.get("changes", {}),
        behind=entry.get("behind"),
        published=dict(zip(columns, figures, strict=True)),
    )
