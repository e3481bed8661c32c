"""The address of a run: the same content has the same, wherever it is; anything else has another."""

import json
import shutil

import pytest
from tests.unit.experiments.making_runs import make_run, write_data

from unnoted.documents.generator import generate_documents
from unnoted.documents.writing import write_documents
from unnoted.evaluation import CHEMDISGENE
from unnoted.experiments.runs import Run
from unnoted.training import RunError, Settings


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data")


def test_an_address_can_be_a_folder_name(data):
    address = make_run(data).address
    assert len(address) == 16 and set(address) <= set("0123456789abcdef")


def test_the_same_content_elsewhere_is_the_same_run(data, tmp_path, monkeypatch):
    address = make_run(data).address
    shutil.copytree(data, tmp_path / "copy")
    assert make_run(tmp_path / "copy").address == address
    monkeypatch.chdir(data)
    run = make_run(data)
    relative = run.settings.model_copy(
        update={
            "train": (data / "train.json").relative_to(data),
        }
    )
    assert relative.train != run.settings.train
    relative = relative.model_copy(update={"train": (relative.train,), "encoder": "encoder"})
    assert Run(relative, run.scored, run.benchmark).address == address


@pytest.mark.parametrize("change", [{"output": "elsewhere"}, {"log_steps": 7}, {"checkpoint_steps": 3}])
def test_what_changes_no_weight_changes_no_address(data, change):
    assert make_run(data, **change).address == make_run(data).address


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 63},
        {"loss": "sr-pu"},
        {"margin": 0.5},
        {"epochs": 3},
        {"encoder": "recurrent"},
        {"benchmark": CHEMDISGENE},
    ],
)
def test_another_setting_is_another_run(data, change):
    assert make_run(data, **change).address != make_run(data).address


@pytest.mark.parametrize(
    "file", ["train.json", "test.json", "encoder/config.json", "relations.json", "dev.json"]
)
def test_another_content_is_another_run(data, file):
    (data / "relations.json").write_text("[]")
    write_documents(data / "dev.json", generate_documents(1))
    options = {"vocabulary": data / "relations.json", "dev": data / "dev.json"}
    before = make_run(data, **options).address
    with (data / file).open("a") as stream:
        stream.write(" ")
    assert make_run(data, **options).address != before


def test_files_do_not_swap_their_parts(data):
    """Train and test exchanged, or two training files in another order, are other runs."""
    run = make_run(data)
    assert make_run(data, train="test.json", test="train.json").address != run.address
    files = [data / "train.json", data / "test.json"]
    first, second = (
        Run(run.settings.model_copy(update={"train": tuple(order)}), run.scored).address
        for order in (files, files[::-1])
    )
    assert first != second
    assert Run(run.settings, {"dev": run.scored["test"]}).address != run.address


def test_hidden_files_are_none_of_the_encoder(data):
    before = make_run(data).address
    (data / "encoder" / ".note").write_text("x")
    (data / "encoder" / ".git").mkdir()
    (data / "encoder" / ".git" / "config").write_text("x")
    assert make_run(data).address == before


def test_an_encoder_that_is_made_is_known_by_name(data, monkeypatch):
    monkeypatch.chdir(data)
    before = make_run(data, encoder="recurrent").address
    (data / "recurrent").mkdir()
    (data / "recurrent" / "config.json").write_text("{}")
    assert make_run(data, encoder="recurrent").address == before


def test_a_teacher_counts_by_what_is_read_of_it(data):
    teacher = data / "teacher"
    teacher.mkdir()
    for name in ("config.json", "model.safetensors", "training.json"):
        (teacher / name).write_text("x")
    options = {"teacher": teacher, "distant": (data / "test.json",)}
    before = make_run(data, **options).address
    (teacher / "training.json").write_text("other seconds")
    assert make_run(data, **options).address == before
    (teacher / "model.safetensors").write_text("other weights")
    assert make_run(data, **options).address != before


def test_json_means_the_same_from_elsewhere(data, tmp_path, monkeypatch):
    monkeypatch.chdir(data)
    run = make_run(data, dev=data / "test.json")
    relative = run.settings.model_copy(update={"encoder": "encoder"})
    value = json.loads(json.dumps(Run(relative, run.scored, CHEMDISGENE).to_json()))
    monkeypatch.chdir(tmp_path)
    again = Run.from_json(value)
    assert again.settings.encoder == str(data / "encoder") and again.benchmark is CHEMDISGENE
    assert again.address == Run(run.settings, run.scored, CHEMDISGENE).address


def test_a_missing_file_is_named(data):
    with pytest.raises(RunError, match=r"none\.json: found no readable file"):
        _ = make_run(data, test="none.json").address


def test_something_must_be_scored(data):
    settings = Settings(train=data / "train.json", encoder="recurrent", loss="atlop", output="x")
    for nothing in ({}, {"test": ()}):
        with pytest.raises(ValueError, match="expected files for at least one set"):
            Run(settings, nothing)
