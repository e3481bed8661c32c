"""No option, however wrong its value, is answered with a traceback."""

import numpy as np
import pytest
from tests.unit.inference.making import saved_model
from typer.testing import CliRunner

from unnoted.calibration import OutOfFoldScores
from unnoted.cli.main import GROUPS, TOP, app, load_command
from unnoted.data.formats import jsonl
from unnoted.data.synthetic import generate_documents

NUMBERS = ("nan", "-1", "1" + "0" * 30)
NAMES = ("nonsense", "", "FOLDER", "FILE")

DONE = {
    "train": "small --train DOCUMENTS --encoder recurrent --epochs 1 --output OUT --overwrite "
    "--set embedding=16 --set block=4 --set loss=atlop",
    "info": "",
    "predict": "MODEL DOCUMENTS --to OUT.jsonl",
    "evaluate": "--gold DOCUMENTS --model MODEL",
    "experiment demo": "--to OUT --documents 2 --test-documents 1 --epochs 1",
    "experiment reproduce": "losses --data FOLDER --dry-run",
    "experiment compare": "--train DOCUMENTS --test DOCUMENTS --encoder recurrent --to OUT --losses atlop --dry-run",
    "data check": "DOCUMENTS",
    "data hide-labels": "DOCUMENTS --to OUT.jsonl --setting extreme",
    "data compare": "DOCUMENTS DOCUMENTS",
    "data convert": "DOCUMENTS --to OUT.jsonl",
    "data split": "DOCUMENTS --into OUT.jsonl=1",
    "data fetch": "nothing --to OUT",
    "data generate": "--documents 2 --to OUT.jsonl",
    "rules show": "DOCUMENTS --rules RULES",
    "rules propose": "DOCUMENTS",
    "suggest": "DOCUMENTS --scores SCORES --to OUT.jsonl",
    # These would run on: they are given what they refuse.
    "serve": "FOLDER",
    "review start": "DOCUMENTS",
    "review export": "DOCUMENTS --to OUT.jsonl",
}
"""What makes each command work, to which one wrong option is added."""

SLOW = {"train", "experiment demo", "evaluate", "suggest"}

LONG = {
    "experiment demo": ("documents", "test-documents", "epochs"),
    "train": ("epochs",),
    "data generate": ("documents",),
}
"""Numbers that may be as large as one likes: 10^30 is not wrong, only long."""

NEW = {"train": "--output", "experiment demo": "--to"}
"""Folders that are made where they are not there: any name is right, and only a file is wrong."""


def commands():
    for name in TOP:
        yield name, load_command(name, TOP)
    for group, (table, _) in GROUPS.items():
        for name in table:
            yield f"{group} {name}", load_command(name, table)


def options():
    for name, command in commands():
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.is_flag and parameter.name != "help":
                number = parameter.bare_type() in ("int", "float")
                marks = [pytest.mark.slow] if name in SLOW else []
                yield pytest.param(
                    name, parameter.opts[0], number, id=f"{name} {parameter.opts[0]}", marks=marks
                )


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
    (folder / "rules.txt").write_text("child_of(t, h) -> parent_of(h, t)")
    return {
        "SCORES": folder / "scores.npz",
        "RULES": folder / "rules.txt",
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


@pytest.mark.parametrize(("command", "option", "is_number"), list(options()))
def test_wrong_values_are_answered_in_words(command, option, is_number, places, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for number, value in enumerate(NUMBERS if is_number else NAMES):
        if value == NUMBERS[-1] and option[2:] in LONG.get(command, ()):
            continue
        if value != "FILE" and option == NEW.get(command):
            continue
        places["FILE"].write_bytes(places["DOCUMENTS"].read_bytes())
        base = arguments(command, places, tmp_path / str(number))
        result = CliRunner().invoke(app, [*base, f"{option}={places.get(value, value)}"])
        outcome = f"{command} {option}={value}: {result.exit_code} {result.exception!r}\n{result.output}"
        assert result.exception is None or isinstance(result.exception, SystemExit), outcome
        assert result.exit_code in ((1, 2) if value == "nan" else (0, 1, 2)), outcome
        assert "Traceback" not in result.output, outcome
        if result.exit_code:
            words = ("error:", "Usage:", "not usable")
            assert any(word in result.output for word in words), outcome


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--device", "foo", "'foo'"),
        ("--device", "cuda:99", "'cuda:99'"),
        ("--device", "meta", "'meta'"),
        ("--batch", "0", "batch"),
        ("--batch", "-5", "batch"),
        ("--threshold", "nan", "nan"),
        ("--threshold", "-1", "-1"),
    ],
)
def test_the_reason_is_given(command, option, value, reason, places, tmp_path):
    result = CliRunner().invoke(app, [*arguments(command, places, tmp_path), f"{option}={value}"])
    assert result.exit_code == 1 and reason in result.stderr, result.output
    assert not list(tmp_path.iterdir())
