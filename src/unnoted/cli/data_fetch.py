"""`unnoted data fetch`: the public data sets, downloaded and verified."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from unnoted.documents import fetching
from unnoted.documents.catalog import Catalog, CatalogFile, FetchError
from unnoted.documents.fetching import FetchReport, Outcome


def fetch(
    dataset: Annotated[str, typer.Argument(help="docred, re-docred or chemdisgene.", show_default=False)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to put the files in.")],
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", metavar="FILE", help="A mirror's catalog instead of the shipped one."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are there with other contents.")
    ] = False,
) -> None:
    """Fetch a public data set: continues what was interrupted and verifies every file."""
    try:
        chosen = Catalog.read() if catalog is None else Catalog.read(catalog)
        with _Bars() as bars:
            report = fetching.fetch(dataset, to, chosen, bars.show, force=force)
    except FetchError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    _print(report, to)


def _print(report: FetchReport, to: Path) -> None:
    typer.echo(f"{report.dataset.name}: {report.dataset.description}")
    for item in report.files:
        typer.echo(f"  {item.file.name}: {item.outcome.value} ({item.size:,} bytes)")
    counts = ", ".join(f"{report.count(outcome)} {outcome.value}" for outcome in Outcome)
    typer.echo(f"In {to}: {counts}. Licence: {report.dataset.licence}.")


class _Bars:
    """A bar on stderr for each file that is being fetched; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "_Bars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def show(self, file: CatalogFile, done: int, total: int | None) -> None:
        """Move a file's bar; `done` goes back when a download starts over."""
        if file.name not in self.tasks:
            self.tasks[file.name] = self.progress.add_task(file.name, total=total)
        self.progress.update(self.tasks[file.name], completed=done, total=total)
