"""`unnoted compare`: architectures and losses on one's own documents, at several levels of labelling."""

from pathlib import Path
from typing import Annotated

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
    tell,
)
from unnoted.cli.predict import quieten_transformers
from unnoted.documents.levels import LEVELS


@reports_errors
def compare(
    train: Annotated[
        list[Path],
        typer.Option("--train", metavar="FILE", help="Training documents; again for PubTator's relations."),
    ],
    test: Annotated[
        list[Path],
        typer.Option("--test", metavar="FILE", help="Documents with all their facts, to score on."),
    ],
    losses: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Such as atlop,ssr-pu; the first is what the others are compared with."
        ),
    ] = "atlop,ssr-pu",
    architectures: Annotated[str, typer.Option(metavar="NAMES", help="Such as atlop,docunet.")] = "atlop",
    levels: Annotated[
        str,
        typer.Option(
            metavar="LEVELS",
            help=f"How many labels of the training documents stay: {', '.join(LEVELS)}, or shares "
            "such as 0.5,0.2.",
        ),
    ] = "full",
    prior_multiplier: Annotated[
        float,
        typer.Option(
            "--prior-multiplier",
            help="How many true facts there are for each label of the training documents; where labels are "
            "hidden, losses with priors are told that many more.",
        ),
    ] = 1.0,
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
    encoder_layers: EncoderLayers = None,
    seeds: Annotated[str, typer.Option(help="Such as 62-66 or 62,64.")] = "62",
    epochs: Epochs = None,
    documents: Documents = None,
    unlabelled_share: UnlabelledShare = None,
    changes: Changes = None,
    jobs: Jobs = 1,
    ray: Ray = None,
    to: To = Path("runs/compare"),
    name: Annotated[str, typer.Option(help="Of the table's files.")] = "comparison",
    format: Format = "text",
    dry_run: DryRun = False,
) -> None:
    """Compare architectures and losses on your own documents, and at which level of labelling which one pays.

    Every architecture is trained with every loss at every level, and scored on the same documents. Interrupt
    it as you like: the same command goes on where it was, and what is finished is not repeated. An example:

    unnoted compare --train train.json --test test.json --losses atlop,ssr-pu --levels full,0.5,0.2,extreme
    --encoder recurrent --epochs 12 --set encoder_learning_rate=2e-3 --set head_learning_rate=2e-3
    """
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.experiments.compare import Comparison, plan_comparison
    from unnoted.experiments.compare import compare as run_comparison
    from unnoted.experiments.scale import Scale, parse_seeds

    quieten_transformers()
    check_format(format)
    comparison = Comparison(
        architectures=listed(architectures),
        losses=listed(losses),
        train=tuple(train),
        test=tuple(test),
        config=config or "base/paper",
        levels=listed(levels),
        prior_multiplier=prior_multiplier,
        name=name,
    )
    scale = Scale(
        encoder=encoder,
        encoder_layers=encoder_layers,
        seeds=parse_seeds(seeds),
        epochs=epochs,
        documents=documents,
        unlabelled_share=unlabelled_share,
        changes=tuple(changes or ()),
    )
    if dry_run:
        for line in plan_comparison(comparison, scale, to).lines(to):
            typer.echo(line)
        return
    put_out(run_comparison(comparison, scale, to, pool_of(jobs, ray), tell), to, format)
