"""`unnoted review export`: the corpus with what was decided."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import Overwrite, To, handle_errors, log, print_text
from unnoted.io import display_name, is_stream
from unnoted.review.exporting import export_review
from unnoted.review.opening import existing_review
from unnoted.utils import plural


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
    with closing(existing_review(file)) as store:
        report, found = export_review(store, to, source, overwrite)
    if found.tied:
        left = "1 fact left as it was" if found.tied == 1 else f"{found.tied:,} facts left as they were"
        log(f"note: {left}: as many reviewers for as against")
    added, rejected = plural(report.added, "fact"), plural(report.rejected, "known negative")
    print_text(f"{added} added, {rejected}; written to {display_name(to)}", err=is_stream(to))
