"""`unnoted reproduce`: a table of the paper, published figures beside measured ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.common import reports_errors
from unnoted.cli.grids import (
    Changes,
    Documents,
    DryRun,
    EncoderLayers,
    Epochs,
    Format,
    Jobs,
    Ray,
    To,
    UnlabelledShare,
    check_format,
    listed,
    pool_of,
    put_out,
    show,
    tell,
)
from unnoted.cli.predict import quieten_transformers

if TYPE_CHECKING:  # loading torch takes seconds
    from unnoted.experiments.data_sets import DataFolder
    from unnoted.experiments.paper import PaperStatistics


@reports_errors
def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Its label in the paper; without one, the tables are listed."),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="The data sets' files, directly or in docred/, re-docred/, chemdisgene/, under the names of "
            "`unnoted data fetch`.",
        ),
    ] = Path("data"),
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER", help="A folder or a name on the hub, in place of every pretrained encoder."
        ),
    ] = None,
    encoder_layers: EncoderLayers = None,
    seeds: Annotated[
        str | None, typer.Option(help="Such as 62-66 or 62,64; by default the published ones, 62-66.")
    ] = None,
    epochs: Epochs = None,
    documents: Documents = None,
    unlabelled_share: UnlabelledShare = None,
    changes: Changes = None,
    rows: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these rows, such as atlop,ssr-pu.")
    ] = None,
    jobs: Jobs = 1,
    ray: Ray = None,
    to: To = Path("runs/reproduce"),
    format: Format = "text",
    dry_run: DryRun = False,
) -> None:
    """Run a table of the paper and show published beside measured figures.

    Tables, in the paper's order: statistics, table1 (DocRED), table4 (ChemDisGene), table2 (fully
    supervised), table3 (extremely unlabelled), table_common1 and table_common2 (frequent relations), table6
    (loss functions), table_full and table_ext (tables 2 and 3 in detail), table8 (margins), table9 (priors).

    Whatever departs from the published setting is listed below the table. Interrupt it as you like: the same
    command goes on where it was, and what is finished is not repeated, whichever table it stands in. Full
    scale is work for a GPU; on two cores try

    unnoted reproduce table6 --data DIR --encoder FOLDER --documents 60 --epochs 1 --seeds 62
    """
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.experiments.data_sets import DataFolder
    from unnoted.experiments.paper import ALIASES, PaperStatistics, published
    from unnoted.experiments.reproduce import plan_table
    from unnoted.experiments.reproduce import reproduce as reproduce_table
    from unnoted.experiments.scale import Scale, parse_seeds

    paper = published()
    if table is None:
        aliases = {of: f" or {alias}" for alias, of in ALIASES.items()}
        for name in paper.names:
            typer.echo(f"{name}{aliases.get(name, '')}: {paper.named(name).title}")
        return
    quieten_transformers()
    check_format(format)
    wanted = paper.named(table)
    folder = DataFolder(data)
    if isinstance(wanted, PaperStatistics):
        _count(wanted, folder, to, format)
        return
    scale = Scale(
        encoder=encoder,
        encoder_layers=encoder_layers,
        seeds=None if seeds is None else parse_seeds(seeds),
        epochs=epochs,
        documents=documents,
        unlabelled_share=unlabelled_share,
        changes=tuple(changes or ()),
    )
    if dry_run:
        for line in plan_table(wanted, scale, folder, to, listed(rows)).lines(to):
            typer.echo(line)
        return
    pool = pool_of(jobs, ray)
    result = reproduce_table(wanted, scale, folder, to, pool, rows=listed(rows), tell=tell)
    put_out(result, to, format)


def _count(wanted: "PaperStatistics", data: "DataFolder", to: Path, format: str) -> None:
    """Count the documents at hand: nothing is trained."""
    from unnoted.experiments.statistics_table import statistics_table
    from unnoted.report import write_statistics

    show(write_statistics(statistics_table(wanted, data), to), format)
