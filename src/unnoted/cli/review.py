"""`unnoted review start` and `unnoted review export`: suggestions decided in a browser, and back in the corpus."""

import re
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import Overwrite, To, handle_errors, log, on_interrupt, print_text
from unnoted.io import display_name, is_stream
from unnoted.review import export_review, open_existing, open_review, serve_review
from unnoted.review.app import LOOPBACK
from unnoted.utils import plural


@handle_errors
def start(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Suggestions, or a review that was begun.", show_default=False),
    ],
    database: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The review's file; by default FILE.review.db beside it."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines of the network in.")
    ] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 0,
    token: Annotated[
        str | None, typer.Option(help="Must be in the address; by default a new random one.")
    ] = None,
) -> None:
    """Review suggestions in a browser: open the address that is printed. Ctrl-C stops it.

    An example: unnoted review start suggestions.jsonl
    """
    if token is not None and not re.fullmatch(r"[\w.~-]{8,200}", token, re.ASCII):
        raise ValueError("--token must have 8 to 200 characters: letters, digits, or any of ._~-")
    store = open_review(file, database, log)
    if host not in (LOOPBACK, "localhost", "::1"):
        log("note: others can reach this address; what is sent is not encrypted")
    try:
        with on_interrupt(f"stopped; every decision is in {store.path}"):
            serve_review(store, host, port, token, print_text)
    finally:
        store.close()


@handle_errors
def export(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The review (FILE.review.db), or its suggestions.", show_default=False
        ),
    ],
    to: To,
    source: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The corpus, if it is not where it was any more."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the corpus in its own format, with accepted facts added and rejected ones as known negatives."""
    with closing(open_existing(file)) as store:
        report, tied = export_review(store, to, source, overwrite)
    if tied:
        log(f"note: {plural(tied, 'fact')} left unchanged: as many reviewers for as against")
    if report.unmerged:
        log(
            f"note: {plural(report.unmerged, 'entity', 'entities')} not merged: the format has no place for it"
        )
    added, rejected = plural(report.added, "fact"), plural(report.rejected, "known negative")
    merged = f", {plural(report.merged, 'entity', 'entities')} merged" if report.merged else ""
    print_text(f"{added} added, {rejected}{merged}; written to {display_name(to)}", err=is_stream(to))
