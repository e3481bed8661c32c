"""`unnoted experiment`: the demonstration, a comparison on one's own documents, the paper's tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.evaluate import BenchmarkName
from unnoted.cli.options import (
    Changes,
    Encoder,
    Epochs,
    Layers,
    Multiplier,
    Ray,
    handle_errors,
    log,
    print_text,
    split_names,
)
from unnoted.data.hide_labels import LABELLING_SETTINGS
from unnoted.utils import lookup

if TYPE_CHECKING:  # torch takes seconds to load
    from unnoted.experiments.grid import Scale
    from unnoted.experiments.results import TableResult

FORMATS = dict.fromkeys(("text", "markdown", "csv", "latex"))
"""The formats in which a table can be printed."""

PUBLISHED, PUBLISHED_LOSSES = "base/paper", "atlop,ssr-pu"
"""What is compared where nothing is named."""

Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time, each with its share of the cores.")]
Seeds = Annotated[str | None, typer.Option(help="How many seeds, such as 3, or which, such as 62-66.")]
Documents = Annotated[int | None, typer.Option(min=1, help="Train on this many documents, the first ones.")]
UnlabelledRate = Annotated[
    float | None, typer.Option(help="Fraction of unlabelled pairs scored per document.")
]
RunsTo = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where runs and tables are written.")]
TableFormat = Annotated[
    str, typer.Option("--format", help=f"Format of the printed table: {', '.join(FORMATS)}.")
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Only list what would be run, and print a command for each run, as for a job array."
    ),
]
TrainFiles = Annotated[list[Path], typer.Option(metavar="FILE", help="Training documents; may be repeated.")]
TestFiles = Annotated[list[Path], typer.Option(metavar="FILE", help="Documents with all facts to score on.")]


@handle_errors
def demo(
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where everything is written.")] = Path(
        "demo"
    ),
    documents: Annotated[int, typer.Option(min=2, help="How many documents to train on.")] = 800,
    test_documents: Annotated[int, typer.Option(min=1, help="How many unseen documents to score on.")] = 200,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs per run.")] = 12,
    level: Annotated[
        str, typer.Option(help=f"Which labels are hidden: {', '.join(LABELLING_SETTINGS)}.")
    ] = "incomplete",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The random seed.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another demonstration in the folder.")
    ] = False,
) -> None:
    """Generate documents, hide most labels, train ATLOP, SSR-PU and `best`, and show what each finds.

    All train from the same new encoder, on the same labels, for the same epochs, with the same seed, side by
    side. ATLOP and SSR-PU differ in their loss only; `best` is the recommended method, which is also trained
    on parts of the documents to calibrate it. If it is interrupted, the same command continues.
    """
    from unnoted.experiments.demo import DemoConfig, demo_commands, demo_table, run_demo, write_report

    shown = run_demo(
        to, DemoConfig(documents, test_documents, level, epochs, seed), overwrite=overwrite, log=log
    )
    write_report(shown, to / "report.html")
    print_text(demo_table(shown).to_text())
    print_text("Never labelled, predicted by best:")
    for line in shown.examples:
        print_text(f"  {line}")
    print_text(f"\nThe report is {to / 'report.html'}, the model is {to / 'best'}. Use it:")
    for line in demo_commands(to):
        print_text(f"  {line}")


@handle_errors
def compare(
    train: TrainFiles,
    test: TestFiles,
    configs: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Configs, such as small,best; the first is the baseline."),
    ] = None,
    losses: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Losses instead of those of the configs; the first is the baseline."
        ),
    ] = None,
    architectures: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Architectures instead of those of the configs, such as atlop,docunet."
        ),
    ] = None,
    levels: Annotated[
        str,
        typer.Option(help=f"Labels to keep: {', '.join(LABELLING_SETTINGS)}, or fractions as in 0.5,0.2."),
    ] = "full",
    prior_multiplier: Multiplier = None,
    benchmark: BenchmarkName = "plain",
    encoder: Encoder = None,
    encoder_layers: Layers = None,
    seeds: Seeds = "1",
    epochs: Epochs = None,
    documents: Documents = None,
    unlabelled_rate: UnlabelledRate = None,
    changes: Changes = None,
    jobs: Jobs = 1,
    to: RunsTo = Path("runs/compare"),
    name: Annotated[str, typer.Option(help="Name of the table's files.")] = "comparison",
    format: TableFormat = "text",
    ray: Ray = None,
    dry_run: DryRun = False,
) -> None:
    """Compare configs, losses and architectures on your own documents, at several levels of labelling.

    Every config is trained with every architecture and loss at every level, and scored on the same documents.
    Without --configs, it is the published setting with the losses atlop and ssr-pu. Losses with priors need
    --prior-multiplier; where labels are hidden, they get a larger one. Interrupt it as you like: the same
    command continues, and what is finished is not repeated. Examples:

    unnoted experiment compare --train train.json --test test.json --configs small,best --encoder FOLDER

    unnoted experiment compare --train train.json --test test.json --losses atlop,ssr-pu --prior-multiplier 3
    --levels full,0.5,0.2,extreme --encoder recurrent --epochs 12 --set encoder_learning_rate=2e-3
    """
    from unnoted.experiments.compare import Comparison, plan_comparison
    from unnoted.experiments.compare import compare as run_comparison

    lookup("format", format, FORMATS)
    if configs is None:
        configs, losses = PUBLISHED, PUBLISHED_LOSSES if losses is None else losses
    comparison = Comparison(
        split_names(configs), tuple(train), tuple(test), split_names(architectures), split_names(losses),
        split_names(levels), prior_multiplier, benchmark, name,
    )  # fmt: skip
    scale = _scale(
        seeds, documents, changes,
        encoder=encoder, encoder_layers=encoder_layers, epochs=epochs, unlabelled_rate=unlabelled_rate,
    )  # fmt: skip
    if dry_run:
        _print_plan(plan_comparison(comparison, scale, to), to)
        return
    print_results(run_comparison(comparison, scale, to, jobs, log, ray), to, format)


@handle_errors
def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE", help="Its number or name, such as table8 or losses; without, all are listed."
        ),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The data sets, as `unnoted data fetch` writes them, in folders or not."
        ),
    ] = Path("data"),
    encoder: Encoder = None,
    encoder_layers: Layers = None,
    seeds: Seeds = None,
    epochs: Epochs = None,
    documents: Documents = None,
    unlabelled_rate: UnlabelledRate = None,
    changes: Changes = None,
    rows: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Run only these, such as atlop,ssr-pu.")
    ] = None,
    jobs: Jobs = 1,
    to: RunsTo = Path("runs/reproduce"),
    format: TableFormat = "text",
    ray: Ray = None,
    dry_run: DryRun = False,
) -> None:
    """Run a table of the paper and show published beside measured figures.

    By default everything is as published, with the seeds 62-66; an --encoder takes the place of every
    pretrained one. Every deviation from the published setting is listed below the table. Interrupt it as you
    like: the same command continues, and what is finished is not repeated, whichever table it belongs to. Full
    scale needs a GPU; on two cores try

    unnoted experiment reproduce losses --data DIR --encoder FOLDER --documents 60 --epochs 1 --seeds 1
    """
    from unnoted.experiments.datasets import DataFolder
    from unnoted.experiments.paper import published, table_named
    from unnoted.experiments.reproduce import plan_table
    from unnoted.experiments.reproduce import reproduce as reproduce_table

    if table is None:
        for name, each in published().items():
            typer.echo(f"{name} or {each.word}: {each.title}")
        return
    lookup("format", format, FORMATS)
    chosen, folder, selected = table_named(table), DataFolder(data), split_names(rows)
    scale = _scale(
        seeds, documents, changes,
        encoder=encoder, encoder_layers=encoder_layers, epochs=epochs, unlabelled_rate=unlabelled_rate,
    )  # fmt: skip
    if dry_run:
        _print_plan(plan_table(chosen, scale, folder, to, selected), to)
        return
    print_results(
        reproduce_table(chosen, scale, folder, to, jobs, rows=selected, log=log, ray=ray), to, format
    )


def _scale(
    seeds: str | None, documents: int | None, changes: Sequence[str] | None, **settings: object
) -> "Scale":
    """How large the runs are; settings without a value are left as they are."""
    from unnoted.experiments.grid import Scale, parse_seeds
    from unnoted.training.config import parse_changes

    given = {key: value for key, value in settings.items() if value is not None}
    given |= parse_changes(changes or ())
    return Scale(given, None if seeds is None else parse_seeds(seeds), documents)


def _print_plan(plan: "TableResult", folder: Path) -> None:
    """Describe a plan on stderr; its commands go to stdout, where a job array takes them."""
    from unnoted.experiments.grid import plan_commands, plan_lines

    for line in plan_lines(plan, folder):
        log(line)
    for line in plan_commands(plan, folder):
        print_text(line)


def print_results(result: "TableResult", folder: Path, format: str = "text") -> None:
    """Write a table of runs in every format, and print it in one; some failed runs end with exit code 1."""
    from unnoted.experiments.tables import write_tables

    files = write_tables(result, folder)
    print_text(files[format].read_text("utf-8").rstrip("\n"))
    log(f"written: {', '.join(map(str, files.values()))}")
    if failed := {failure.run_id for row in result.rows for failure in row.failures}:
        log(f"failed: {len(failed)}; the reasons are listed below the table, more in {folder}/ID/log.txt")
        raise typer.Exit(1)
