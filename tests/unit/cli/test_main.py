"""The program as a whole: what it lists, how fast, and what it says of itself."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

import unnoted
from unnoted.cli.lazy import docstring
from unnoted.cli.main import Data, Program, app
from unnoted.configs import config_names
from unnoted.training import load_settings


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_every_command_is_listed_with_the_first_line_of_its_help():
    shown = " ".join(run("--help").stdout.replace("│", " ").split())
    for place in Program.places.values():
        assert docstring(place).partition("\n\n")[0].replace("\n", " ") in shown
    shown = " ".join(run("data", "--help").stdout.replace("│", " ").split())
    for place in Data.places.values():
        assert docstring(place).partition("\n\n")[0].replace("\n", " ") in shown


@pytest.mark.parametrize(
    "path", [(name,) for name in Program.places] + [("data", name) for name in Data.places]
)
def test_every_command_has_help(path):
    command = get_command(app)
    for name in path:
        command = command.commands[name]
    assert command.name == path[-1] and command.help
    assert f"unnoted {' '.join(path)}" in run(*path, "--help").stdout.replace("root", "unnoted")
    for parameter in command.params if path[0] in ("train", "configs", "predict", "inspect") else ():
        assert parameter.help and parameter.help[0].isupper() and parameter.help.endswith("."), parameter.name


def test_a_mistyped_command():
    assert "Did you mean 'train'?" in run("trian", code=2).output


@pytest.mark.parametrize("arguments", [("--help",), ("data", "--help"), ("--version",)])
def test_help_loads_no_command(arguments):
    code = (
        "import sys\nfrom unnoted.cli.main import app\n"
        f"try:\n    app({list(arguments)})\nexcept SystemExit:\n    pass\n"
        "loaded = [n for n in ('numpy', 'torch', 'unnoted.data', 'unnoted.cli.train') if n in sys.modules]\n"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_version():
    assert run("--version").stdout == f"unnoted {version('unnoted')}\n"
    assert unnoted.__version__ == version("unnoted")


def test_the_package_can_be_run():
    done = subprocess.run(
        [sys.executable, "-m", "unnoted", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"unnoted {unnoted.__version__}\n"


def test_shell_completion():
    assert "--install-completion" in run("--help").stdout


def test_configs_are_listed_with_a_line_each():
    lines = run("configs").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(config_names())
    assert all(len(line.split()) > 3 for line in lines)


def test_a_config_is_shown_as_a_file_that_can_be_used(tmp_path):
    shown = run("configs", "docred-original/bert-base/ssr-pu").stdout
    assert yaml.safe_load(shown)["margin"] == 0.25
    (tmp_path / "own.yaml").write_text(shown, "utf-8")
    assert load_settings(tmp_path / "own.yaml") == load_settings("docred-original/bert-base/ssr-pu")
    assert "unknown config 'smal' (nearest: 'small')" in run("configs", "smal", code=1).stderr


@pytest.mark.parametrize(
    ("command", "unbuffered"), [(("--version",), ""), (("data", "--help"), "1"), (("configs",), "")]
)
def test_standard_output_is_named_when_it_is_full(command, unbuffered):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            (sys.executable, "-c", "from unnoted.cli.main import main; main()", *command),
            stdout=full, stderr=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        1, "error: standard output: not written: No space left on device\n"
    )  # fmt: skip
