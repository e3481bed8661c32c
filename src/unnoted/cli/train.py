"""`unnoted train`: train a model."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import (
    Changes,
    Encoder,
    Multiplier,
    Rules,
    Threads,
    Train,
    handle_errors,
    log,
    on_interrupt,
)
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
    train: Train = None,
    encoder: Encoder = None,
    dev: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Documents to score the model on after every epoch."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Completely labelled documents to score the trained model on."),
    ] = None,
    prior_multiplier: Multiplier = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where the model is written; by default runs/CONFIG-NAME_OF_TRAIN."
        ),
    ] = None,
    changes: Changes = None,
    rules: Rules = None,
    threads: Threads = None,
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
    }
    given = {key: value for key, value in options.items() if value not in (None, [])}
    # Here, because they load torch, which the other commands need not wait for.
    from unnoted.training import load_config, run
    from unnoted.training.config import expand_key, parse_changes
    from unnoted.training.processes import join_processes, report_errors

    interrupted = "interrupted; the same command with --resume continues from the last checkpoint"
    with on_interrupt(interrupted), report_errors():
        changed = {expand_key(key): value for key, value in parse_changes(changes or []).items()}
        for key in given.keys() & changed.keys():
            raise ValueError(f"{key}: is given as an option and in --set; give it once")
        loaded = load_config(config, given | changed, log=log)
        record = run(loaded, resume=resume, overwrite=overwrite, threads=threads, log=log)
    if not join_processes().is_main_process:
        return
    loss = "" if record.loss is None else f", loss {record.loss:.4g}"
    typer.echo(f"trained for {plural(record.steps, 'step')}{loss}; the model is in {loaded.output}")
