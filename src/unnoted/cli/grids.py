"""What `reproduce` and `compare` share: their options, where runs are performed, and what is written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.common import say, tell
from unnoted.experiments.own_files import OwnFiles
from unnoted.utils import lookup

if TYPE_CHECKING:  # loading torch takes seconds
    from unnoted.experiments.grid import Pool
    from unnoted.experiments.results import TableResult
    from unnoted.experiments.scale import Scale

FORMATS = {name: name for name in ("text", "markdown", "csv", "latex")}
"""The formats in which a table can be printed."""

EncoderName = Annotated[
    str | None,
    typer.Option(metavar="ENCODER", help="A folder, a name on the hub, or `recurrent`: a small new one."),
]
Seeds = Annotated[str | None, typer.Option(help="How many seeds, such as 3, or which, such as 62-66.")]
EpochsPerRun = Annotated[int | None, typer.Option(min=1, help="Epochs per run.")]
Documents = Annotated[int | None, typer.Option(min=1, help="Train on this many documents, the first ones.")]
UnlabelledShare = Annotated[float | None, typer.Option(help="Share of unlabelled pairs scored per document.")]
ChangesOfRows = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting in all rows with it; may be repeated."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time on this machine.")]
Ray = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The Ray cluster to run on: its address, `auto`, or `local`."),
]
RunsTo = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where runs and tables go.")]
Format = Annotated[str, typer.Option("--format", help=f"Format of the printed table: {', '.join(FORMATS)}.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")]

OverwriteTables = Annotated[
    bool, typer.Option("--overwrite", help="Replace files of the table's names that were not written here.")
]
OWN = ".tables.json"
"""Which files of a folder are tables, so that they may be written again."""


@contextmanager
def guarded(folder: Path, name: str, overwrite: bool) -> Iterator[None]:
    """Refuse, before the long work, to replace files that are no tables of these commands."""
    from unnoted.report.grid_page import SUFFIXES

    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES.values()]
    own = OwnFiles(folder / OWN)
    # A folder of runs without that list is of a version that kept none.
    if not overwrite and ((folder / OWN).exists() or not any(folder.glob("*/run.json"))):
        own.require(files)
    try:
        yield
    except typer.Exit:  # after the tables: some runs failed
        own.note(files)
        raise
    own.note(files)


def pool_of(jobs: int, ray: str | None) -> "Pool":
    """Where the runs are performed."""
    from unnoted.experiments.pools import LocalPool, RayPool

    return LocalPool(jobs) if ray is None else RayPool(None if ray == "local" else ray)


def scale_of(
    seeds: str | None, documents: int | None, changes: Sequence[str] | None, **settings: object
) -> "Scale":
    """How large the runs are; settings without a value are left as they are."""
    from unnoted.experiments.scale import Scale, parse_seeds
    from unnoted.training.settings import parse_changes

    given = {key: value for key, value in settings.items() if value is not None}
    given |= parse_changes(changes or ())
    return Scale(given, None if seeds is None else parse_seeds(seeds), documents)


def listed(text: str | None) -> tuple[str, ...]:
    """Names that are separated by commas.

    Example:
        >>> listed("atlop, ssr-pu"), listed(None)
        (('atlop', 'ssr-pu'), ())
    """
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def check_format(name: str) -> None:
    """Refuse an unknown format before the long work."""
    lookup("format", name, FORMATS)


def show_plan(plan: "TableResult", folder: Path) -> None:
    """Print what would be run."""
    from unnoted.experiments.plan import plan_lines

    for line in plan_lines(plan, folder):
        say(line)


def put_out(result: "TableResult", folder: Path, format: str) -> None:
    """Write a table of runs in every format, and print it in one."""
    from unnoted.data.corpus import RelationVocabulary
    from unnoted.report import write_table

    files = {row.records[0].settings.get("vocabulary") for row in result.rows if row.records}
    known = [RelationVocabulary.from_file(Path(file)) for file in files if file and Path(file).is_file()]
    names = {relation: vocabulary.name(relation) for vocabulary in known for relation in vocabulary}
    show(write_table(result, folder, names), format)
    failed = {failure.address for row in result.rows for failure in row.failures}
    if failed:
        tell(f"failed: {len(failed)}; the reasons stand below the table, more in {folder}/ADDRESS/log.txt")
        raise typer.Exit(1)


def show(files: Mapping[str, Path], format: str) -> None:
    """Print a table in one of the formats in which it was written, and name the files."""
    say(files[format].read_text("utf-8").rstrip("\n"))
    tell(f"written: {', '.join(map(str, files.values()))}")
