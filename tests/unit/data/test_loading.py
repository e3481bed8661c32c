"""The files that folders and patterns stand for."""

from pathlib import Path

import pytest

from unnoted.data.loading import find_shards
from unnoted.errors import DataError

FILES = (
    "b.jsonl",
    "a.jsonl",
    "x/c.parquet",
    "x/.hidden",
    "_SUCCESS",
    ".tmp/d.jsonl",
    "x/y/[e].jsonl",
    "read.txt",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in FILES:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return Path("in")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("in", ["a.jsonl", "b.jsonl", "read.txt", "x/c.parquet", "x/y/[e].jsonl"]),
        ("in/x", ["c.parquet", "y/[e].jsonl"]),
        ("in/*.jsonl", ["a.jsonl", "b.jsonl"]),
        ("in/**/*.jsonl", ["a.jsonl", "b.jsonl", "x/y/[e].jsonl"]),
        ("in/*", ["a.jsonl", "b.jsonl", "read.txt", "x/c.parquet", "x/y/[e].jsonl"]),
        ("i?/x/*", ["in/x/c.parquet", "in/x/y/[e].jsonl"]),
        ("in/_SUCCESS", ["_SUCCESS"]),
        ("in/x/y/[e].jsonl", ["[e].jsonl"]),
        ("nowhere.jsonl", ["nowhere.jsonl"]),
        ("-", ["-"]),
    ],
)
def test_names_are_those_below_what_was_given(folder, given, names):
    shards = find_shards([Path(given)])
    assert [str(shard.name) for shard in shards] == names
    assert all(shard.path.exists() for shard in shards) or names == [given]


def test_absolute_patterns_and_several(folder):
    shards = find_shards([folder.absolute() / "*.txt", folder / "b.jsonl"])
    assert [shard.path for shard in shards] == [folder.absolute() / "read.txt", folder / "b.jsonl"]


@pytest.mark.parametrize("given", ["in/*.csv", "empty", "in/.tm*"])
def test_no_file_is_an_error(folder, given):
    Path("empty").mkdir()
    with pytest.raises(DataError, match="no file"):
        find_shards([Path(given)])


def test_a_folder_of_brat_is_one_shard(folder):
    (folder / "x" / "text.ann").write_text("T1\tPER 0 2\t{}\n")
    assert [str(shard.name) for shard in find_shards([folder / "x"])] == ["x"]
