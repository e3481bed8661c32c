"""The commands as typer knows them, and the page that describes them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import typer

from unnoted.cli.main import app


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its words.

    Example:
        >>> "unnoted data check" in dict(commands())
        True
    """
    yield from _below("unnoted", typer.main.get_command(app))


def command_reference() -> str:
    """A page of every command with its arguments and options, as typer writes it.

    Example:
        >>> "## `unnoted data check`" in command_reference()
        True
    """
    command = ["-m", "typer", "unnoted.cli.main", "utils", "docs", "--name", "unnoted", "--title", "Commands"]
    page = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True).stdout
    # `unnoted data check` is a section like `unnoted train`, so that the page's contents list them alike.
    return re.sub(r"^### ", "## ", page, flags=re.MULTILINE)


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, each in below.items():
        yield from _below(f"{path} {name}", each)
