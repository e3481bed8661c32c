"""A table of the paper, run anew at a chosen scale: published figures beside measured ones."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from unnoted.experiments.data_sets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.departures import departure_notes, seed_note
from unnoted.experiments.grid import Pool
from unnoted.experiments.paper import PaperRow, PaperTable, table_named
from unnoted.experiments.plan import PlannedRow, PlannedTable
from unnoted.experiments.results import TableResult
from unnoted.experiments.scale import Scale, Scaled, applies, is_pretrained, scale_row
from unnoted.training.record import Record

DEFAULT_SEEDS = (62, 63, 64, 65, 66)
"""For tables that do not say theirs: those of the others."""

OF_ENCODER = frozenset({"encoder", "encoder_learning_rate", "output"})
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

    Args:
        table: of the paper.
        scale: how large it is run; every departure from the published settings becomes a note.
        data: where the data sets are.
        folder: of the runs. What is finished there is not repeated.
        pool: where runs are performed.
        rows: the names of the rows to run; all if empty.
        tell: is given lines for the user.

    Raises:
        MissingData: the test documents are not there, or no row has its files.
        ValueError: the scale cannot be applied to the table.
    """
    result = plan_table(table, scale, data, folder, rows).carry_out(folder, pool, tell)
    records = [record for row in result.rows for record in row.records]
    return replace(result, notes=(*count_notes(table.setting, records), *result.notes))


def plan_table(
    table: PaperTable, scale: Scale, data: DataFolder, folder: Path, rows: Sequence[str] = ()
) -> PlannedTable:
    """What `reproduce` would run."""
    wanted = {table.row(name).name for name in rows} or {row.name for row in table.rows}
    chosen = [row for row in table.rows if row.name in wanted]
    for key in scale.changes:
        if not any(applies(key, row.settings) for row in chosen):
            raise ValueError(f"--set {key}: found no row of {table.name} that has it")
    twins = twins_of(chosen) if "encoder" in scale.changes else {}
    seeds = scale.seeds or table.seeds or DEFAULT_SEEDS
    scored_notes = data.scored(table.setting)[1]
    scaled, missing = _scaled([row for row in chosen if row.name not in twins], scale, data, folder)

    def planned(row: PaperRow) -> PlannedRow:
        settings = [scaled[row.name].settings] if row.name in scaled else []
        runs = tuple(each.model_copy(update={"seed": seed}) for each in settings for seed in seeds)
        why = missing.get(row.name)
        return PlannedRow(row.name, row.title, row.group, runs, row.published, row.mark, why)

    return PlannedTable(
        name=table.name,
        title=table.title,
        columns=table.columns,
        rows=tuple(map(planned, chosen)),
        notes=tuple([*scored_notes, *_notes(table, scale, chosen, twins, scaled, seeds)]),
        claims=tuple(
            (twins.get(row.behind, row.behind), row.name)
            for row in chosen
            if row.behind is not None and row.name not in twins
        ),
    )


def twins_of(rows: Iterable[PaperRow]) -> dict[str, str]:
    """Rows that differ from an earlier one in their encoder only, and that one."""
    first: dict[str, str] = {}
    twins = {}
    for row in rows:
        settings = row.settings
        if is_pretrained(settings):
            shared = settings.model_dump_json(exclude=set(OF_ENCODER))
            earlier = first.setdefault(shared, row.name)
            if earlier != row.name:
                twins[row.name] = earlier
    return twins


def _scaled(
    rows: Sequence[PaperRow], scale: Scale, data: DataFolder, folder: Path
) -> tuple[dict[str, Scaled], dict[str, str]]:
    """The rows that have their files, and for the others what is missing."""
    scaled, missing = {}, {}
    for row in rows:
        try:
            scaled[row.name] = scale_row(row, scale, data, folder)
        except MissingData as error:
            missing[row.name] = str(error)
    if not scaled:
        raise MissingData("; ".join(dict.fromkeys(missing.values())))
    return scaled, missing


def _notes(
    table: PaperTable,
    scale: Scale,
    chosen: Sequence[PaperRow],
    twins: dict[str, str],
    scaled: dict[str, Scaled],
    seeds: Sequence[int],
) -> list[str]:
    notes = list(dict.fromkeys(row.note for row in scaled.values() if row.note is not None))
    if scale.documents is not None:
        notes.append(f"training documents: the first {scale.documents:,} of the file")
    notes += departure_notes(scaled)
    if (seed := seed_note(seeds, table.seeds)) is not None:
        notes.append(seed)
    if twins:
        pairs = ", ".join(f"{row} (as {earlier})" for row, earlier in twins.items())
        notes.append(f"not run, because with one encoder for all they would be the same: {pairs}")
    if left := [row.name for row in table.rows if row not in chosen]:
        notes.append(f"rows left out: {', '.join(left)}")
    if not {"F1", "Test F1"} & set(table.columns):
        notes.append("who is better than whom is asked of all relations, not of the frequent ones alone")
    if DATA_SETS[table.setting].benchmark.has_published_denominator:
        notes.append(
            "the figures leave out facts that published systems could not reach; who is better than whom is "
            "asked of all facts"
        )
    return notes


def count_notes(setting: str, records: Sequence[Record]) -> list[str]:
    """How many documents were trained and scored on, where that is not what was published.

    So too the relations that have a label: one without cannot be learnt, and where published scores leave
    out what nobody could reach, more is left out.
    """
    statistics = table_named("statistics")
    train, test = (f"{DATA_SETS[setting].title} {part}" for part in ("train", "test"))
    counts = {
        "documents trained on": ("# docs", train, {record.train_documents for record in records}),
        "documents scored on": ("# docs", test, {len(record.scored["test"].documents) for record in records}),
        "relations with a label": ("# rels", train, {len(record.train_facts) for record in records}),
    }
    notes = []
    for what, (row, column, numbers) in counts.items():
        wanted = int(statistics.row(row).published[column].mean)
        if numbers - {wanted}:
            shown = ", ".join(f"{number:,}" for number in sorted(numbers))
            notes.append(f"{what}: {shown} (published: {wanted:,})")
    return notes
