"""`unnoted train`: train a model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.options import handle_errors, log, on_interrupt
from unnoted.utils import plural


@handle_errors
def train(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG",
            help="best, small, another name that `unnoted info` lists, or a config file ending in .yaml.",
        ),
    ],
    train: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Training documents; repeat it for PubTator's relation files."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="ENCODER", help="The encoder: a folder, or a name on the hub.")
    ] = None,
    dev: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Documents to score the model on after every epoch."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Completely labelled documents to score the trained model on."),
    ] = None,
    prior_multiplier: Annotated[
        float | None,
        typer.Option(help="True facts for each labelled one; 1 where the labels are complete."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where the model is written; by default runs/CONFIG-NAME_OF_TRAIN."
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change any key of the config, e.g. --set epochs=3 --set loss=ssr-pu --set "
            "prior_multiplier=2; may be repeated. `unnoted info NAME` shows the keys.",
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rules that always hold, a line each; labels are closed under them (`unnoted rules`).",
        ),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A trained model whose scores are learnt beside the labels."),
    ] = None,
    init_from: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="A trained model whose weights to start from.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads; by default what the model and the machine allow.")
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
    An example: unnoted train best --train own.jsonl --encoder FOLDER
    """
    options = {
        "train": train,
        "model.encoder": encoder,
        "dev": dev,
        "test": test,
        "output": output,
        "loss.prior_multiplier": prior_multiplier,
        "data.rules": None if rules is None else str(rules),
        "loss.teacher": teacher,
        "model.init_from": init_from,
    }
    given = {key: value for key, value in options.items() if value not in (None, [])}
    with on_interrupt("interrupted; the same command with --resume continues from the last checkpoint"):
        _train(config, given, changes or [], resume, overwrite, threads)


def _train(
    config: str,
    options: dict[str, Any],
    changes: list[str],
    resume: bool,
    overwrite: bool,
    threads: int | None,
) -> None:
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.training import load_config, run
    from unnoted.training.config import expand_key, parse_changes

    changed = {expand_key(key): value for key, value in parse_changes(changes).items()}
    for key in options.keys() & changed.keys():
        raise ValueError(f"{key}: is given as an option and in --set; give it once")
    loaded = load_config(config, options | changed, log=log)
    record = run(loaded, resume=resume, overwrite=overwrite, threads=threads, log=log)
    loss = "" if record.loss is None else f", loss {record.loss:.4g}"
    typer.echo(f"trained for {plural(record.steps, 'step')}{loss}; the model is in {loaded.output}")
