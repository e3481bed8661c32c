"""A table of the paper, run anew at a chosen scale: published figures beside measured ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from unnoted.experiments.data_sets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.departures import departure_notes, seed_note
from unnoted.experiments.grid import Pool
from unnoted.experiments.paper import PaperRow, PaperTable, table_named
from unnoted.experiments.plan import carry_out, with_seeds
from unnoted.experiments.results import RowResult, TableResult
from unnoted.experiments.scale import Scale, Scaled, applies, is_pretrained, scale_row
from unnoted.training.record import Failure, Record

DEFAULT_SEEDS = (62, 63, 64, 65, 66)
"""For tables that do not say theirs: those of the others."""

OF_ENCODER = {"encoder", "encoder_learning_rate", "output"}
"""In what rows of two encoders differ: each encoder has its own rate."""


def reproduce(
    table: PaperTable,
    scale: Scale,
    data: DataFolder,
    folder: Path,
    pool: Pool,
    *,
    rows: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> TableResult:
    """Run a table of the paper, and put published and measured figures side by side.

    Every departure from the published settings becomes a note. What is finished in the runs' folder is not
    repeated. Without names of rows, all are run.

    Raises:
        MissingData: the test documents are not there, or no row has its files.
        ValueError: the scale cannot be applied to the table.
    """
    result = carry_out(plan_table(table, scale, data, folder, rows), folder, pool, tell)
    records = [record for row in result.rows for record in row.records]
    return replace(result, notes=(*count_notes(table.setting, records), *result.notes))


def plan_table(
    table: PaperTable, scale: Scale, data: DataFolder, folder: Path, rows: Sequence[str] = ()
) -> TableResult:
    """What `reproduce` would run."""
    wanted = {table.row(name).name for name in rows}
    chosen = [row for row in table.rows if not wanted or row.name in wanted]
    for key in scale.changes:
        if not any(applies(key, row.settings) for row in chosen):
            raise ValueError(f"--set {key}: found no row of {table.name} that has it")
    twins = twins_of(chosen) if "encoder" in scale.changes else {}
    seeds = scale.seeds or table.seeds or DEFAULT_SEEDS
    notes = data.scored(table.setting)[1]
    scaled: dict[str, Scaled] = {}
    missing: dict[str, str] = {}
    for row in chosen:
        try:
            if row.name not in twins:
                scaled[row.name] = scale_row(row, scale, data, folder)
        except MissingData as error:
            missing[row.name] = str(error)
    if not scaled:
        raise MissingData("; ".join(dict.fromkeys(missing.values())))

    def planned(row: PaperRow) -> RowResult:
        runs = with_seeds(scaled[row.name].settings, seeds) if row.name in scaled else ()
        why = [Failure(f"{row.name}, not begun", missing[row.name])] if row.name in missing else []
        return RowResult(row.name, row.title, row.group, row.published, {}, (), tuple(why), row.mark, runs)

    notes += [*_scale_notes(scaled, scale), *_row_notes(table, chosen, twins, seeds)]
    compared = tuple(
        (twins.get(row.behind, row.behind), row.name)
        for row in chosen
        if row.behind is not None and row.name not in twins
    )
    return TableResult(
        table.name, table.title, table.columns, tuple(map(planned, chosen)), tuple(notes), compared=compared
    )


def twins_of(rows: Iterable[PaperRow]) -> dict[str, str]:
    """Rows that differ from an earlier one in their encoder only, and that one."""
    first: dict[str, str] = {}
    for row in rows:
        if is_pretrained(row.settings):
            first[row.name] = row.settings.model_dump_json(exclude=OF_ENCODER)
    earliest = {shared: name for name, shared in reversed(first.items())}
    return {name: earliest[shared] for name, shared in first.items() if earliest[shared] != name}


def _scale_notes(scaled: Mapping[str, Scaled], scale: Scale) -> Iterator[str]:
    yield from dict.fromkeys(row.note for row in scaled.values() if row.note is not None)
    if scale.documents is not None:
        yield f"training documents: the first {scale.documents:,} of the file"
    yield from departure_notes(scaled)


def _row_notes(
    table: PaperTable, chosen: Sequence[PaperRow], twins: Mapping[str, str], seeds: Sequence[int]
) -> Iterator[str]:
    if (seed := seed_note(seeds, table.seeds)) is not None:
        yield seed
    if twins:
        pairs = ", ".join(f"{row} (as {earlier})" for row, earlier in twins.items())
        yield f"not run, because with one encoder for all they would be the same: {pairs}"
    if left := [row.name for row in table.rows if row not in chosen]:
        yield f"rows left out: {', '.join(left)}"
    if not {"F1", "Test F1"} & set(table.columns):
        yield "who is better than whom is asked of all relations, not of the frequent ones alone"
    if DATA_SETS[table.setting].benchmark.has_published_denominator:
        yield (
            "the figures leave out facts that published systems could not reach; who is better than whom is "
            "asked of all facts"
        )


def count_notes(setting: str, records: Sequence[Record]) -> Iterator[str]:
    """How many documents were trained and scored on, where that is not what was published.

    So too the relations that have a label: one without cannot be learnt.
    """
    train, test = (f"{DATA_SETS[setting].title} {part}" for part in ("train", "test"))
    counts = {
        "documents trained on": ("# docs", train, {record.train_documents for record in records}),
        "documents scored on": ("# docs", test, {len(record.scored["test"].documents) for record in records}),
        "relations with a label": ("# rels", train, {len(record.train_facts) for record in records}),
    }
    for what, (row, column, numbers) in counts.items():
        wanted = int(table_named("statistics").row(row).published[column].mean)
        if numbers - {wanted}:
            yield f"{what}: {', '.join(f'{n:,}' for n in sorted(numbers))} (published: {wanted:,})"
