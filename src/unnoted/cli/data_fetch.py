"""`unnoted data fetch`: the public data sets, downloaded and verified."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from unnoted.cli.common import reports_errors, say
from unnoted.data import fetching
from unnoted.data.catalog import SHIPPED_CATALOG, Catalog
from unnoted.data.fetching import Outcome


@reports_errors
def fetch(
    dataset: Annotated[str, typer.Argument(help="docred, re-docred or chemdisgene.", show_default=False)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder for the files.")],
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", metavar="FILE", help="A mirror's catalog to use instead of our own."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--overwrite", "--force", help="Replace files of the same name that have other contents."
        ),
    ] = False,
) -> None:
    """Download a public data set. Continues an interrupted download and verifies every file."""
    chosen = Catalog.read(catalog or SHIPPED_CATALOG)
    with _Bars() as bars:
        files = fetching.fetch(dataset, to, chosen, bars.show, force=force)
    entry = chosen.dataset(dataset)
    say(f"{dataset}: {entry.description}")
    for file in files:
        say(f"  {file.name}: {file.outcome} ({file.size:,} bytes)")
    outcomes = [file.outcome for file in files]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in Outcome)
    say(f"In {to}: {counts}. Licence: {entry.licence}.")


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

    def show(self, name: str, done: int, total: int | None) -> None:
        """Move a file's bar; `done` goes back when a download starts over."""
        if name not in self.tasks:
            self.tasks[name] = self.progress.add_task(name, total=total)
        self.progress.update(self.tasks[name], completed=done, total=total)
