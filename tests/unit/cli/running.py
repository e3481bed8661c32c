"""Commands as a user types them."""

from typer.testing import CliRunner

from unnoted.cli.main import app


def run(*arguments, code=0, **options):
    """Run a command in this process, and expect an exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exit_code == code, result.output
    return result
