"""A table of the paper, run anew at a chosen scale: published beside measured figures, every deviation a note."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from unnoted.experiments.datasets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.grid import Log, Scale, execute, make_training_file, with_seeds
from unnoted.experiments.paper import PaperRow, PaperTable, table_named
from unnoted.experiments.results import CURVE, Row, TableResult
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.training.config import TrainingConfig, expand_key, is_used, load_config
from unnoted.training.results import Failure, Record
from unnoted.training.run_directory import NOT_HASHED

DEFAULT_SEEDS = (62, 63, 64, 65, 66)
"""For tables that do not say theirs: those of the others."""

NO_DEVIATIONS = {*NOT_HASHED, "seed", "train", "data.benchmark"}
"""Keys that change nothing, or that other notes are about: the seeds and the documents."""

FILES = {"dev", "data.vocabulary", "model.encoder_options.vectors", "loss.prior_file"}
"""Keys of files, which lie elsewhere on every machine."""


def reproduce(
    table: PaperTable,
    scale: Scale,
    data: DataFolder,
    folder: Path,
    jobs: int = 1,
    *,
    rows: Sequence[str] = (),
    log: Log = lambda line: None,
    ray: str | None = None,
) -> TableResult:
    """Run a table of the paper; what is finished in the runs' folder is not repeated.

    Args:
        table: of the paper.
        scale: how large the runs are; as published if it changes nothing.
        data: the published files.
        folder: where runs go.
        jobs: runs at a time.
        rows: names of rows; without any, all are run.
        log: called with lines on what happens.
        ray: the address of a Ray cluster that performs the runs.

    Raises:
        MissingData: the test documents are not there, or no row has its files.
        ValueError: the scale cannot be applied to the table.
    """
    result = execute(plan_table(table, scale, data, folder, rows), folder, jobs, log, ray)
    records = [record for row in result.rows for record in row.records]
    return replace(result, notes=(*count_notes(table.setting, records), *result.notes))


def plan_table(
    table: PaperTable, scale: Scale, data: DataFolder, folder: Path, rows: Sequence[str] = ()
) -> TableResult:
    """What `reproduce` would run."""
    if not table.setting:
        raise ValueError(
            f"{table.name} trains nothing: `unnoted data check` counts documents, entities and labels"
        )
    wanted = {table.row(name).name for name in rows}
    chosen = [row for row in table.rows if not wanted or row.name in wanted]
    for key in scale.changes:
        if not any(applies(key, row.settings) for row in chosen):
            raise ValueError(f"--set {key}: no row of {table.name} has it")
    # With one encoder for all, the rows of the large one would be those of the other again.
    names = {row.name for row in chosen}
    twins = {name: name.removesuffix("-large") for name in names if name.endswith("-large")}
    duplicates = {name: twin for name, twin in twins.items() if twin in names and "encoder" in scale.changes}
    seeds = scale.seeds or table.seeds or DEFAULT_SEEDS
    notes = data.scored(table.setting)[1]
    scaled: dict[str, ScaledRow] = {}
    planned: list[Row] = []
    for row in chosen:
        runs: tuple[TrainingConfig, ...] = ()
        failures: tuple[Failure, ...] = ()
        if row.name not in duplicates:
            try:
                scaled[row.name] = scale_row(row, scale, data, folder)
                runs = with_seeds(scaled[row.name].settings, seeds)
            except MissingData as error:
                failures = (Failure(f"{row.name}, not begun", str(error)),)
        planned.append(Row(row.name, row.title, row.group, runs, row.published, row.mark, failures=failures))
    if not scaled:
        reasons = [failure.reason for row in planned for failure in row.failures]
        raise MissingData("; ".join(dict.fromkeys(reasons)))
    notes += [
        *dict.fromkeys(row.note for row in scaled.values() if row.note is not None),
        *deviation_notes(scaled),
        *_row_notes(table, chosen, duplicates),
    ]
    if scale.documents is not None:
        notes.append(f"training documents: the first {scale.documents:,} of the file")
    if (note := seed_note(seeds, table.seeds)) is not None:
        notes.append(note)
    compared = tuple(
        (duplicates.get(row.behind, row.behind), row.name)
        for row in chosen
        if row.behind is not None and row.name not in duplicates
    )
    columns = (*table.columns, *CURVE)
    return TableResult(table.name, table.title, columns, tuple(planned), tuple(notes), compared)


@dataclass(frozen=True, slots=True)
class ScaledRow:
    """A row at a scale: its published settings, those that are run but for the seed, a note on its data."""

    published: TrainingConfig
    settings: TrainingConfig
    note: str | None


def scale_row(row: PaperRow, scale: Scale, data: DataFolder, folder: Path) -> ScaledRow:
    """A row's settings at a scale, with files that are there, or made in `data` below the grid's folder.

    Raises:
        MissingData: a file is not there.
        ValueError: the scale asks for what the row cannot have.
    """
    for key in scale.changes.keys() & row.changes.keys():
        raise ValueError(f"--set {key}: cannot be set for all rows, which differ in it")
    published = row.settings
    train = data.train(published)
    files, level = train.paths, train.level or "full"
    if (scale.documents, level) != (None, "full"):
        files = (make_training_file(files, folder / "data", documents=scale.documents, level=level).path,)
    changes = {
        **row.changes,
        **data.others(published, scale.changes),
        **applicable(scale, published),
        "train": files,
        "test": data.scored(row.setting)[0],
        "benchmark": DATA_SETS[row.setting].benchmark.name,
        "output": folder,
    }
    return ScaledRow(published, load_config(row.config, changes), train.note)


def applicable(scale: Scale, settings: TrainingConfig) -> dict[str, object]:
    """The changes of a scale that mean something to settings."""
    return {key: value for key, value in scale.changes.items() if applies(key, settings)}


def applies(key: str, settings: TrainingConfig) -> bool:
    """Whether a setting means something to settings: a margin, for instance, only to a loss that has one."""
    is_pretrained = settings.model.encoder not in ENCODER_KINDS
    match expand_key(key):
        case "model.encoder" | "model.encoder_layers":
            return is_pretrained
        case "model.encoder_options.vectors":
            return not is_pretrained
        case "dev":
            return settings.dev is not None
        case "optimizer.unlabelled_rate":
            return settings.optimizer.unlabelled_per_labelled is None
        case dotted:
            return is_used(dotted, settings.loss.name, settings.model.architecture)


# Notes on every deviation from what was published


def deviation_notes(rows: Mapping[str, ScaledRow]) -> Iterator[str]:
    """Every setting in which rows differ from the published ones, those that several rows share in one line."""
    shared: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, row in rows.items():
        theirs, mine = row.published.flatten(), row.settings.flatten()
        for key in dict.fromkeys([*theirs, *mine]):
            ours, published = _text(key, mine.get(key)), _text(key, theirs.get(key))
            if ours != published and key not in NO_DEVIATIONS and not key.startswith("test."):
                shared.setdefault((key, ours), {}).setdefault(published, []).append(name)
    for (key, ours), by_value in shared.items():
        if len(by_value) > 1:
            published = "; ".join(f"{value} in {', '.join(names)}" for value, names in by_value.items())
            where = ""
        else:
            ((published, names),) = by_value.items()
            where = "" if len(names) == len(rows) else f" in {', '.join(names)}"
        yield f"{key.rpartition('.')[2].replace('_', ' ')}: {ours} (published: {published}){where}"


def _text(key: str, value: object) -> str:
    match value:
        case None:
            return "all" if key == "model.encoder_layers" else "none"
        case str() if key in FILES:
            return Path(value).name
        case list():
            return ", ".join(_text(key, each) for each in value)
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)


def _row_notes(table: PaperTable, chosen: Sequence[PaperRow], duplicates: Mapping[str, str]) -> Iterator[str]:
    if duplicates:
        pairs = ", ".join(f"{row} (as {twin})" for row, twin in sorted(duplicates.items()))
        yield f"not run, because with one encoder for all they would be the same: {pairs}"
    if left := [row.name for row in table.rows if row not in chosen]:
        yield f"rows left out: {', '.join(left)}"
    if not {"F1", "Test F1"} & set(table.columns):
        yield "significance is tested on all relations, not on the frequent ones alone"
    if DATA_SETS[table.setting].benchmark.has_published_denominator:
        yield (
            "the figures leave out facts that published systems could not reach; significance is tested on "
            "all facts"
        )


def seed_note(seeds: Sequence[int], published: Sequence[int] | None) -> str | None:
    """How the seeds differ from the published ones.

    Example:
        >>> seed_note([62, 63, 64, 66], [62, 63, 64, 65, 66])
        'seeds: 62–64, 66 (published: 62–66)'
    """

    def ranges(seeds: Iterable[int]) -> str:
        # Seeds that follow one another are equally far from their places.
        groups = groupby(enumerate(seeds), lambda each: each[1] - each[0])
        runs = [[seed for _, seed in group] for _, group in groups]
        return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)

    if published is not None and tuple(seeds) == tuple(published):
        return None
    return f"seeds: {ranges(seeds)} (published: {'unknown' if published is None else ranges(published)})"


def count_notes(setting: str, records: Sequence[Record]) -> Iterator[str]:
    """How many documents and relations there were, where that is not what was published."""
    train, test = (f"{DATA_SETS[setting].title} {part}" for part in ("train", "test"))
    counts = {
        "documents trained on": ("# docs", train, {record.train_documents for record in records}),
        "documents scored on": ("# docs", test, {len(record.scored["test"].documents) for record in records}),
        "relations with a label": ("# rels", train, {len(record.train_facts) for record in records}),
    }
    for what, (row, column, numbers) in counts.items():
        published = int(table_named("statistics").row(row).published[column].mean)
        if numbers - {published}:
            yield f"{what}: {', '.join(f'{number:,}' for number in sorted(numbers))} (published: {published:,})"
