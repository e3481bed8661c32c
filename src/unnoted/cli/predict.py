"""`unnoted predict`: extract the facts of documents."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.options import (
    AnyTypes,
    Backend,
    Batch,
    Device,
    Entities,
    Files,
    Model,
    Overwrite,
    TargetPrecision,
    TargetRecall,
    Text,
    Threads,
    TypePair,
    find_entities,
    handle_errors,
    load_extractor,
    log,
    log_defects,
    on_interrupt,
    print_text,
    progress,
    refuse_without_text,
    set_threads,
)
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog
from unnoted.io import check_output, display_name, is_stream, partial_path, rereadable
from unnoted.utils import plural

if TYPE_CHECKING:  # torch takes seconds to load: other commands must not wait for it
    from unnoted.inference import DecisionOptions, Extractor
    from unnoted.inference.predict_files import ExtractionReport

ResultFile = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="FILE",
        help="The file to write; `.gz` compresses it, `-` is standard output. Without it: a table.",
    ),
]
ResultFormat = Annotated[
    str | None,
    typer.Option(
        help="The format to write: predictions (official DocRED file), jsonl (with scores and "
        "supporting sentences), csv, parquet, html (a page of the documents with their facts drawn in "
        "them) or table; by default what the name ends in, else predictions."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(help="Predict facts of at least this score; by default the model's own threshold."),
]


@handle_errors
def predict(
    model: Model,
    files: Files,
    text: Text = False,
    entities: Entities = None,
    type: TypePair = None,
    to: ResultFile = None,
    format: ResultFormat = None,
    threshold: Threshold = None,
    target_precision: TargetPrecision = None,
    target_recall: TargetRecall = None,
    any_types: AnyTypes = False,
    batch: Batch = None,
    threads: Threads = None,
    device: Device = None,
    backend: Backend = None,
    overwrite: Overwrite = False,
) -> None:
    """Extract the facts of documents with a trained model.

    Facts in the documents themselves are ignored. With --text, entities are found first. Results are kept in
    FILE.partial while they are found: after an interruption, the same command continues where it stopped, and
    FILE will be the same to the last byte. FILE appears when it is complete. A pipe, a device or `-` gets the
    results as they are found.
    """
    if to is None and format not in (None, "table"):
        raise ValueError(f"--format {format} needs --to")
    if to is not None:
        check_output(to, [*files, Path(model)], overwrite or partial_path(to).exists())
    from unnoted.inference import DecisionOptions
    from unnoted.inference.predict_files import threads_of_partial

    if threads is None and to is not None and not is_stream(to):
        threads = threads_of_partial(partial_path(to))
    options = DecisionOptions(threshold, target_precision, target_recall)
    with ExitStack() as stack:
        if text:
            extractor = load_extractor(model, batch, device, backend, any_types)
            kept = [stack.enter_context(find_entities(extractor, files, entities, type or []))]
        else:
            refuse_without_text(entities, type)
            kept = stack.enter_context(rereadable(files))
        total = _count_documents(kept)  # finds bad documents before the long work
        if not text:
            extractor = load_extractor(model, batch, device, backend, any_types)
        set_threads(extractor, threads)
        if to is None:
            _print_tables(extractor, kept, total, options)
            return
        hint = "" if is_stream(to) else f"; the same command continues from {to}.partial"
        with on_interrupt(f"interrupted{hint}"):
            _write(extractor, model, kept, total, to, format, options, overwrite)


def _count_documents(files: list[Path]) -> int:
    """Read all documents, count them, and log their defects."""
    defects = DefectLog()
    total = sum(1 for _ in stream_documents(*files, log=defects))
    log_defects(defects)
    return total


def _print_tables(extractor: "Extractor", files: list[Path], total: int, options: "DecisionOptions") -> None:
    from unnoted.inference.predict_files import ExtractionReport

    report = ExtractionReport()
    documents = report.count_documents(stream_documents(*files), extractor.model.candidates)
    # No bar where the results go to the same terminal.
    with progress(total, bar=not sys.stdout.isatty()) as report_progress:
        for number, extraction in enumerate(extractor.extract(documents, threshold=options), start=1):
            print_text(str(extraction))
            report.facts += len(extraction.facts)
            report_progress(number)
    _log_report(report)


def _write(
    extractor: "Extractor",
    model: str,
    files: list[Path],
    total: int,
    to: Path,
    format: str | None,
    options: "DecisionOptions",
    overwrite: bool,
) -> None:
    from unnoted.inference.predict_files import predict_files
    from unnoted.inference.writers import format_from_name

    if format is None:
        format = format_from_name(to)
    with progress(total) as report_progress:
        report = predict_files(
            extractor, model, files, to, format, options, on_progress=report_progress, overwrite=overwrite
        )
    _log_report(report)
    documents = plural(report.documents, "document")
    written = f"{plural(report.facts, 'fact')} of {documents} written to {display_name(to)}"
    typer.echo(written, err=is_stream(to))


def _log_report(report: "ExtractionReport") -> None:
    for line in report.notes():
        log(f"note: {line}")
