"""`unnoted data check`: what it prints of hostile data must be plain text."""

import re
from pathlib import Path
from random import Random

import typer
from typer.testing import CliRunner

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from tests.attacks.targets.readers import sources
from unnoted.cli.data import check

HOSTILE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Checking:
    """The command, in this process."""

    errors = ()

    def prepare(self, folder: Path) -> None:
        """Make the files that are damaged, and the command."""
        self.sources = sources(folder)
        self.app = typer.Typer()
        self.app.command()(check)

    def case(self, rng: Random) -> Files:
        """One file of a source damaged."""
        files = dict(rng.choice(self.sources))
        name = rng.choice(sorted(files))
        return files | {name: mutate(files[name], rng)}

    def attempt(self, folder: Path) -> None:
        """Check the files, with all tables."""
        result = CliRunner().invoke(self.app, [*map(str, sorted(folder.iterdir())), "--per-relation"])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if found := HOSTILE.search(result.output):
            raise Wrong(f"prints the character {found[0]!r}")
        if result.exit_code not in (0, 1):
            raise Wrong(f"exit code {result.exit_code}")
        if result.exit_code == 0 and "usable" not in result.output:
            raise Wrong("exit code 0 without a verdict")
