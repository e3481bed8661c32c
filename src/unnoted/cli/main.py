"""The `unnoted` command."""

import os
import sys
from typing import Annotated, ClassVar

import typer

from unnoted.cli.default_command import DefaultingGroup
from unnoted.cli.lazy import LazyGroup


class Program(LazyGroup):
    """The commands, in the order in which they are listed."""

    places: ClassVar[dict[str, str]] = {
        "train": "train:train",
        "configs": "show_configs:configs",
        "predict": "predict:predict",
        "evaluate": "evaluate:evaluate",
        "inspect": "inspect_model:inspect",
        "rules": "show_rules:rules",
        "export": "export:export",
        "suggest": "suggest:suggest",
        "serve": "serve:serve",
        "demo": "demo:demo",
        "reproduce": "reproduce:reproduce",
        "compare": "compare:compare",
    }


class Data(LazyGroup):
    """What can be done with documents."""

    places: ClassVar[dict[str, str]] = {
        "check": "data:check",
        "hide-labels": "data:hide",
        "compare": "data:compare",
        "convert": "data_convert:convert",
        "split": "data_split:split",
        "fetch": "data:fetch",
        "generate": "data:generate",
    }


class ReviewCommands(DefaultingGroup):
    """Deciding suggestions."""

    places: ClassVar[dict[str, str]] = {
        "open": "review:review",
        "export": "export_review:export",
    }
    default: ClassVar[str] = "open"


app = typer.Typer(
    name="unnoted",
    cls=Program,
    help="Relation extraction over whole documents, learnt from incomplete labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
data = typer.Typer(
    cls=Data,
    help="Check, compare, convert, split, fetch and generate documents; hide labels.",
    no_args_is_help=True,
)
app.add_typer(data, name="data")
review = typer.Typer(
    cls=ReviewCommands,
    help="Decide suggestions in a browser: `unnoted review FILE`; then export the mended corpus.",
    no_args_is_help=True,
)
app.add_typer(review, name="review")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"unnoted {version('unnoted')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program as a whole."""


def main() -> None:
    """Run the command line."""
    # Said for both before they are imported: forked processes are ours, and what is wrong we say ourselves.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        app()
    except OSError as error:  # help and the version, which no command prints
        from unnoted.cli.common import tell_error

        tell_error(error)
        sys.exit(1)
