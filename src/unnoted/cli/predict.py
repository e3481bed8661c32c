"""`unnoted predict`: which facts are in these documents?"""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.options import (
    FILES,
    AnyTypes,
    Backend,
    Batch,
    Device,
    Entities,
    Overwrite,
    TargetPrecision,
    TargetRecall,
    Text,
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
)
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog
from unnoted.io import check_output, display_name, is_stream, partial_path, rereadable
from unnoted.utils import plural

if TYPE_CHECKING:  # torch takes seconds to load: other commands must not wait for it
    from unnoted.inference import DecisionOptions, Extractor
    from unnoted.inference.predict_files import ExtractionReport

ModelFirst = Annotated[
    str | None, typer.Argument(metavar="MODEL", help="A trained model: its folder, or its name on the hub.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="The model, if it is not the first argument.")
]
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
    first: ModelFirst = None,
    files: Annotated[list[Path] | None, FILES] = None,
    model: ModelOption = None,
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
    named, given = _model_and_files(first, files, model)
    if to is not None:
        check_output(to, [*given, Path(named)], overwrite or partial_path(to).exists())
    from unnoted.inference import DecisionOptions

    options = DecisionOptions(threshold, target_precision, target_recall)
    with ExitStack() as stack:
        if text:
            extractor = load_extractor(named, batch, device, backend, any_types)
            kept = [stack.enter_context(find_entities(extractor, given, entities, type or []))]
        else:
            refuse_without_text(entities, type)
            kept = stack.enter_context(rereadable(given))
        total = _checked(kept)  # finds bad documents before the long work
        if not text:
            extractor = load_extractor(named, batch, device, backend, any_types)
        if to is None:
            _print_tables(extractor, kept, total, options)
            return
        go_on = "" if is_stream(to) else f"; the same command continues from {to}.partial"
        with on_interrupt(f"interrupted{go_on}"):
            _write(extractor, named, kept, total, to, format, options, overwrite)


def _model_and_files(
    first: str | None, files: list[Path] | None, model: str | None
) -> tuple[str, list[Path]]:
    """Which argument is the model: the first, unless an option names it."""
    given = [*([] if model is None or first is None else [Path(first)]), *(files or [])]
    named = first if model is None else model
    if named is None or not given:
        raise ValueError("give a model and the files to predict: unnoted predict MODEL FILES...")
    return named, given


def _checked(files: list[Path]) -> int:
    """How many documents there are; their defects are told."""
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
