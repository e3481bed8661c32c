"""`unnoted compare`: architectures and losses on one's own documents, at several levels of labelling."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli import grids
from unnoted.cli.common import reports_errors, tell
from unnoted.cli.evaluate import BenchmarkName
from unnoted.cli.train import Layers, Multiplier
from unnoted.data.hide_labels import LABELLING_SETTINGS

TrainFiles = Annotated[list[Path], typer.Option(metavar="FILE", help="Training documents; may be repeated.")]
TestFiles = Annotated[list[Path], typer.Option(metavar="FILE", help="Documents with all facts to score on.")]
Losses = Annotated[str, typer.Option(metavar="NAMES", help="Losses; the first is the baseline.")]
Architectures = Annotated[str, typer.Option(metavar="NAMES", help="Architectures, such as atlop,docunet.")]
Levels = Annotated[
    str, typer.Option(help=f"Labels to keep: {', '.join(LABELLING_SETTINGS)}, or shares as in 0.5,0.2.")
]
StartConfig = Annotated[str, typer.Option(metavar="CONFIG", help="The config that all runs start from.")]
Name = Annotated[str, typer.Option(help="Name of the table's files.")]


@reports_errors
def compare(
    train: TrainFiles,
    test: TestFiles,
    losses: Losses = "atlop,ssr-pu",
    architectures: Architectures = "atlop",
    levels: Levels = "full",
    prior_multiplier: Multiplier = None,
    benchmark: BenchmarkName = "plain",
    encoder: grids.EncoderName = None,
    config: StartConfig = "base/paper",
    encoder_layers: Layers = None,
    seeds: grids.Seeds = "1",
    epochs: grids.EpochsPerRun = None,
    documents: grids.Documents = None,
    unlabelled_share: grids.UnlabelledShare = None,
    changes: grids.ChangesOfRows = None,
    jobs: grids.Jobs = 1,
    ray: grids.Ray = None,
    to: grids.RunsTo = Path("runs/compare"),
    name: Name = "comparison",
    format: grids.Format = "text",
    dry_run: grids.DryRun = False,
    overwrite: grids.OverwriteTables = False,
) -> None:
    """Compare architectures and losses on your own documents, and at which level of labelling which one pays.

    Every architecture is trained with every loss at every level, and scored on the same documents. Losses
    with priors need --prior-multiplier; where labels are hidden, they are told that many more. Interrupt it
    as you like: the same command continues, and what is finished is not repeated. An example:

    unnoted compare --train train.json --test test.json --losses atlop,ssr-pu --prior-multiplier 3
    --levels full,0.5,0.2,extreme --encoder recurrent --epochs 12 --set encoder_learning_rate=2e-3
    """
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.experiments.contest import Contest, plan_comparison
    from unnoted.experiments.contest import compare as run_comparison

    grids.check_format(format)
    contest = Contest(
        grids.listed(architectures), grids.listed(losses), tuple(train), tuple(test), config,
        grids.listed(levels), prior_multiplier, benchmark, name,
    )  # fmt: skip
    scale = grids.scale_of(
        seeds, documents, changes,
        encoder=encoder, encoder_layers=encoder_layers, epochs=epochs, unlabelled_share=unlabelled_share,
    )  # fmt: skip
    if dry_run:
        grids.show_plan(plan_comparison(contest, scale, to), to)
        return
    with grids.guarded(to, name, overwrite):
        grids.put_out(run_comparison(contest, scale, to, grids.pool_of(jobs, ray), tell), to, format)
