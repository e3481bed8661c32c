"""`unnoted reproduce`: a table of the paper, published figures beside measured ones."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli import grids
from unnoted.cli.common import reports_errors, tell
from unnoted.cli.train import Layers

TableName = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE", help="Its number or word, such as table8 or losses; without, all are listed."
    ),
]
Data = Annotated[
    Path,
    typer.Option(
        metavar="DIR", help="The data sets, as `unnoted data fetch` writes them, in folders or not."
    ),
]
Rows = Annotated[str | None, typer.Option(metavar="NAMES", help="Run only these, such as atlop,ssr-pu.")]


@reports_errors
def reproduce(
    table: TableName = None,
    data: Data = Path("data"),
    encoder: grids.EncoderName = None,
    encoder_layers: Layers = None,
    seeds: grids.Seeds = None,
    epochs: grids.EpochsPerRun = None,
    documents: grids.Documents = None,
    unlabelled_share: grids.UnlabelledShare = None,
    changes: grids.ChangesOfRows = None,
    rows: Rows = None,
    jobs: grids.Jobs = 1,
    ray: grids.Ray = None,
    to: grids.RunsTo = Path("runs/reproduce"),
    format: grids.Format = "text",
    dry_run: grids.DryRun = False,
    overwrite: grids.OverwriteTables = False,
) -> None:
    """Run a table of the paper and show published beside measured figures.

    Tables are called by their number in print or by a word: table1 statistics, table2 docred, table3
    chemdisgene, table4 supervised, table5 extreme, table6 frequent, table7 frequent-chemdisgene, table8
    losses, table9 supervised-in-detail, table10 extreme-in-detail, table11 margins, table12 priors.

    By default everything is as published, with the seeds 62-66; an --encoder takes the place of every
    pretrained one. Whatever departs from the published setting is listed below the table. Interrupt it as you
    like: the same command continues, and what is finished is not repeated, whichever table it stands in. Full
    scale is work for a GPU; on two cores try

    unnoted reproduce losses --data DIR --encoder FOLDER --documents 60 --epochs 1 --seeds 1
    """
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.experiments.data_sets import DataFolder
    from unnoted.experiments.paper import published, table_named
    from unnoted.experiments.paper_tables import plan_table
    from unnoted.experiments.paper_tables import reproduce as reproduce_table
    from unnoted.experiments.statistics_table import statistics_table
    from unnoted.report import write_statistics

    if table is None:
        for name, each in published().items():
            typer.echo(f"{name} or {each.word}: {each.title}")
        return
    grids.check_format(format)
    wanted, folder, chosen = table_named(table), DataFolder(data), grids.listed(rows)
    if not wanted.setting:  # nothing is trained: the documents at hand are counted
        with grids.guarded(to, wanted.name, overwrite):
            grids.show(write_statistics(statistics_table(wanted, folder), to), format)
        return
    scale = grids.scale_of(
        seeds, documents, changes,
        encoder=encoder, encoder_layers=encoder_layers, epochs=epochs, unlabelled_share=unlabelled_share,
    )  # fmt: skip
    if dry_run:
        grids.show_plan(plan_table(wanted, scale, folder, to, chosen), to)
        return
    pool = grids.pool_of(jobs, ray)
    with grids.guarded(to, wanted.name, overwrite):
        grids.put_out(reproduce_table(wanted, scale, folder, to, pool, rows=chosen, tell=tell), to, format)
