"""From a planned table to a finished one: what would be run, and what the runs came to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from unnoted.evaluation import paired_bootstrap
from unnoted.experiments.columns import measured
from unnoted.experiments.grid import Outcome, Pool, run_grid, title
from unnoted.experiments.results import Claim, RowResult, TableResult
from unnoted.training.fingerprint import fingerprint
from unnoted.training.record import Failure, Record
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings
from unnoted.utils import plural


def with_seeds(settings: Settings, seeds: Sequence[int]) -> tuple[Settings, ...]:
    """One run per seed."""
    return tuple(settings.model_copy(update={"seed": seed}) for seed in seeds)


def plan_lines(plan: TableResult, folder: Path) -> Iterator[str]:
    """What would be run, for people; what is finished in the grid's folder is marked."""
    done = {}
    for run in plan.runs:
        address = fingerprint(run).address
        done[address] = RunFolder(folder / address).finished(run) is not None
    yield f"{plan.name}: {plural(len(done), 'run')}, {sum(done.values())} of them finished, in {folder}"
    for row in plan.rows:
        for failure in row.failures:
            yield f"  {row.name}: cannot be run: {failure.reason}"
        if not row.runs and not row.failures:
            yield f"  {row.name}: not run"
        for run in row.runs:
            address = fingerprint(run).address
            yield f"  {row.name}: {title(run)}: {address}, {'finished' if done[address] else 'to do'}"
    yield from (f"note: {note}" for note in plan.notes)


def carry_out(
    plan: TableResult, folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
) -> TableResult:
    """Perform the runs that are not finished in the grid's folder, and fill in the table; see `run_grid`."""
    outcomes = run_grid(plan.runs, folder, pool, tell)
    rows = tuple(_filled(row, outcomes, plan.columns) for row in plan.rows)
    return replace(plan, rows=rows, claims=tuple(_claims(plan.compared, rows)))


def _filled(row: RowResult, outcomes: Mapping[str, Outcome], columns: Sequence[str]) -> RowResult:
    ended = [outcomes[fingerprint(run).address] for run in row.runs]
    records = tuple(outcome for outcome in ended if isinstance(outcome, Record))
    failures = tuple(outcome for outcome in ended if isinstance(outcome, Failure))
    return replace(
        row,
        measured=measured(records, columns),
        records=records,
        failures=row.failures + failures,
    )


def _claims(compared: Sequence[tuple[str, str]], rows: Sequence[RowResult]) -> Iterator[Claim]:
    """Who is better than whom on the test documents, where both have finished runs of the same seeds."""
    finished = {
        row.name: {
            record.settings["seed"]: {
                document: ign.score for document, ign in record.scored["test"].documents.items()
            }
            for record in row.records
        }
        for row in rows
    }
    for better, than in compared:
        first, second = finished.get(better, {}), finished.get(than, {})
        # A run that failed leaves out its seed on both sides.
        if seeds := [seed for seed in first if seed in second]:
            found = paired_bootstrap([first[seed] for seed in seeds], [second[seed] for seed in seeds])
            figures = found.difference, found.low, found.high, found.share
            yield Claim(better, than, *figures, seeds=len(seeds))
