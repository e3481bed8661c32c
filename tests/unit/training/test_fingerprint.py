"""The address of a run: the same content has the same, wherever it is; anything else has another."""

import pickle
import shutil
from pathlib import Path

import pytest
from tests.unit.experiments.factories import address, make_run, write_data

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.experiments.grid import _place
from unnoted.training import RunError


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data")


def test_an_address_can_be_a_folder_name(data):
    expected = address(make_run(data))
    assert len(expected) == 16 and set(expected) <= set("0123456789abcdef")


def test_the_same_content_elsewhere_is_the_same_run(data, tmp_path, monkeypatch):
    expected = address(make_run(data))
    shutil.copytree(data, tmp_path / "copy")
    assert address(make_run(tmp_path / "copy")) == expected
    monkeypatch.chdir(data)
    run = make_run(data)
    relative = run.model_copy(update={"train": (Path("train.json"),), "encoder": "encoder"})
    assert relative.train != run.train
    assert address(relative) == expected


@pytest.mark.parametrize("change", [{"output": "elsewhere"}, {"log_steps": 7}, {"checkpoint_steps": 3}])
def test_what_changes_no_weight_changes_no_address(data, change):
    assert address(make_run(data, **change)) == address(make_run(data))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 63},
        {"loss": "sr-pu"},
        {"margin": 0.5},
        {"epochs": 3},
        {"encoder": "recurrent"},
        {"benchmark": "chemdisgene"},
        {"batches": "random"},
        {"schedule": "cosine"},
        {"architecture": "docunet"},
    ],
)
def test_another_setting_is_another_run(data, change):
    assert address(make_run(data, **change)) != address(make_run(data))


def test_a_tokenizer_counts_by_its_content(data):
    folder = data / "tokenizer"
    folder.mkdir()
    (folder / "vocab.txt").write_text("a")
    run = make_run(data, encoder="recurrent", tokenizer=str(folder))
    before = address(run)
    (folder / "model.safetensors").write_text("not read")
    assert address(run) == before
    (folder / "vocab.txt").write_text("ab")
    assert address(run) != before


@pytest.mark.parametrize(
    "file", ["train.json", "test.json", "encoder/config.json", "relations.json", "dev.json"]
)
def test_another_content_is_another_run(data, file):
    (data / "relations.json").write_text("[]")
    write_documents(data / "dev.json", generate_documents(1))
    options = {"vocabulary": data / "relations.json", "dev": data / "dev.json"}
    before = address(make_run(data, **options))
    with (data / file).open("a") as stream:
        stream.write(" ")
    assert address(make_run(data, **options)) != before


def test_files_do_not_swap_their_parts(data):
    """Train and test exchanged, or two training files in another order, are other runs."""
    before = address(make_run(data))
    assert address(make_run(data, train="test.json", test="train.json")) != before
    files = [data / "train.json", data / "test.json"]
    first, second = (
        address(make_run(data).model_copy(update={"train": tuple(order)})) for order in (files, files[::-1])
    )
    assert first != second
    assert address(make_run(data).model_copy(update={"test": {"dev": (data / "test.json",)}})) != before


def test_hidden_files_are_none_of_the_encoder(data):
    before = address(make_run(data))
    (data / "encoder" / ".note").write_text("x")
    (data / "encoder" / ".git").mkdir()
    (data / "encoder" / ".git" / "config").write_text("x")
    assert address(make_run(data)) == before


def test_an_encoder_that_is_made_is_known_by_name(data, monkeypatch):
    monkeypatch.chdir(data)
    before = address(make_run(data, encoder="recurrent"))
    (data / "recurrent").mkdir()
    (data / "recurrent" / "config.json").write_text("{}")
    assert address(make_run(data, encoder="recurrent")) == before


def test_a_teacher_counts_by_what_is_read_of_it(data):
    teacher = data / "teacher"
    teacher.mkdir()
    for name in ("config.json", "model.safetensors", "record.json"):
        (teacher / name).write_text("x")
    options = {"teacher": teacher}
    before = address(make_run(data, **options))
    (teacher / "record.json").write_text("other seconds")
    assert address(make_run(data, **options)) == before
    (teacher / "model.safetensors").write_text("other weights")
    assert address(make_run(data, **options)) != before


def test_placed_settings_mean_the_same_from_elsewhere(data, tmp_path, monkeypatch):
    monkeypatch.chdir(data)
    run = make_run(data, dev=data / "test.json", benchmark="chemdisgene")
    files = {"train": (Path("train.json"),), "test": {"test": (Path("test.json"),)}, "encoder": "encoder"}
    placed = pickle.loads(pickle.dumps(_place(run.model_copy(update=files), Path("grid/0123"))))
    monkeypatch.chdir(tmp_path)
    assert placed.encoder == str(data / "encoder") and placed.output == data / "grid" / "0123"
    assert address(placed) == address(run)


def test_a_missing_file_is_named(data):
    with pytest.raises(RunError, match=r"none\.json: found no readable file"):
        address(make_run(data, test="none.json"))
