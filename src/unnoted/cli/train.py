"""`unnoted train`: train a model as a config and options say."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.common import reports_errors, stops_with

Some = list[Path] | None


@reports_errors
def train(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG",
            help="The name of a config (`unnoted configs` lists them), or a settings file ending in .yaml.",
        ),
    ],
    train: Annotated[
        Some,
        typer.Option(metavar="FILE", help="Training documents; repeat it for PubTator's relation files."),
    ] = None,
    dev: Annotated[
        Some,
        typer.Option(metavar="FILE", help="Documents to score the model on after every epoch."),
    ] = None,
    test: Annotated[
        Some,
        typer.Option(
            metavar="FILE",
            help="Documents with all their facts to score the trained model on.",
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="ENCODER", help="The pretrained encoder: a folder, or a name on the hub."),
    ] = None,
    encoder_layers: Annotated[
        int | None, typer.Option(min=1, help="Keep only this many of the encoder's first layers.")
    ] = None,
    architecture: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How pairs are represented and scored: atlop, docunet, ..."),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="NAME", help="The loss to minimise: ssr-pu, atlop, ...")
    ] = None,
    prior_multiplier: Annotated[
        float | None,
        typer.Option(help="True facts per labelled fact, for losses with priors."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the training documents.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The random seed; the same seed gives the same model.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the trained model is written.")
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A trained model to learn from first, on --distant."),
    ] = None,
    distant: Annotated[
        Some,
        typer.Option(metavar="FILE", help="Distantly labelled documents to learn from first."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change any other setting, e.g. --set clip=2; may be repeated."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue this run from its last checkpoint.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the output folder.")
    ] = False,
) -> None:
    """Train a model.

    It can be interrupted at any time: --resume continues from the last checkpoint with bit-identical results.
    An example: unnoted train small --train own.jsonl --encoder FOLDER --output runs/own
    """
    options: dict[str, Any] = {
        "train": train,
        "dev": dev,
        "test": test,
        "encoder": encoder,
        "encoder_layers": encoder_layers,
        "architecture": architecture,
        "loss": loss,
        "prior_multiplier": prior_multiplier,
        "epochs": epochs,
        "seed": seed,
        "output": output,
        "teacher": teacher,
        "distant": distant,
    }
    with stops_with("interrupted; the same command with --resume continues from the last checkpoint"):
        _train(config, changes or [], options, resume, overwrite)


def _train(config: str, changes: list[str], options: dict[str, Any], resume: bool, overwrite: bool) -> None:
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.training.run import train_from_settings
    from unnoted.training.settings import load_settings, parse_changes

    given = parse_changes(changes)
    for key, value in options.items():
        if value not in (None, []) and key in given:
            raise ValueError(f"{key}: found both --{key.replace('_', '-')} and --set, expected one of them")
        given |= {} if value in (None, []) else {key: value}
    settings = load_settings(config, given, tell=_tell)
    report = train_from_settings(settings, resume=resume, overwrite=overwrite, tell=_tell)
    if report.trained:
        risk = "" if report.risk is None else f", risk {report.risk:.4g}"
        typer.echo(f"trained for {report.steps:,} steps{risk}; the model is in {report.folder}")


def _tell(line: str) -> None:
    typer.echo(line, err=True)
