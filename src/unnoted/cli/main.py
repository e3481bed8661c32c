"""The `unnoted` command."""

from importlib.metadata import version
from typing import Annotated

import typer

from unnoted.cli import (
    data_check,
    data_compare,
    data_convert,
    data_fetch,
    data_generate,
    data_split,
    data_thin,
)
from unnoted.cli.compare import compare
from unnoted.cli.demo import demo
from unnoted.cli.evaluate import evaluate
from unnoted.cli.inspect_model import inspect
from unnoted.cli.predict import predict
from unnoted.cli.reproduce import reproduce
from unnoted.cli.train import train

app = typer.Typer(
    name="unnoted",
    help="Relation extraction over whole documents, learnt from incomplete labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data = typer.Typer(
    help="Check, thin, compare, convert, split, fetch and generate documents.", no_args_is_help=True
)
app.add_typer(data, name="data")

for command in (
    data_check.check,
    data_thin.thin,
    data_compare.compare,
    data_convert.convert,
    data_split.split,
    data_fetch.fetch,
    data_generate.generate,
):
    data.command()(command)


app.command()(train)
app.command()(evaluate)
app.command()(predict)
app.command()(inspect)
app.command()(demo)
app.command()(reproduce)
app.command()(compare)


def _print_version(wanted: bool) -> None:
    if wanted:
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
    app()
