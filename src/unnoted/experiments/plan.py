"""A table before and after its runs: which runs each row has, and what they came to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unnoted.evaluation import Score, paired_bootstrap
from unnoted.experiments.columns import columns_titled, measured
from unnoted.experiments.grid import run_grid
from unnoted.experiments.place import Place
from unnoted.experiments.pools import Pool
from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.experiments.runs import Run
from unnoted.training.record import Failure, Record


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A row and its runs.

    Attributes:
        name: short and unique in its table.
        title: for people.
        group: rows of one group stand together.
        runs: one for each seed; none if the row is not run.
        published: figures by the title of their column.
        mark: where the published figures are from, in a word.
        missing: why the row cannot be run; None if it can.
    """

    name: str
    title: str
    group: str
    runs: tuple[Run, ...]
    published: Mapping[str, Figure] = field(default_factory=dict)
    mark: str = ""
    missing: str | None = None

    def result(self, outcomes: Mapping[str, Record | Failure], columns: Sequence[str]) -> RowResult:
        """What its runs came to.

        Args:
            outcomes: of all runs, by address.
            columns: the titles of the table's columns.
        """
        ended = [outcomes[run.address] for run in self.runs]
        records = tuple(outcome for outcome in ended if isinstance(outcome, Record))
        failures = [outcome for outcome in ended if isinstance(outcome, Failure)]
        if self.missing is not None:
            failures.append(Failure(f"{self.name}, not begun", self.missing))
        return RowResult(
            name=self.name,
            title=self.title,
            group=self.group,
            published=self.published,
            measured=measured(records, columns_titled(columns)),
            records=records,
            failures=tuple(failures),
            mark=self.mark,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A table that is to be run.

    Attributes:
        name: of the table.
        title: one line on what it shows.
        columns: the titles of its columns.
        rows: from top to bottom.
        notes: on how the runs depart from what was published, a line each.
        claims: (better, than) by the names of rows.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[PlannedRow, ...]
    notes: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]

    @property
    def runs(self) -> list[Run]:
        """Those of all rows."""
        return [run for row in self.rows for run in row.runs]

    def lines(self, folder: Path) -> Iterator[str]:
        """What would be run, for people; what is finished in the grid's folder is marked."""
        finished = {run.address: Place(folder, run.address).record() is not None for run in self.runs}
        yield f"{self.name}: {len(finished)} runs, {sum(finished.values())} of them finished, in {folder}"
        for row in self.rows:
            if row.missing is not None:
                yield f"  {row.name}: cannot be run: {row.missing}"
            elif not row.runs:
                yield f"  {row.name}: not run"
            for run in row.runs:
                state = "finished" if finished[run.address] else "to do"
                yield f"  {row.name}: {run.title()}: {run.address}, {state}"
        yield from (f"note: {note}" for note in self.notes)


def carry_out(
    plan: Plan, folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
) -> TableResult:
    """Perform the runs of a plan that are not finished, and put its table together.

    Args:
        plan: what is to be run.
        folder: of the grid.
        pool: where runs are performed.
        tell: is given lines for the user.
    """
    outcomes = run_grid(plan.runs, folder, pool, tell)
    rows = tuple(row.result(outcomes, plan.columns) for row in plan.rows)
    return TableResult(plan.name, plan.title, plan.columns, rows, plan.notes, claims_of(plan.claims, rows))


def claims_of(pairs: Sequence[tuple[str, str]], rows: Sequence[RowResult]) -> tuple[Claim, ...]:
    """Who is better than whom on the test documents, where both have finished runs."""
    finished = {row.name: _by_document(row) for row in rows if row.records}
    claims = []
    for better, than in pairs:
        if better in finished and than in finished:
            found = paired_bootstrap(finished[better], finished[than])
            claims.append(Claim(better, than, found.difference, found.low, found.high, found.share))
    return tuple(claims)


def _by_document(row: RowResult) -> list[dict[str, Score]]:
    return [
        {document: ign.score for document, ign in record.scored["test"].documents.items()}
        for record in row.records
    ]
