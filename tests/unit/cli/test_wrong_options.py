"""No option, however wrong its value, is answered with a traceback."""

import numpy as np
import pytest
import typer
from tests.unit.inference.making import saved_model
from typer.testing import CliRunner

from unnoted.calibration import OutOfFoldScores
from unnoted.cli.main import app
from unnoted.data.formats import jsonl
from unnoted.data.synthetic import generate_documents

WRONG = ("nonsense", "nan", "inf", "-1", "1" + "0" * 30, "", "FOLDER", "FILE")

NO_NUMBERS = ("nonsense", "nan", "inf", "", "FOLDER", "FILE")

NO_NAMES = ("nonsense", "", "FOLDER", "FILE")
"""What is wrong where no number is wanted; to these, a number is a name like another."""

DONE = {
    "train": "small --train DOCUMENTS --encoder recurrent --epochs 1 --output OUT --overwrite "
    "--set embedding=16 --set block=4 --set loss=atlop",
    "configs": "",
    "predict": "MODEL DOCUMENTS --to OUT.jsonl",
    "evaluate": "--gold DOCUMENTS --model MODEL",
    "inspect": "MODEL",
    "demo": "--to OUT --documents 2 --test-documents 1 --epochs 1",
    "reproduce": "losses --data FOLDER --dry-run",
    "compare": "--train DOCUMENTS --test DOCUMENTS --encoder recurrent --to OUT --losses atlop --dry-run",
    "data check": "DOCUMENTS",
    "data hide-labels": "DOCUMENTS --to OUT.jsonl --setting extreme",
    "data compare": "DOCUMENTS DOCUMENTS",
    "data convert": "DOCUMENTS --to OUT.jsonl",
    "data split": "DOCUMENTS --into OUT.jsonl=1",
    "data fetch": "nothing --to OUT",
    "data generate": "--documents 2 --to OUT.jsonl",
    "rules": "DOCUMENTS",
    "suggest": "DOCUMENTS --scores SCORES --to OUT.jsonl",
    # These would run on: they are given what they refuse.
    "export": "MODEL --to OUT",
    "serve": "FOLDER",
    "review open": "DOCUMENTS",
    "review export": "DOCUMENTS --to OUT.jsonl",
}
"""What makes each command work, to which one wrong option is added."""

LONG = {
    "demo": ("documents", "test-documents", "epochs"),
    "train": ("epochs",),
    "data generate": ("documents",),
}
"""Numbers that may be as large as one likes: 10^30 is not wrong, only long."""

NEW = {"train": "--output", "demo": "--to"}
"""Folders that are made where they are not there: any name is right, and only a file is wrong."""


def commands():
    for name, command in typer.main.get_command(app).commands.items():
        inside = getattr(command, "commands", None)
        if inside is None:
            yield name, command
        else:
            yield from ((f"{name} {inner}", found) for inner, found in inside.items())


def options():
    for name, command in commands():
        for parameter in command.params:
            flag = parameter.param_type_name != "option" or parameter.is_flag
            if not flag:
                number = parameter.bare_type() in ("int", "float")
                yield pytest.param(name, parameter.opts[0], number, id=f"{name} {parameter.opts[0]}")


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    documents = folder / "documents.jsonl"
    jsonl.write(documents, list(generate_documents(3)))
    (folder / "empty").mkdir()
    rng, zeros = np.random.default_rng(3), np.zeros(400, np.int32)
    margin, labelled = rng.normal(size=(400, 2)).astype(np.float32), rng.random((400, 2)) < 0.1
    scores = OutOfFoldScores(("a", "b"), ("d",), zeros, zeros, zeros + 1, margin, labelled)
    scores.save(folder / "scores.npz")
    return {
        "SCORES": folder / "scores.npz",
        "DOCUMENTS": documents,
        "MODEL": saved_model(folder / "model"),
        "FOLDER": folder / "empty",
        "FILE": folder / "other.jsonl",
    }


def arguments(command, places, folder):
    """A command that works; what it writes goes to a folder."""
    for part in f"{command} {DONE[command]}".split():
        name = part.partition("=")[0]
        own = folder / name.lower() if name in ("OUT", "OUT.jsonl") else places.get(name, name)
        yield part.replace(name, str(own), 1)


def test_every_command_is_attacked():
    assert set(DONE) == {name for name, _ in commands()}


@pytest.mark.parametrize(("command", "option", "number_wanted"), list(options()))
def test_wrong_values_are_answered_in_words(command, option, number_wanted, places, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for number, value in enumerate(WRONG):
        if not number_wanted and value not in NO_NAMES:
            continue
        if value == WRONG[4] and option[2:] in LONG.get(command, ()):
            continue
        if value != "FILE" and option == NEW.get(command):
            continue
        places["FILE"].write_bytes(places["DOCUMENTS"].read_bytes())
        base = arguments(command, places, tmp_path / str(number))
        result = CliRunner().invoke(app, [*base, f"{option}={places.get(value, value)}"])
        told = f"{command} {option}={value}: {result.exit_code} {result.exception!r}\n{result.output}"
        assert result.exception is None or isinstance(result.exception, SystemExit), told
        assert result.exit_code in ((1, 2) if number_wanted and value in NO_NUMBERS else (0, 1, 2)), told
        assert "Traceback" not in result.output, told
        if result.exit_code:
            assert "error:" in result.output or "Usage:" in result.output or "not usable" in result.output, (
                told
            )


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--device", "foo", "device: found 'foo', expected cpu, cuda or cuda:N"),
        ("--device", "", "device: found '', expected cpu, cuda or cuda:N"),
        ("--device", "cuda:99", "device: found 'cuda:99', expected one of cpu"),
        ("--device", "meta", "device: found 'meta', which keeps no values"),
        ("--device", "vulkan", "device: found 'vulkan', expected one of cpu"),
        ("--batch", "0", "most documents in a batch: found 0, expected 1 or more"),
        ("--batch", "-5", "most documents in a batch: found -5, expected 1 or more"),
        ("--threshold", "nan", "threshold must be between 0 and 1, not nan"),
        ("--threshold", "inf", "threshold must be between 0 and 1, not inf"),
        ("--threshold", "-1", "threshold must be between 0 and 1, not -1.0"),
    ],
)
def test_the_reason_is_given(command, option, value, reason, places, tmp_path):
    result = CliRunner().invoke(app, [*arguments(command, places, tmp_path), f"{option}={value}"])
    assert result.exit_code == 1 and f"error: {reason}" in result.output, result.output
    assert not list(tmp_path.iterdir())
