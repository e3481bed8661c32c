"""What the commands share: how they fail, print, and take files."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from unnoted.data.corpus import RelationVocabulary
from unnoted.errors import DataError, DefectLog, Severity
from unnoted.utils import plural, strip_control

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPTED = 130
"""The exit code of a command that was stopped by Ctrl-C, as shells have it."""

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
        help="The format to write: docred, jsonl, predictions, label-studio, prodigy, brat (a folder), "
        "spacy, columns or parquet; by default that of the name's ending (`.jsonl`, `.spacy`, `.parquet`), "
        "else docred.",
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


def reports_errors(command: Callable[P, T]) -> Callable[P, T]:
    """Turn an error that the user can mend into one line on stderr and exit code 1, Ctrl-C into code 130."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with stops_with("interrupted"):
                return command(*args, **kwargs)
        except OSError as error:
            tell_error(error)
        except (DataError, ValueError) as error:
            tell(f"error: {error}")
        raise typer.Exit(1)

    return wrapped


def tell_error(error: OSError) -> None:
    """Say in one line on stderr what cannot be read or written."""
    where = "" if error.filename is None else f"{error.filename}: "
    tell(f"error: {where}{error.strerror or error}")


def tell(line: str) -> None:
    """A line on stderr, in which nothing that comes from data can move the cursor or colour the terminal."""
    typer.echo(strip_control(line), err=True)


def say(text: str, err: bool = False) -> None:
    """Lines on stdout, or stderr, as harmless as those of `tell`."""
    try:
        typer.echo(strip_control(text, keep="\n\t"), err=err)
    except BrokenPipeError:
        raise _broken_pipe() from None


def _broken_pipe() -> BrokenPipeError:
    return BrokenPipeError(errno.EPIPE, f"not written: {os.strerror(errno.EPIPE)}", "standard output")


def json_text(content: object) -> str:
    """Content as JSON for programs and people: what a terminal would obey is escaped, and readers undo it."""
    text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
    if all(map(str.isprintable, text.split("\n"))):
        return text
    return "".join(
        letter if letter == "\n" or strip_control(letter) == letter else json.dumps(letter)[1:-1]
        for letter in text
    )


@contextmanager
def stops_with(message: str) -> Iterator[None]:
    """Answer Ctrl-C with one line on stderr, such as how to continue, and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            typer.echo(err=True)  # the terminal shows ^C
        typer.echo(message, err=True)
        raise typer.Exit(INTERRUPTED) from None


class PlainConsole(Console):
    """Highlights nothing, and leaves it to the command to say that nobody reads on."""

    def __init__(self, err: bool = False, width: int | None = None) -> None:
        super().__init__(highlight=False, emoji=False, stderr=err, width=width)

    def on_broken_pipe(self) -> None:
        """Raise what happened, instead of leaving the program."""
        raise _broken_pipe()


def console(err: bool = False) -> Console:
    """Where tables go: stdout, or stderr, wide enough for a table when it is not a terminal."""
    made = PlainConsole(err)
    return made if made.is_terminal else PlainConsole(err, width=120)


class PlainTable(Table):
    """A table whose cells are shown as they are: `[/b]` in a name is no markup, an escape code no colour."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:  # noqa: ANN401
        """Add a row."""
        shown = (Text(strip_control(cell)) if isinstance(cell, str) else cell for cell in cells)
        super().add_row(*shown, **options)


def table(title: str | None, *columns: str, text: int = 1) -> Table:
    """An empty table; the first `text` columns are words, the rest are figures."""
    made = PlainTable(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number < text else "right", overflow="fold")
    return made


def read_vocabulary(path: Path | None) -> RelationVocabulary | None:
    """The vocabulary in a file, or none."""
    return None if path is None else RelationVocabulary.from_file(path)


def tell_defects(log: DefectLog) -> None:
    """One line on stderr for the defects of the documents, so that a command that continues hides nothing."""
    found = log.total(Severity.DEFECT)
    if found:
        kinds = ", ".join(
            f"{count} {kind.slug}" for kind, count in log.counts.items() if kind.severity is Severity.DEFECT
        )
        defects = plural(found, "defect")
        typer.echo(f"note: {defects} found ({kinds}); `unnoted data check` lists them", err=True)
