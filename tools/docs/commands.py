"""A page of all commands, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from unnoted.cli.main import app

HEAD = """\
# Commands

Generated from the commands by `make docs`; `unnoted COMMAND --help` prints the same.
"""


def command_page() -> str:
    """Every command with its arguments and options."""
    return "\n".join([HEAD, *(line for path, command in commands() for line in _section(path, command))])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its words.

    Example:
        >>> "unnoted data check" in dict(commands())
        True
    """
    yield from _below("unnoted", typer.main.get_command(app))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, each in below.items():
        yield from _below(f"{path} {name}", each)


def _section(path: str, command: Any) -> Iterator[str]:  # noqa: ANN401
    parameters = [
        each for each in command.params if not getattr(each, "hidden", False) and each.name != "help"
    ]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name == "option"]
    needed = [f"{each.opts[0]} {_value(each)}" for each in options if each.required]
    words = [path, *map(_value, arguments), *needed, *(["[OPTIONS]"] if len(options) > len(needed) else [])]
    yield f"## {path}\n"
    yield f"    {' '.join(words)}\n"
    yield f"{command.help.strip()}\n"
    if parameters:
        yield "| | | default |\n|---|---|---|"
        yield from (_row(f"`{_value(each)}`", each) for each in arguments)
        yield from (_row(_option(each), each) for each in options)
        yield ""


def _row(name: str, parameter: Any) -> str:  # noqa: ANN401
    if parameter.required:
        default = "needed"
    elif parameter.default in (None, False, (), []):
        default = ""
    else:
        default = f"`{parameter.default}`"
    meaning = (parameter.help or "").replace("|", "\\|")
    return f"| {name} | {meaning} | {default} |"


def _option(option: Any) -> str:  # noqa: ANN401
    names = ", ".join([*option.opts, *option.secondary_opts])
    return f"`{names}`" if option.is_flag else f"`{names} {_value(option)}`"


def _value(parameter: Any) -> str:  # noqa: ANN401
    """What stands for the value of an argument or option."""
    return str(parameter.metavar or parameter.opts[0].lstrip("-").replace("-", "_").upper())
