"""What MkDocs calls while it builds the site."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tools.docs.commands import command_reference

COMMANDS = "reference/commands.md"
"""The command reference, below `docs/`: made from the commands, not kept with the sources."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the command reference to the pages of the site."""
    files.append(File.generated(config, COMMANDS, content=command_reference()))
    return files
