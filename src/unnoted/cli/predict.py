"""`unnoted predict`: which facts are in these documents?"""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from unnoted.cli.common import FILES, Overwrite, reports_errors, say, stops_with, tell, tell_defects
from unnoted.cli.text_options import Entities, Text, TypePair, found_in_text, refuse_without_text
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog
from unnoted.io import check_output, display_name, is_stream, partial_path, rereadable
from unnoted.utils import duration, plural

if TYPE_CHECKING:  # torch takes seconds to load: other commands must not wait for it
    from unnoted.inference import DecisionOptions, Extractor
    from unnoted.inference.predict_files import ExtractionReport

SECONDS_A_LINE = 30
"""How often progress is told where there is no terminal to draw a bar on."""

ModelFirst = Annotated[
    str | None, typer.Argument(metavar="MODEL", help="A trained model: its folder, or its name on the hub.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="The model, if it is not the first argument.")
]
Device = Annotated[
    str | None,
    typer.Option("--device", help="The device: cpu, cuda, cuda:1, …; by default a GPU if there is one."),
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="What runs the encoder: torch (exact), int8 (torch, 8 bits), or onnx for a folder written by "
        "`unnoted export`; by default the fastest.",
    ),
]
AnyTypes = Annotated[
    bool,
    typer.Option(
        "--any-types", help="Predict relations also between types that they were never labelled with."
    ),
]
Batch = Annotated[int | None, typer.Option("--batch", help="Documents of a batch at most (8).")]

TargetPrecision = Annotated[
    float | None,
    typer.Option(
        "--target-precision",
        metavar="SHARE",
        help="Use the threshold that is expected to have this precision; needs a calibrated model.",
    ),
]
TargetRecall = Annotated[
    float | None,
    typer.Option(
        "--target-recall",
        metavar="SHARE",
        help="Use the threshold that is expected to have this recall; needs a calibrated model.",
    ),
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


@reports_errors
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
        raise ValueError(f"found --format {format} without --to, expected a file to write to")
    named, given = _model_and_files(first, files, model)
    if to is not None:
        check_output(to, [*given, Path(named)], overwrite or partial_path(to).exists())
    from unnoted.inference import DecisionOptions

    options = DecisionOptions(threshold, target_precision, target_recall)
    with ExitStack() as stack:
        if text:
            extractor = load_extractor(named, batch, device, backend, any_types)
            kept = [stack.enter_context(found_in_text(extractor, given, entities, type or []))]
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
        with stops_with(f"interrupted{go_on}"):
            _write(extractor, named, kept, total, to, format, options, overwrite)


def _model_and_files(
    first: str | None, files: list[Path] | None, model: str | None
) -> tuple[str, list[Path]]:
    """Which argument is the model: the first, unless an option names it."""
    given = [*([] if model is None or first is None else [Path(first)]), *(files or [])]
    named = first if model is None else model
    if named is None or not given:
        found = "no model" if named is None else "no file"
        raise ValueError(f"found {found}, expected MODEL FILES...")
    return named, given


def _checked(files: list[Path]) -> int:
    """How many documents there are; their defects are told."""
    log = DefectLog()
    total = sum(1 for _ in stream_documents(*files, log=log))
    tell_defects(log)
    return total


def load_extractor(
    model: str,
    batch: int | None,
    device: str | None,
    backend: str | None = None,
    any_types: bool = False,
) -> "Extractor":
    """The extractor that the options ask for; what it warns of is told in our own way."""
    from unnoted.inference import BATCH, Extractor

    limits = BATCH if batch is None else replace(BATCH, documents=batch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        extractor = Extractor.from_pretrained(model, limits, device, any_types=any_types, backend=backend)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            tell(f"note: {warning.message}")
    return extractor


def _print_tables(extractor: "Extractor", files: list[Path], total: int, options: "DecisionOptions") -> None:
    from unnoted.inference.predict_files import ExtractionReport

    report = ExtractionReport()
    documents = report.count_documents(stream_documents(*files), extractor.model.candidates)
    # No bar where the results go to the same terminal.
    with progress(total, bar=not sys.stdout.isatty()) as told:
        for number, extraction in enumerate(extractor.extract(documents, threshold=options), start=1):
            say(str(extraction))
            report.facts += len(extraction.facts)
            told(number)
    _tell(report)


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
    with progress(total) as told:
        report = predict_files(
            extractor, model, files, to, format, options, on_progress=told, overwrite=overwrite
        )
    _tell(report)
    documents = plural(report.documents, "document")
    written = f"{plural(report.facts, 'fact')} of {documents} written to {display_name(to)}"
    typer.echo(written, err=is_stream(to))


def _tell(report: "ExtractionReport") -> None:
    for line in report.notes():
        tell(f"note: {line}")


class Teller:
    """Shows progress and the time left: a bar on a terminal, else a line now and then.

    Args:
        total: how many documents there are.
        bar: draws the bar, if there is one.
    """

    def __init__(self, total: int, bar: Progress | None) -> None:
        self.total = total
        self._bar = bar
        self._task = None if bar is None else bar.add_task("documents", total=total)
        self._first: int | None = None
        self._started = self._told = time.monotonic()

    def __call__(self, done: int) -> None:
        """Tell that so many documents are done; the first number told was done before."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._started = done, now
            if self._bar is not None and self._task is not None:
                self._bar.reset(self._task, completed=done)  # what was done before says nothing of the pace
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done)
        elif now - self._told >= SECONDS_A_LINE and done > self._first:
            self._told = now
            left = (now - self._started) / (done - self._first) * (self.total - done)
            total = plural(self.total, "document")
            typer.echo(f"{done:,} of {total}, {duration(left)} left", err=True)


@contextmanager
def progress(total: int, bar: bool = True) -> Iterator[Teller]:
    """Tell progress on stderr while documents are worked on."""
    console = Console(stderr=True)
    if not (bar and console.is_terminal):
        yield Teller(total, None)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as drawn:
        yield Teller(total, drawn)
