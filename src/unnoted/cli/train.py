"""`unnoted train`: train a model as a config and options say."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.options import (
    Changes,
    Encoder,
    Epochs,
    Layers,
    Multiplier,
    Train,
    handle_errors,
    log,
    on_interrupt,
)
from unnoted.utils import plural

Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="The name of a config (`unnoted info` lists them), or a settings file ending in .yaml.",
    ),
]
Dev = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="Documents to score the model on after every epoch.")
]
Test = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Documents with all their facts to score the trained model on."),
]
Architecture = Annotated[
    str | None, typer.Option(metavar="NAME", help="How pairs are represented and scored: atlop, docunet, ...")
]
LossName = Annotated[
    str | None, typer.Option(metavar="NAME", help="The loss to minimise: ssr-pu, atlop, ...")
]
TrainingSeed = Annotated[
    int | None, typer.Option(min=0, help="The random seed; the same seed gives the same model.")
]
Output = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the trained model is written.")]
TeacherFolder = Annotated[
    Path | None,
    typer.Option(metavar="MODEL", help="A trained model whose scores the new one learns from, too."),
]
InitFrom = Annotated[
    Path | None, typer.Option(metavar="MODEL", help="A trained model whose weights to start from.")
]
RuleFile = Annotated[
    Path | None,
    typer.Option(
        "--rules", metavar="FILE", help="Rules that always hold, a line each (see `unnoted rules`)."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue this run from its last checkpoint.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")]


@handle_errors
def train(
    config: Config,
    train: Train = None,
    dev: Dev = None,
    test: Test = None,
    encoder: Encoder = None,
    encoder_layers: Layers = None,
    architecture: Architecture = None,
    loss: LossName = None,
    prior_multiplier: Multiplier = None,
    epochs: Epochs = None,
    seed: TrainingSeed = None,
    output: Output = None,
    teacher: TeacherFolder = None,
    init_from: InitFrom = None,
    rules: RuleFile = None,
    changes: Changes = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
) -> None:
    """Train a model.

    It can be interrupted at any time: --resume continues from the last checkpoint with bit-identical results.
    An example: unnoted train small --train own.jsonl --encoder FOLDER --output runs/own
    """
    options = {
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
        "init_from": init_from,
        "rules": rules,
    }
    given = {key: value for key, value in options.items() if value not in (None, [])}
    with on_interrupt("interrupted; the same command with --resume continues from the last checkpoint"):
        _train(config, given, changes or [], resume, overwrite)


def _train(config: str, options: dict[str, Any], changes: list[str], resume: bool, overwrite: bool) -> None:
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.training.run import run
    from unnoted.training.settings import load_settings, parse_changes

    changed = parse_changes(changes)
    for key in options.keys() & changed.keys():
        raise ValueError(f"{key}: found both --{key.replace('_', '-')} and --set, expected one of them")
    settings = load_settings(config, options | changed, tell=log)
    record = run(settings, resume=resume, overwrite=overwrite, tell=log)
    loss = "" if record.loss is None else f", loss {record.loss:.4g}"
    typer.echo(f"trained for {plural(record.steps, 'step')}{loss}; the model is in {settings.output}")
