"""`unnoted predict`: extract the facts of documents."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.options import (
    AnyTypes,
    Backend,
    Batch,
    Device,
    Entities,
    Model,
    Overwrite,
    Ray,
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
    log_warnings,
    on_interrupt,
    set_threads,
)
from unnoted.data.formats import detect_format
from unnoted.data.loading import Shard, find_shards, stream_documents
from unnoted.errors import DefectLog
from unnoted.inference import BATCH, DecisionOptions, Extractor
from unnoted.inference.writers import RESULT_FORMATS, choose_format
from unnoted.io import STANDARD, display_name, is_stream, lock_output, rereadable
from unnoted.progress import show_progress
from unnoted.utils import plural

if TYPE_CHECKING:
    from unnoted.inference.predict_corpus import CorpusJob

Inputs = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES...",
        help="Documents in any known format, plain or gzip, or - for standard input; also folders, and patterns "
        "such as 'in/*.parquet'.",
        show_default=False,
    ),
]
ResultFile = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FILE|FOLDER/",
        help="The file to write; `.gz` compresses it, `-` is standard output. Into a folder, one that is there "
        "or a name with / at the end, a file is written for each input file. Without it: a table.",
    ),
]
ResultFormat = Annotated[
    str | None,
    typer.Option(
        help="The format to write, by default what the name ends in: "
        + ", ".join(f"{name} ({each.help})" if each.help else name for name, each in RESULT_FORMATS.items())
        + "."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(help="Predict facts with a score above this; by default the model's own threshold."),
]


@handle_errors
def predict(
    model: Model,
    files: Inputs,
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
    ray: Ray = None,
    overwrite: Overwrite = False,
) -> None:
    """Extract the facts of documents with a trained model.

    Facts in the documents themselves are ignored. Of plain text (`.txt`, or --text), entities are found first.
    Results are kept in FILE.partial while they are found: after an interruption, the same command continues
    where it stopped, and FILE will be the same to the last byte. FILE appears when it is complete. A pipe, a
    device or `-` gets the results as they are found. In a FOLDER, the results of each input file appear when
    they are complete, and are not computed again.
    """
    if to is None and format not in (None, "txt"):
        raise ValueError(f"--format {format} needs --to")
    # Here, because they load transformers, which --help need not wait for.
    from unnoted.inference.predict_corpus import CorpusJob
    from unnoted.inference.predict_files import MANIFEST, partial_path, predict_files, threads_of_results

    options = DecisionOptions(threshold, target_precision, target_recall)
    shards = find_shards(files)
    if to is not None and (to.endswith("/") or Path(to).is_dir()):
        of_text = text or entities is not None or bool(type)
        if of_text or overwrite:
            option, instead = ("plain text", "a file") if of_text else ("--overwrite", "a new folder")
            raise ValueError(f"{option} does not go with a folder of results: give {instead} in --to")
        limits = BATCH if batch is None else replace(BATCH, documents=batch)
        job = CorpusJob(
            model, Path(to), format or "jsonl", options, limits, device, backend, any_types, threads
        )
        _predict_folder(job, shards, ray)
        return
    if ray is not None:
        raise ValueError("--ray needs --to FOLDER/: a folder that is there, or a name with / at the end")
    output, inputs = STANDARD if to is None else Path(to), [shard.path for shard in shards]
    text = text or _are_texts(inputs)
    if not text and (entities is not None or type):
        option = "--type" if entities is None else "--entities"
        raise ValueError(f"{option} is for plain text: documents have their entities already")
    format = choose_format(output, "txt" if to is None else format)
    hint = "" if is_stream(output) else f"; the same command continues from {partial_path(output)}"
    with ExitStack() as stack:
        # Partial results beside it show that the output is of this very call, stopped before its last step; those
        # of another call are refused before anything is written.
        overwrite = overwrite or (partial_path(output) / MANIFEST).is_file()
        stack.enter_context(lock_output(output, inputs=[*inputs, Path(model)], overwrite=overwrite))
        stack.enter_context(on_interrupt(f"interrupted{hint}"))
        if text:
            extractor = load_extractor(model, batch, device, backend, any_types)
            kept = [stack.enter_context(find_entities(inputs, load_reader(extractor, entities, type)))]
        else:
            kept = stack.enter_context(rereadable(inputs))
        defects = DefectLog()
        # Finds faults before the long work.
        words = sum(each.word_count for each in stream_documents(*kept, log=defects))
        log_defects(defects)
        if not text:
            extractor = load_extractor(model, batch, device, backend, any_types)
        set_threads(extractor, threads, threads_of_results(partial_path(output)))
        log(f"note: facts have a {extractor.decision(options)}")
        # No bar where the results go to the same terminal.
        bar = not (is_stream(output) and sys.stdout.isatty())
        progress = stack.enter_context(show_progress(words, "predicting", shown=bar))
        report = predict_files(extractor, model, kept, output, format, options, progress.report)
    for line in report.notes():
        log(f"note: {line}")
    if to is not None:
        facts, documents = plural(report.facts, "fact"), plural(report.documents, "document")
        typer.echo(f"{facts} of {documents} written to {display_name(output)}", err=is_stream(output))


def _predict_folder(job: "CorpusJob", shards: list[Shard], ray: str | None) -> None:
    """Predict the shards that are not finished, here or on a Ray cluster."""
    from unnoted.inference.predict_corpus import predict_corpus
    from unnoted.inference.predict_files import threads_of_results

    before = threads_of_results(job.to)

    def load() -> Extractor:
        with log_warnings():
            extractor = job.load_extractor()
        set_threads(extractor, job.threads, before)
        log(f"note: facts have a {extractor.decision(job.options)}")
        return extractor

    with (
        on_interrupt(f"interrupted; the same command continues in {job.to}"),
        show_progress(len(shards), "predicting files") as progress,
    ):
        work = replace(job, threads=job.threads or before)
        report = predict_corpus(work, shards, ray, load, progress.report)
    log_defects(DefectLog(counts=report.defects))
    if report.finished:
        log(f"note: {plural(report.finished, 'file')} had been completed before")
    for line in report.notes():
        log(f"note: {line}")
    if report.busy:
        log(f"note: another process is at {plural(len(report.busy), 'file')}, such as {report.busy[0]}")
    for line in report.failed:
        log(f"error: {line}")
    facts, documents = plural(report.facts, "fact"), plural(report.documents, "document")
    typer.echo(f"{facts} of {documents} in {plural(report.shards, 'file')} written to {job.to}")
    if report.failed:
        log(f"{plural(len(report.failed), 'file')} failed: the same command tries them again")
        raise typer.Exit(1)


def _are_texts(files: list[Path]) -> bool:
    """Whether files are plain text, by their names and what is in them.

    Raises:
        DataError: one that is named as text is empty, or in no known format.
        ValueError: some are, and some are not.
    """
    # Of many files, few are opened.
    named = [file for file in files if file.suffix == ".txt" and file.is_file()]
    texts = {file for file in named if detect_format(file).key == "text"}
    if texts and (others := [file for file in files if file not in texts]):
        raise ValueError(f"{min(texts)} is plain text, and {others[0]} is not: give them to two commands")
    return bool(texts)
