"""The `unnoted` command: its tree, in which a command is imported when it is run, not when it is listed."""

import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

Commands = Mapping[str, tuple[str, str]]
"""For each command `module:function` below `unnoted.cli`, and the line that lists it."""

TOP: Commands = {
    "train": ("train:train", "Train a model."),
    "predict": ("predict:predict", "Extract the facts of documents with a trained model."),
    "evaluate": ("evaluate:evaluate", "Score predictions, or a model, against gold documents."),
    "suggest": ("suggest:suggest", "List the labels that are likely to be missing, or wrong."),
    "serve": ("serve:serve", "Serve a trained model over HTTP."),
    "info": ("info:info", "List the configs, or describe one or a trained model."),
}
DATA: Commands = {
    "check": ("data:check", "Check documents, and count what is in them."),
    "convert": ("data:convert", "Write documents in another format."),
    "split": ("data:split", "Split documents into several files."),
    "hide-labels": ("data:hide", "Hide labels, for experiments with incomplete ones."),
    "compare": ("data:compare", "Compare two labellings of the same documents."),
    "fetch": ("data:fetch", "Download a published data set."),
    "generate": ("data:generate", "Generate documents with complete labels."),
}
RULES: Commands = {
    "show": ("rules:show", "Show what rules imply of the labels."),
    "propose": ("rules:propose", "Propose rules that the labels speak for."),
}
REVIEW: Commands = {
    "start": ("review:start", "Decide suggestions in a browser."),
    "export": ("review:export", "Write the corpus with the decisions."),
}
EXPERIMENT: Commands = {
    "demo": ("experiments:demo", "Generate documents, hide most labels, and compare three methods."),
    "compare": ("experiments:compare", "Compare losses and architectures on your own documents."),
    "reproduce": ("experiments:reproduce", "Run a table of the paper."),
}


class LazyGroup(TyperGroup):
    """A group that imports a command when it is run; to be listed, its line is enough."""

    table: ClassVar[Commands] = {}

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        listed = {name: TyperCommand(name, help=help) for name, (_, help) in self.table.items()}
        self.commands = {**listed, **self.commands}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """The command that is run."""
        if args and args[0] in self.table:
            return args[0], load_command(args[0], self.table), args[1:]
        if args and args[0] not in self.commands:
            meant = " or ".join(f"`{command}`" for command in nearest_commands(args[0]))
            hint = f"did you mean {meant}?" if meant else f"`{ctx.command_path} --help` lists the commands"
            ctx.fail(f"there is no command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)


def nearest_commands(name: str) -> list[str]:
    """The commands, with their groups, of a name that may be misspelt.

    Example:
        >>> nearest_commands("trian"), nearest_commands("compare")
        (['unnoted train'], ['unnoted data compare', 'unnoted experiment compare'])
    """
    groups = {"": TOP} | {f"{group} ": table for group, (table, _) in GROUPS.items()}
    commands = [(word, f"unnoted {group}{word}") for group, table in groups.items() for word in table]
    words = {word for word, _ in commands} | set(GROUPS)
    close = {name} if name in words else set(get_close_matches(name, words, n=1))
    return [path for word, path in commands if word in close] or [f"unnoted {word}" for word in close]


def load_command(name: str, table: Commands) -> Any:  # noqa: ANN401
    """Import a command."""
    module, _, function = table[name][0].partition(":")
    command = typer.Typer(add_completion=False)
    command.command(name)(getattr(import_module(f"unnoted.cli.{module}"), function))
    return typer.main.get_command(command)


def _group(name: str, table: Commands, help: str) -> typer.Typer:
    group = type(f"{name.title()}Group", (LazyGroup,), {"table": table})
    return typer.Typer(name=name, cls=group, help=help, no_args_is_help=True, pretty_exceptions_enable=False)


app = _group("unnoted", TOP, "Relation extraction over whole documents, from incomplete labels.")
GROUPS: Mapping[str, tuple[Commands, str]] = {
    "data": (DATA, "Check, convert, split, compare, fetch and generate documents; hide labels."),
    "rules": (RULES, "Rules between relations: what they imply of the labels, and proposals."),
    "review": (REVIEW, "Decide suggestions in a browser, and export the corrected corpus."),
    "experiment": (EXPERIMENT, "Compare methods: a demonstration, your own documents, the paper's tables."),
}
for _name, (_table, _help) in GROUPS.items():
    app.add_typer(_group(_name, _table, _help))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"unnoted {version('unnoted')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program as a whole."""


def main() -> None:
    """Run the command line."""
    # Set before they are imported: forked processes are ours, and what is wrong we say ourselves.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        app(standalone_mode=True)
    except OSError as error:  # help and the version, which no command prints
        from unnoted.cli.options import log_os_error

        log_os_error(error)
        sys.exit(1)
