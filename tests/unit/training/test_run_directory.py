"""The fingerprint of a run: the same content has the same, wherever it is; anything else has another."""

import pickle
import shutil
from pathlib import Path

import pytest
from tests.unit.experiments.factories import address, make_run, write_data

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.experiments.grid import _place
from unnoted.training import RunError, TrainingConfig
from unnoted.training.run_directory import Fingerprint, RunDirectory


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data")


def test_run_ids_stay_the_same(tmp_path):
    """So that finished runs are found again by later versions."""
    (tmp_path / "train.json").write_text("[]")
    given = {"train": tmp_path / "train.json", "encoder": "bert-base-cased", "output": tmp_path / "run"}
    assert (
        address(TrainingConfig.from_keys(given | {"loss": "ssr-pu", "prior_multiplier": 3}))
        == "d418e5d4f3c048d7"
    )


def test_the_same_content_elsewhere_is_the_same_run(data, tmp_path, monkeypatch):
    expected = address(make_run(data))
    shutil.copytree(data, tmp_path / "copy")
    assert address(make_run(tmp_path / "copy")) == expected
    monkeypatch.chdir(data)
    relative = make_run(data).with_changes({"train": "train.json", "encoder": "encoder"})
    assert relative.train == (Path("train.json"),) and address(relative) == expected


@pytest.mark.parametrize("change", [{"output": "elsewhere"}, {"checkpoint_steps": 3}])
def test_what_changes_no_weight_changes_no_run_id(data, change):
    assert address(make_run(data, **change)) == address(make_run(data))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 63}, {"loss": "sr-pu"}, {"margin": 0.5}, {"epochs": 3}, {"encoder": "recurrent"},
        {"benchmark": "chemdisgene"}, {"group_by_length": False}, {"schedule": "cosine"},
        {"architecture": "docunet"}, {"optimizer.groups.encoder.weight_decay": 0.1},
    ],
)  # fmt: skip
def test_another_value_is_another_run(data, change):
    assert address(make_run(data, **change)) != address(make_run(data))


@pytest.mark.parametrize(
    "file", ["train.json", "test.json", "encoder/config.json", "relations.json", "dev.json", "rules.txt"]
)
def test_another_content_is_another_run(data, file):
    (data / "relations.json").write_text("[]")
    (data / "rules.txt").write_text("a(h, t) -> b(h, t)")
    write_documents(data / "dev.json", generate_documents(1))
    options = {
        "vocabulary": data / "relations.json",
        "dev": data / "dev.json",
        "rules": str(data / "rules.txt"),
    }
    before = address(make_run(data, **options))
    with (data / file).open("a") as stream:
        stream.write(" ")
    assert address(make_run(data, **options)) != before


def test_files_do_not_swap_their_parts(data):
    """Train and test exchanged, or two training files in another order, are other runs."""
    before = address(make_run(data))
    assert address(make_run(data, train="test.json", test="train.json")) != before
    files = [data / "train.json", data / "test.json"]
    orders = {address(make_run(data).with_changes({"train": order})) for order in (files, files[::-1])}
    assert len(orders) == 2
    assert address(make_run(data).with_changes({"test": {"dev": data / "test.json"}})) != before


def test_an_encoder_counts_by_its_visible_files_and_one_that_is_made_by_its_name(data, monkeypatch):
    monkeypatch.chdir(data)
    before, made = address(make_run(data)), address(make_run(data, encoder="recurrent"))
    for file in ("encoder/.git/config", "recurrent/config.json"):
        (data / file).parent.mkdir()
        (data / file).write_text("{}")
    assert (address(make_run(data)), address(make_run(data, encoder="recurrent"))) == (before, made)


@pytest.mark.parametrize(("key", "read"), [
    ("teacher", "model.safetensors"), ("init_from", "model.safetensors"), ("tokenizer", "vocab.txt"),
])  # fmt: skip
def test_models_and_tokenizers_count_by_the_files_that_are_read(data, key, read):
    folder = data / "model"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "record.json", "vocab.txt"):
        (folder / name).write_text("x")
    options = {key: str(folder)} | ({"encoder": "recurrent"} if key == "tokenizer" else {})
    before = address(make_run(data, **options))
    (folder / "record.json").write_text("other seconds")
    assert address(make_run(data, **options)) == before
    (folder / read).write_text("other content")
    assert address(make_run(data, **options)) != before


def test_a_placed_configuration_means_the_same_from_elsewhere(data, tmp_path, monkeypatch):
    monkeypatch.chdir(data)
    run = make_run(data, dev=data / "test.json", benchmark="chemdisgene")
    files = {"train": "train.json", "test": {"test": "test.json"}, "encoder": "encoder"}
    placed = pickle.loads(pickle.dumps(_place(run.with_changes(files), Path("grid/0123"))))
    monkeypatch.chdir(tmp_path)
    assert placed.model.encoder == str(data / "encoder") and placed.output == data / "grid" / "0123"
    assert address(placed) == address(run)


def test_a_missing_file_is_named(data):
    with pytest.raises(RunError) as caught:
        address(make_run(data, test="none.json"))
    assert caught.value.files == (data / "none.json",)


def test_a_folder_that_the_run_reads_from_is_not_emptied(tmp_path):
    directory, train = RunDirectory(tmp_path / "run"), tmp_path / "run" / "train.jsonl"
    with directory.lock():
        directory.acquire(Fingerprint({}, {}))
        train.write_text("{}")
        with pytest.raises(RunError) as caught:
            directory.acquire(Fingerprint({}, {"train": (train,)}), overwrite=True)
    assert caught.value.files == (train,) and train.exists()
