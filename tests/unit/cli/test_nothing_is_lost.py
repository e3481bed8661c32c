"""No command replaces what is there unless told to, and none writes over what it reads."""

import json

import pytest
from tests.unit.data.formats.test_docred import GOOD
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.training.run_directory import Fingerprint, RunDirectory, RunError


def run(*arguments, code):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def files(tmp_path):
    """Documents, predictions, and a file that is none of the commands' business."""
    documents = [GOOD, {**GOOD, "title": "Bo"}, {**GOOD, "title": "Cy"}]
    (tmp_path / "in.json").write_text(json.dumps(documents), "utf-8")
    claims = [{"title": "Ada", "h_idx": 1, "t_idx": 2, "r": "P551", "score": 0.5}]
    (tmp_path / "claims.json").write_text(json.dumps(claims))
    (tmp_path / "relations.json").write_text(json.dumps(sorted({x["r"] for x in GOOD["labels"]})))
    return tmp_path


COMMANDS = {
    "convert": ("data", "convert", "in.json", "--to"),
    "hide-labels": ("data", "hide-labels", "in.json", "--keep", "0.5", "--to"),
    "generate": ("data", "generate", "--documents", "2", "--to"),
    "truth": ("data", "generate", "--documents", "2", "--to", "made.json", "--truth"),
    "split": ("data", "split", "in.json", "--into", "part.json=0.5", "--into"),
    "curve": ("evaluate", "--gold", "in.json", "--predictions", "claims.json", "--curve"),
    "predict": ("predict", "model", "in.json", "--to"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_there_stays(name, files, monkeypatch):
    monkeypatch.chdir(files)
    mine = files / "mine.json"
    mine.write_text("of a year's work")
    target = "mine.json=0.5" if name == "split" else "mine.json"
    output = run(*COMMANDS[name], target, code=1)
    assert "mine.json: " in output and "--overwrite" in output
    assert mine.read_text() == "of a year's work"
    if name != "predict":  # there is no model
        run(*COMMANDS[name], target, "--overwrite", code=0)
        assert mine.read_text() != "of a year's work"


@pytest.mark.parametrize("link", ["same", "dot", "symlink", "hard link"])
@pytest.mark.parametrize("name", [name for name in COMMANDS if "generate" not in COMMANDS[name]])
def test_an_input_is_never_written_over(name, link, files, monkeypatch):
    monkeypatch.chdir(files)
    before = (files / "in.json").read_bytes()
    target = {"same": "in.json", "dot": "./in.json"}.get(link, "link.json")
    if link == "symlink":
        (files / "link.json").symlink_to("in.json")
    elif link == "hard link":
        (files / "link.json").hardlink_to(files / "in.json")
    target += "=0.5" if name == "split" else ""
    assert "is read as input" in run(*COMMANDS[name], target, "--overwrite", code=1)
    assert (files / "in.json").read_bytes() == before


def test_a_run_is_not_emptied_of_what_it_reads(tmp_path):
    folder, train = RunDirectory(tmp_path / "run"), tmp_path / "run" / "train.jsonl"
    folder.path.mkdir()
    folder.acquire(Fingerprint({}, {}))
    train.write_text("mine")
    with pytest.raises(RunError, match="would empty"):
        folder.acquire(Fingerprint({}, {"train": (train,)}), overwrite=True)
    assert train.read_text() == "mine" and folder.exists
