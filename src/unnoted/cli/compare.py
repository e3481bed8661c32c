"""`unnoted compare`: architectures and losses on one's own documents, at several levels of labelling."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli import grids
from unnoted.cli.common import reports_errors
from unnoted.cli.predict import quieten_transformers
from unnoted.documents.levels import LEVELS
from unnoted.evaluation.benchmarks import BENCHMARKS


@reports_errors
def compare(
    train: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="Training documents; again for PubTator's relations."),
    ],
    test: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Documents with all their facts, to score on.")
    ],
    losses: Annotated[
        str, typer.Option(metavar="NAMES", help="Losses; the first is what the others are compared with.")
    ] = "atlop,ssr-pu",
    architectures: Annotated[str, typer.Option(metavar="NAMES", help="Such as atlop,docunet.")] = "atlop",
    levels: Annotated[
        str,
        typer.Option(
            metavar="LEVELS",
            help=f"Labels of the training documents to keep: {', '.join(LEVELS)}, or shares as in 0.5,0.2.",
        ),
    ] = "full",
    prior_multiplier: Annotated[
        float | None,
        typer.Option(
            help="True facts per label of the training documents; losses with priors need it. Where labels "
            "are hidden, they are told that many more."
        ),
    ] = None,
    benchmark: Annotated[str, typer.Option(help=f"How to score: {', '.join(BENCHMARKS)}.")] = "plain",
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="A folder, a name on the hub, or `recurrent`: a small one that is made and learnt.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="The config that all runs start from; by default what all published settings share.",
        ),
    ] = None,
    encoder_layers: grids.EncoderLayers = None,
    seeds: Annotated[str, typer.Option(help="How many, such as 3, or which, such as 62-66 or 62,64.")] = "1",
    epochs: grids.Epochs = None,
    documents: grids.Documents = None,
    unlabelled_share: grids.UnlabelledShare = None,
    changes: grids.Changes = None,
    jobs: grids.Jobs = 1,
    ray: grids.Ray = None,
    to: grids.To = Path("runs/compare"),
    name: Annotated[str, typer.Option(help="Name of the table's files.")] = "comparison",
    format: grids.Format = "text",
    dry_run: grids.DryRun = False,
) -> None:
    """Compare architectures and losses on your own documents, and at which level of labelling which one pays.

    Every architecture is trained with every loss at every level, and scored on the same documents. Interrupt
    it as you like: the same command continues, and what is finished is not repeated. An example:

    unnoted compare --train train.json --test test.json --losses atlop,ssr-pu --prior-multiplier 3
    --levels full,0.5,0.2,extreme --encoder recurrent --epochs 12 --set encoder_learning_rate=2e-3
    """
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.experiments.compare import Contest, plan_comparison
    from unnoted.experiments.compare import compare as run_comparison

    quieten_transformers()
    grids.check_format(format)
    contest = Contest(
        architectures=grids.listed(architectures),
        losses=grids.listed(losses),
        train=tuple(train),
        test=tuple(test),
        config=config or "base/paper",
        levels=grids.listed(levels),
        prior_multiplier=prior_multiplier,
        benchmark=benchmark,
        name=name,
    )
    scale = grids.scale_of(
        seeds,
        documents,
        changes or (),
        encoder=encoder,
        encoder_layers=encoder_layers,
        epochs=epochs,
        unlabelled_share=unlabelled_share,
    )
    if dry_run:
        grids.show_plan(plan_comparison(contest, scale, to), to)
        return
    grids.put_out(run_comparison(contest, scale, to, grids.pool_of(jobs, ray), grids.tell), to, format)
