"""The program as a whole: what it lists, how fast, and its errors."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.unit.cli.running import run

import unnoted
from unnoted.cli.main import GROUPS, TOP, load_command

COMMANDS = [((name,), TOP) for name in TOP] + [
    ((group, name), table) for group, (table, _) in GROUPS.items() for name in table
]


def test_every_command_is_listed():
    text = run("--help").stdout
    assert all(name in text for name in (*TOP, *GROUPS))
    for group, (table, _) in GROUPS.items():
        assert all(name in run(group, "--help").stdout for name in table)


@pytest.mark.parametrize(("path", "table"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_every_command_and_option_has_help(path, table):
    command = load_command(path[-1], table)
    assert command.name == path[-1] and command.help
    assert f"{' '.join(path)} " in run(*path, "--help").stdout
    for parameter in command.params:
        assert parameter.help or parameter.name == "help", parameter.name


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["trian"], ["unnoted train"]),
        (["demo"], ["unnoted experiment demo"]),
        (["check", "own.jsonl"], ["unnoted data check"]),
        (["compare"], ["unnoted data compare", "unnoted experiment compare"]),
        (["data", "chekc"], ["unnoted data check"]),
        (["data", "demo"], ["unnoted experiment demo"]),
        (["reveiw"], ["unnoted review"]),
        (["xyzzy"], ["unnoted --help"]),
    ],
)
def test_a_wrong_command_is_answered_with_the_right_one(arguments, meant):
    shown = " ".join(run(*arguments, code=2, env={"COLUMNS": "300"}).output.split())
    assert all(f"`{command}`" in shown for command in meant)


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
    done = subprocess.run(
        [sys.executable, "-m", "unnoted", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"unnoted {unnoted.__version__}\n"


@pytest.mark.parametrize("command", [("--version",), ("info",)])
def test_a_full_standard_output_is_an_error(command):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            (sys.executable, "-m", "unnoted", *command), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode and "No space left on device" in done.stderr and "Traceback" not in done.stderr
