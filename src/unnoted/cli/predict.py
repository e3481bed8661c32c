"""`unnoted predict`: extract the facts of documents."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

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
    load_reader,
    log,
    log_defects,
    on_interrupt,
    progress,
    set_threads,
)
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog
from unnoted.io import STANDARD, display_name, is_stream, lock_output, rereadable
from unnoted.utils import plural

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
        "them), graphml, nt or ttl (a knowledge graph) or table; by default what the name ends in, else predictions."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(help="Predict facts with a score above this; by default the model's own threshold."),
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
    # Here, because it loads torch, which the other commands need not wait for.
    from unnoted.inference import DecisionOptions
    from unnoted.inference.predict_files import partial_path, predict_files, threads_of_partial
    from unnoted.inference.writers import format_from_name

    options = DecisionOptions(threshold, target_precision, target_recall)
    output = STANDARD if to is None else to
    form = format or ("table" if to is None else format_from_name(output))
    hint = "" if is_stream(output) else f"; the same command continues from {partial_path(output)}"
    with ExitStack() as stack:
        # A partial file beside it shows that the output is of this very call, stopped before its last step.
        overwrite = overwrite or partial_path(output).exists()
        stack.enter_context(lock_output(output, inputs=[*files, Path(model)], overwrite=overwrite))
        stack.enter_context(on_interrupt(f"interrupted{hint}"))
        if text:
            extractor = load_extractor(model, batch, device, backend, any_types)
            kept = [stack.enter_context(find_entities(files, load_reader(extractor, entities, type)))]
        else:
            if entities is not None or type:
                option = "--type" if entities is None else "--entities"
                raise ValueError(f"{option} needs --text: documents have their entities already")
            kept = stack.enter_context(rereadable(files))
        defects = DefectLog()
        total = sum(1 for _ in stream_documents(*kept, log=defects))  # finds faults before the long work
        log_defects(defects)
        if not text:
            extractor = load_extractor(model, batch, device, backend, any_types)
        set_threads(extractor, threads or threads_of_partial(partial_path(output)))
        # No bar where the results go to the same terminal.
        bar = not (is_stream(output) and sys.stdout.isatty())
        report_progress = stack.enter_context(progress(total, bar))
        report = predict_files(extractor, model, kept, output, form, options, report_progress)
    for line in report.notes():
        log(f"note: {line}")
    if to is not None:
        facts, documents = plural(report.facts, "fact"), plural(report.documents, "document")
        typer.echo(f"{facts} of {documents} written to {display_name(to)}", err=is_stream(to))
