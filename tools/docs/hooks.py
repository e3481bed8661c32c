"""What MkDocs calls while it builds the site: the command reference is made from the commands."""

from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from unnoted.cli.main import GROUPS, TOP, Commands, load_command


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the command reference to the pages of the site."""
    files.append(File.generated(config, "reference/commands.md", content=command_reference()))
    return files


def command_reference() -> str:
    """A page of every command with its arguments and options."""
    lines = ["# Commands", ""]
    for prefix, table in (
        ("unnoted", TOP),
        *((f"unnoted {name}", table) for name, (table, _) in GROUPS.items()),
    ):
        lines += _section(prefix, table)
    return "\n".join(lines)


def _section(prefix: str, table: Commands) -> Iterator[str]:
    for name in table:
        command = load_command(name, table)
        yield from (f"## `{prefix} {name}`", "", command.help or "", "", "| | |", "|---|---|")
        for each in command.params:
            names = ", ".join(each.opts) if each.param_type_name == "option" else each.metavar or each.name
            yield f"| `{names}` | {(getattr(each, 'help', None) or '').replace('|', '&#124;')} |"
        yield ""
