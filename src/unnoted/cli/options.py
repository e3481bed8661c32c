"""What the commands share: options, how they print and fail, and how they load a model."""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text as RichText

from unnoted.data.corpus import RelationVocabulary
from unnoted.data.formats import FORMATS
from unnoted.errors import DataError, DefectKind, DefectLog, Severity
from unnoted.utils import SMALL_WIDTH, choose_threads, plural, strip_control

if TYPE_CHECKING:  # torch takes seconds to load: other commands must not wait for it
    from unnoted.data.ner import TextReader
    from unnoted.inference import Extractor

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPTED = 130
"""The exit code of a command that was stopped by Ctrl-C, as shells have it."""


# Options of documents and outputs

FILES = typer.Argument(
    metavar="FILES...",
    help="Documents in any known format, plain or gzip, or - for standard input; for PubTator also its "
    "relation files, for brat also a folder.",
    show_default=False,
)
Files = Annotated[list[Path], FILES]
To = Annotated[
    Path,
    typer.Option(
        "--to", metavar="FILE", help="The file to write; `.gz` compresses it, `-` is standard output."
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"The format to write: {', '.join(key for key, each in FORMATS.items() if each.write)}; by default "
        "that of the name's ending.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The random seed; the same seed gives the same result.")]
Strict = Annotated[bool, typer.Option("--strict", help="Treat every defect as an error.")]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="A file of the allowed relations: rel_info.json, rel2id.json, a JSON list, or names with "
        "descriptions.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a file that is there already; never one that is read.")
]
AsJSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

# Options of trained models

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A trained model: its folder, or its name on the hub.")
]
Device = Annotated[
    str | None,
    typer.Option("--device", help="The device: cpu, cuda, cuda:1, …; by default a GPU if there is one."),
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="What runs the encoder: torch (exact) or int8 (torch, 8 bits); by default the faster one.",
    ),
]
AnyTypes = Annotated[
    bool,
    typer.Option(
        "--any-types", help="Predict relations also between types that they were never labelled with."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Threads on a CPU; by default what model and machine allow."),
]
Batch = Annotated[int | None, typer.Option("--batch", help="Documents of a batch at most (8).")]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Let a Ray cluster do it: auto, local, host:port or ray://host:port (needs the extra `ray`).",
    ),
]
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

# Options of plain text

Text = Annotated[
    bool,
    typer.Option(
        "--text",
        help="FILES are plain text, one document each, also where their names do not end in `.txt`.",
    ),
]
Entities = Annotated[
    str | None,
    typer.Option(
        "--entities",
        metavar="NAME",
        help="What finds the entities of plain text: an installed spaCy pipeline, or a folder with one or "
        "with a GLiNER model; by default the one pipeline that is installed.",
    ),
]
TypePair = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="FOUND=OURS",
        help="What the model calls a type of entity that is found, such as PERSON=PER; nothing behind the = "
        "leaves that type out. May be given several times.",
    ),
]

# Options of training

Train = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Training documents; repeat it for PubTator's relation files."),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="ENCODER",
        help="The encoder: a folder, a name on the hub, or `recurrent` to make one on the spot.",
    ),
]
Layers = Annotated[int | None, typer.Option(min=1, help="Keep only this many of the encoder's first layers.")]
Multiplier = Annotated[
    float | None,
    typer.Option(
        help="True facts for each labelled one, for losses with priors; 1 where labels are complete."
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Rules that always hold, a line each; labels are closed under them (`unnoted rules`).",
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes over the training documents.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change any key of the config, e.g. --set epochs=3 --set loss=ssr-pu; may be repeated. "
        "`unnoted info NAME` shows the keys.",
    ),
]


# Errors and interruptions


def handle_errors(command: Callable[P, T]) -> Callable[P, T]:
    """Turn an error that the user can correct into one line on stderr and exit code 1, Ctrl-C into code 130."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with on_interrupt("interrupted"):
                return command(*args, **kwargs)
        except BrokenPipeError:  # `| head` has read what it wanted
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the last flush
            raise typer.Exit from None
        except OSError as error:
            log_os_error(error)
        except (DataError, ValueError) as error:
            log(f"error: {error}")
        raise typer.Exit(1)

    return wrapped


def log_os_error(error: OSError) -> None:
    """Say in one line on stderr what cannot be read or written."""
    where = "" if error.filename is None else f"{error.filename}: "
    log(f"error: {where}{error.strerror or error}")


@contextmanager
def on_interrupt(message: str) -> Iterator[None]:
    """Answer Ctrl-C with one line on stderr, such as how to continue, and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            typer.echo(err=True)  # the terminal shows ^C
        typer.echo(message, err=True)
        raise typer.Exit(INTERRUPTED) from None


# Printing: nothing that comes from data can move the cursor or colour the terminal


def log(line: str) -> None:
    """A line on stderr."""
    typer.echo(strip_control(line), err=True)


def print_text(text: str, err: bool = False) -> None:
    """Lines on stdout, or stderr."""
    typer.echo(strip_control(text, keep="\n\t"), err=err)


def to_json_text(content: object) -> str:
    """Content as JSON for programs and people: what a terminal would obey is escaped, and readers undo it."""
    text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
    plain = all(map(str.isprintable, text.split("\n")))
    return text if plain else json.dumps(content, indent=1, default=str)


class TableConsole(Console):
    """Where tables are printed; a closed pipe is answered as by all other output."""

    def on_broken_pipe(self) -> None:
        """Raise the `BrokenPipeError` that is handled here."""
        raise


def console(err: bool = False) -> Console:
    """Where tables are printed: stdout, or stderr, wide enough for a table when it is not a terminal."""
    made = TableConsole(highlight=False, emoji=False, stderr=err)
    return made if made.is_terminal else TableConsole(highlight=False, emoji=False, stderr=err, width=120)


class PlainTable(Table):
    """A table whose cells are shown as they are: `[/b]` in a name is no markup, an escape code no colour."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:  # noqa: ANN401
        """Add a row."""
        texts = (RichText(strip_control(cell)) if isinstance(cell, str) else cell for cell in cells)
        super().add_row(*texts, **options)


def table(title: str | None, *columns: str, text: int = 1) -> Table:
    """An empty table; the first `text` columns are texts, the rest are figures."""
    made = PlainTable(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number < text else "right", overflow="fold")
    return made


def log_defects(defects: DefectLog) -> None:
    """One line on stderr for the defects of the documents, so that a command that continues hides nothing."""
    found = defects.total(Severity.DEFECT)
    if found:
        kinds = ", ".join(
            f"{count} {kind.slug}"
            for kind, count in defects.counts.items()
            if kind.severity is Severity.DEFECT
        )
        log(f"note: {plural(found, 'defect')} found ({kinds}); `unnoted data check` lists them")


# What options stand for


def read_vocabulary(path: Path | None) -> RelationVocabulary | None:
    """The vocabulary in a file, or none."""
    return None if path is None else RelationVocabulary.from_file(path)


def split_names(text: str | None) -> tuple[str, ...]:
    """Names that are separated by commas.

    Example:
        >>> split_names("atlop, ssr-pu"), split_names(None)
        (('atlop', 'ssr-pu'), ())
    """
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def load_extractor(
    model: str,
    batch: int | None,
    device: str | None,
    backend: str | None = None,
    any_types: bool = False,
) -> "Extractor":
    """The extractor that the options describe; its warnings are logged."""
    from unnoted.inference import BATCH, Extractor

    limits = BATCH if batch is None else replace(BATCH, documents=batch)
    with log_warnings():
        return Extractor(model, batch=limits, device=device, any_types=any_types, backend=backend)


@contextmanager
def log_warnings() -> Iterator[None]:
    """Log what users are warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            log(f"note: {warning.message}")


def set_threads(extractor: "Extractor", threads: int | None, before: int | None = None) -> None:
    """Set how many threads compute on a CPU, by default as many as computed results before, and say so."""
    if extractor.device == "cpu":
        # Batches are computed side by side, each on one thread, so that small models gain from several as well.
        reason = "as asked for" if threads else "as in the results so far"
        choose_threads(SMALL_WIDTH, threads or before, lambda line: log(f"note: {line}"), reason)


def load_reader(extractor: "Extractor", entities: str | None, types: list[str] | None) -> "TextReader":
    """What finds the entities of plain text; types that the model lacks are logged."""
    from unnoted.data.ner import parse_types

    return extractor.text_reader(entities, parse_types(types or []), lambda line: log(f"note: {line}"))


@contextmanager
def find_entities(files: list[Path], reader: "TextReader") -> Iterator[Path]:
    """A file with the documents of text files, their entities found."""
    from unnoted.inference.predict_files import text_files_as_documents

    defects = DefectLog()
    with text_files_as_documents(files, reader, defects) as kept:
        if without := defects.counts[DefectKind.NO_ENTITIES]:
            log(f"note: no entity found in {plural(without, 'document')} of {len(files):,}")
        yield kept
