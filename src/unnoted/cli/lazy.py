"""Groups of commands that import a command when it is run, not when it is listed: help appears at once."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from pkgutil import get_data
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommands(dict[str, Any]):
    """Commands by name; what is only a place (`module:function`) is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        found = super().__getitem__(name)
        if isinstance(found, str):
            module, _, function = found.partition(":")
            app = typer.Typer(add_completion=False)
            app.command(name)(getattr(import_module(f"unnoted.cli.{module}"), function))
            self[name] = found = typer.main.get_command(app)
        return found

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """The command of a name."""
        return self[name] if name in self else default  # noqa: SIM401

    def items(self) -> Any:  # noqa: ANN401
        """All commands, imported."""
        return {name: self[name] for name in self}.items()


class LazyGroup(TyperGroup):
    """A group whose commands are places below `unnoted.cli`.

    Attributes:
        places: `module:function` by the command's name.
    """

    places: ClassVar[dict[str, str]] = {}

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self.commands = LazyCommands(self.places | dict(self.commands))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Their names."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Help, without importing a command."""
        with self._summaries():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:  # noqa: ANN401
        """Completions, without importing a command."""
        with self._summaries():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _summaries(self) -> Iterator[None]:
        """Commands that can be listed but not run."""
        commands = self.commands
        listed = {name: TyperCommand(name, help=docstring(place)) for name, place in self.places.items()}
        self.commands = {name: listed.get(name) or commands[name] for name in commands}
        try:
            yield
        finally:
            self.commands = commands


def docstring(place: str) -> str:
    """The docstring of a function, read from the source without importing it.

    Example:
        >>> docstring("lazy:docstring").partition(",")[0]
        'The docstring of a function'
    """
    module, _, function = place.partition(":")
    source = get_data("unnoted.cli", f"{module}.py") or b""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return cleandoc(ast.get_docstring(node) or "")
    return ""
