"""A table before and after its runs: which runs each row has, and what they came to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unnoted.common.wording import counted
from unnoted.evaluation import paired_bootstrap
from unnoted.experiments.columns import columns_titled, measured
from unnoted.experiments.grid import Outcome, Pool, run_grid, title
from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.training.fingerprint import fingerprint
from unnoted.training.record import Failure, Record
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings


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
    runs: tuple[Settings, ...]
    published: Mapping[str, Figure] = field(default_factory=dict)
    mark: str = ""
    missing: str | None = None

    def result(self, outcomes: Mapping[str, Outcome], columns: Sequence[str]) -> RowResult:
        """What its runs came to, given the outcomes of all runs by address, and the titles of columns."""
        ended = [outcomes[fingerprint(run).address] for run in self.runs]
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
class PlannedTable:
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
    def runs(self) -> list[Settings]:
        """Those of all rows."""
        return [run for row in self.rows for run in row.runs]

    def lines(self, folder: Path) -> Iterator[str]:
        """What would be run, for people; what is finished in the grid's folder is marked."""
        done = {}
        for run in self.runs:
            address = fingerprint(run).address
            done[address] = RunFolder(folder / address).finished(run) is not None
        yield f"{self.name}: {counted(len(done), 'run')}, {sum(done.values())} of them finished, in {folder}"
        for row in self.rows:
            if row.missing is not None:
                yield f"  {row.name}: cannot be run: {row.missing}"
            elif not row.runs:
                yield f"  {row.name}: not run"
            for run in row.runs:
                address = fingerprint(run).address
                yield f"  {row.name}: {title(run)}: {address}, {'finished' if done[address] else 'to do'}"
        yield from (f"note: {note}" for note in self.notes)

    def carry_out(
        self, folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
    ) -> TableResult:
        """Perform the runs that are not finished, and put the table together.

        Args:
            folder: of the grid.
            pool: where runs are performed.
            tell: is given lines for the user.
        """
        outcomes = run_grid(self.runs, folder, pool, tell)
        rows = tuple(row.result(outcomes, self.columns) for row in self.rows)
        claims = claims_of(self.claims, rows)
        return TableResult(self.name, self.title, self.columns, rows, self.notes, claims)


def claims_of(pairs: Sequence[tuple[str, str]], rows: Sequence[RowResult]) -> tuple[Claim, ...]:
    """Who is better than whom on the test documents, where both have finished runs."""
    finished = {
        row.name: [
            {document: ign.score for document, ign in record.scored["test"].documents.items()}
            for record in row.records
        ]
        for row in rows
        if row.records
    }
    claims = []
    for better, than in pairs:
        if better in finished and than in finished:
            found = paired_bootstrap(finished[better], finished[than])
            claims.append(Claim(better, than, found.difference, found.low, found.high, found.share))
    return tuple(claims)
