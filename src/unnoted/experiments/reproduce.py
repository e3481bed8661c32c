"""A table of the paper, run anew at a chosen scale: published beside measured figures, every deviation a note."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from unnoted.experiments.datasets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.grid import Log, Scale, execute, make_training_file, with_seeds
from unnoted.experiments.paper import PaperRow, PaperTable, table_named
from unnoted.experiments.results import Row, TableResult
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.training.config import TrainingConfig, expand_key, is_used, load_config
from unnoted.training.results import Failure, Record
from unnoted.training.run_directory import NOT_HASHED

DEFAULT_SEEDS = (62, 63, 64, 65, 66)
"""For tables that do not say theirs: those of the others."""

OF_ENCODER = {"model.encoder", "optimizer.encoder_learning_rate", "output"}
"""In what rows of two encoders differ: each encoder has its own rate."""

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

    Raises:
        MissingData: the test documents are not there, or no row has its files.
        ValueError: the scale cannot be applied to the table.
    """
    result = execute(plan_table(table, scale, data, folder, rows), folder, jobs, log)
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
    duplicates = duplicate_rows(chosen) if "encoder" in scale.changes else {}
    seeds = scale.seeds or table.seeds or DEFAULT_SEEDS
    notes = data.scored(table.setting)[1]
    scaled: dict[str, ScaledRow] = {}
    missing: dict[str, str] = {}
    for row in chosen:
        try:
            if row.name not in duplicates:
                scaled[row.name] = scale_row(row, scale, data, folder)
        except MissingData as error:
            missing[row.name] = str(error)
    if not scaled:
        raise MissingData("; ".join(dict.fromkeys(missing.values())))

    def planned(row: PaperRow) -> Row:
        runs = with_seeds(scaled[row.name].settings, seeds) if row.name in scaled else ()
        failures = (Failure(f"{row.name}, not begun", missing[row.name]),) if row.name in missing else ()
        return Row(row.name, row.title, row.group, runs, row.published, row.mark, failures=failures)

    notes += [*_scale_notes(scaled, scale), *_row_notes(table, chosen, duplicates, seeds)]
    compared = tuple(
        (duplicates.get(row.behind, row.behind), row.name)
        for row in chosen
        if row.behind is not None and row.name not in duplicates
    )
    return TableResult(
        table.name, table.title, table.columns, tuple(map(planned, chosen)), tuple(notes), compared
    )


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


def is_pretrained(settings: TrainingConfig) -> bool:
    """Whether the encoder is a pretrained one, and not made for the run."""
    return settings.model.encoder not in ENCODER_KINDS


def applies(key: str, settings: TrainingConfig) -> bool:
    """Whether a setting means something to settings: a margin, for instance, only to a loss that has one."""
    match expand_key(key):
        case "model.encoder" | "model.encoder_layers":
            return is_pretrained(settings)
        case "model.encoder_options.vectors":
            return not is_pretrained(settings)
        case "dev":
            return settings.dev is not None
        case "optimizer.unlabelled_rate":
            return settings.optimizer.unlabelled_per_labelled is None
        case dotted:
            return is_used(dotted, settings.loss.name, settings.model.architecture)


def duplicate_rows(rows: Iterable[PaperRow]) -> dict[str, str]:
    """Rows that differ from an earlier one in their encoder only, and that one."""
    first: dict[str, str] = {}
    for row in rows:
        if is_pretrained(row.settings):
            first[row.name] = repr(
                [item for item in row.settings.flatten().items() if item[0] not in OF_ENCODER]
            )
    earliest = {shared: name for name, shared in reversed(first.items())}
    return {name: earliest[shared] for name, shared in first.items() if earliest[shared] != name}


# Notes on every deviation from what was published


def _scale_notes(scaled: Mapping[str, ScaledRow], scale: Scale) -> Iterator[str]:
    yield from dict.fromkeys(row.note for row in scaled.values() if row.note is not None)
    if scale.documents is not None:
        yield f"training documents: the first {scale.documents:,} of the file"
    yield from deviation_notes(scaled)


def _row_notes(
    table: PaperTable, chosen: Sequence[PaperRow], duplicates: Mapping[str, str], seeds: Sequence[int]
) -> Iterator[str]:
    if (note := seed_note(seeds, table.seeds)) is not None:
        yield note
    if duplicates:
        pairs = ", ".join(f"{row} (as {earlier})" for row, earlier in duplicates.items())
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


def deviations(published: TrainingConfig, ours: TrainingConfig) -> dict[str, tuple[str, str]]:
    """Every setting in which a run differs from the published one: (ours, published) as text, by key."""
    theirs, mine = published.flatten(), ours.flatten()
    pairs = {
        key: (_text(key, mine.get(key)), _text(key, theirs.get(key)))
        for key in dict.fromkeys([*theirs, *mine])
        if key not in NO_DEVIATIONS and not key.startswith("test.")
    }
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


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


def deviation_notes(rows: Mapping[str, ScaledRow]) -> list[str]:
    """The deviations of a table's rows, those that several rows share in one line."""
    shared: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, row in rows.items():
        for key, (ours, published) in deviations(row.published, row.settings).items():
            shared.setdefault((key, ours), {}).setdefault(published, []).append(name)
    notes = []
    for (key, ours), by_value in shared.items():
        if len(by_value) > 1:
            published = "; ".join(f"{value} in {', '.join(names)}" for value, names in by_value.items())
            where = ""
        else:
            ((published, names),) = by_value.items()
            where = "" if len(names) == len(rows) else f" in {', '.join(names)}"
        notes.append(f"{key.rpartition('.')[2].replace('_', ' ')}: {ours} (published: {published}){where}")
    return notes


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
