"""`unnoted data generate`: a corpus whose complete truth is known."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.common import FormatName, Overwrite, Seed, To, reports_errors, say
from unnoted.data.levels import LEVELS, level
from unnoted.data.synthetic import generate_documents
from unnoted.data.thinning import ThinningReport, thin
from unnoted.data.writing import write_documents
from unnoted.io import display_name, is_stream, lock_output
from unnoted.utils import plural

SAMPLE = 1_000
"""Documents whose frequencies stand for those of the corpus, which need not be held in memory then."""


@reports_errors
def generate(
    to: To,
    documents: Annotated[int, typer.Option(min=1, help="Documents to generate.")] = 1_000,
    level_name: Annotated[
        str, typer.Option("--level", help=f"Labelling level: {', '.join(LEVELS)}.")
    ] = "full",
    seed: Seed = 0,
    start: Annotated[int, typer.Option(min=0, help="Number of the first document.")] = 0,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the documents with all their facts to this file."),
    ] = None,
    format: FormatName = None,
    overwrite: Overwrite = False,
) -> None:
    """Generate documents whose complete facts are known. Any part of a corpus can be generated alone."""
    sample = min(documents, SAMPLE)
    rule = level(level_name, lambda: generate_documents(sample, seed, start))
    report = ThinningReport()
    made = thin(generate_documents(documents, seed, start), rule, seed, report)
    outputs = [to, *([truth] if truth else [])]
    streamed = any(map(is_stream, outputs))
    with lock_output(*outputs, overwrite=overwrite):
        write_documents(to, made, format)
        say(
            f"{plural(report.documents, 'document')} written to {display_name(to)}: "
            f"{report.after.total():,} of {plural(report.before.total(), 'true fact')} labelled "
            f"({report.share:.2%})",
            err=streamed,
        )
        if truth is not None:
            write_documents(truth, generate_documents(documents, seed, start), format)
            say(f"documents with all facts written to {display_name(truth)}", err=streamed)
