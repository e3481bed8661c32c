"""`unnoted review`: decide suggestions in a browser."""

import re
from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import handle_errors, log, on_interrupt, print_text
from unnoted.review.opening import open_review
from unnoted.review.serving import LOOPBACK, serve_review


@handle_errors
def review(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Suggestions, or a review that was begun.",
            show_default=False,
        ),
    ],
    database: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where decisions are kept; by default FILE.review.db beside it."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="OLD.review.db", help="Keep what was decided in the round before."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines of the network in.")
    ] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 0,
    token: Annotated[
        str | None, typer.Option(help="What the address must hold; by default a new random one.")
    ] = None,
) -> None:
    """Review suggestions in a browser: open the address that is printed. Ctrl-C stops it.

    An example: unnoted review own.jsonl, then unnoted review export own.jsonl --to mended.json
    """
    if token is not None and not re.fullmatch(r"[\w.~-]{8,200}", token, re.ASCII):
        raise ValueError("--token: found another, expected 8 to 200 letters, digits, or any of ._~-")
    store = open_review(file, database, resume, log)
    if host not in (LOOPBACK, "localhost", "::1"):
        log("note: others can reach this address; what is sent is not encrypted")
    try:
        with on_interrupt(f"stopped; every decision is in {store.path}"):
            serve_review(store, host, port, token, print_text)
    finally:
        store.close()
