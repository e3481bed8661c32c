"""What the commands share: how they fail, print, and take files."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from unnoted.common.errors import DataError, DefectLog, Severity
from unnoted.documents.relations import RelationVocabulary

P = ParamSpec("P")
T = TypeVar("T")

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES...",
        help="Documents in any known format, plain or gzip; for PubTator also its relation files.",
        show_default=False,
    ),
]
To = Annotated[Path, typer.Option("--to", metavar="FILE", help="Where to write; `.gz` compresses.")]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", help="docred, jsonl or predictions; by default jsonl for `.jsonl` names, else docred."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]
Strict = Annotated[bool, typer.Option("--strict", help="Every defect is an error.")]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary", metavar="FILE", help="Allowed relations: rel_info.json, rel2id.json or a JSON list."
    ),
]
AsJSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def reports_errors(command: Callable[P, T]) -> Callable[P, T]:
    """Turn an error that the user can mend into one line on stderr and exit code 1."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except OSError as error:
            typer.echo(f"error: {error.filename or ''}: {error.strerror or error}", err=True)
        except (DataError, ValueError) as error:
            typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1)

    return wrapped


def console() -> Console:
    """Where tables go: stdout, wide enough for a table when it is not a terminal."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=120)


def table(title: str | None, *columns: str, text: int = 1) -> Table:
    """An empty table; the first `text` columns are words, the rest are figures."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number < text else "right", overflow="fold")
    return made


def read_vocabulary(path: Path | None) -> RelationVocabulary | None:
    """The vocabulary in a file, or none."""
    return None if path is None else RelationVocabulary.from_file(path)


def tell_defects(log: DefectLog) -> None:
    """One line on stderr for what a reading met, so that a command that goes on hides nothing."""
    found = log.total(Severity.DEFECT)
    if found:
        kinds = ", ".join(
            f"{count} {kind.slug}" for kind, count in log.counts.items() if kind.severity is Severity.DEFECT
        )
        typer.echo(f"note: {found} defects met ({kinds}); `unnoted data check` lists them", err=True)
