"""`unnoted train`: train a model as a settings file says."""

import json
from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.common import reports_errors


@reports_errors
def train(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A settings file (YAML), such as those in configs/.")
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a setting, e.g. --set epochs=8; may be repeated."
        ),
    ] = None,
    architecture: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Short for --set architecture=NAME: atlop, docunet, ..."),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="NAME", help="Short for --set loss=NAME: ssr-pu, atlop, ...")
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="A trained model to learn from first, with --distant; --set teacher=MODEL."
        ),
    ] = None,
    distant: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Distantly labelled documents to learn on first; may be repeated."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint of this run.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the run that the output folder holds.")
    ] = False,
) -> None:
    """Train a model. Interrupt it as you like: `--resume` goes on exactly where the last checkpoint was."""
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.training.run import train_from_settings
    from unnoted.training.settings import load_settings

    short = [
        f"{key}={name}" for key, name in (("architecture", architecture), ("loss", loss)) if name is not None
    ]
    # JSON is YAML, in which any path is safe.
    short += [] if teacher is None else [f"teacher={json.dumps(str(teacher))}"]
    short += [f"distant={json.dumps([str(path) for path in distant])}"] if distant else []
    settings = load_settings(config, [*(changes or ()), *short])
    report = train_from_settings(
        settings, resume=resume, overwrite=overwrite, tell=lambda line: typer.echo(line, err=True)
    )
    if report.trained:
        risk = "" if report.risk is None else f", risk {report.risk:.4g}"
        typer.echo(f"trained for {report.steps:,} steps{risk}; the model is in {report.folder}")
