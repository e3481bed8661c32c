"""Files that are damaged, missing or cannot be written."""

import errno
import gzip
import io
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.documents.test_docred_reader import GOOD

from unnoted.common.json_stream import ArrayReader
from unnoted.common.outputs import write_text
from unnoted.documents import DataError, load_documents, write_documents

BOTH = json.dumps([GOOD, {**GOOD, "title": "Bo"}]).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found an empty file, expected documents"),
        (b" \n\n ", "found an empty file"),
        (b"[]", "found 0 documents, expected at least one"),
        (b"\xff\xfe[", "found the byte 0xff, expected UTF-8 text"),
        (BOTH[:40] + b"\xe9" + BOTH[41:], "found the byte 0xe9"),
        (BOTH[:-1], r"found the end of the file after document 2, expected ',' or '\]'"),
        (BOTH[:-30], "found the end of the file in document 2"),
        (BOTH + b"[", "found '\\[' after the list, expected the end of the file"),
        (BOTH.replace(b'"title"', b"title", 1), "broken JSON in document 1"),
        (BOTH.replace(b"[0, 2]", b"[0, NaN]", 1), "NaN is not JSON in document 1"),
        (b"[" * 100_000, "nested too deeply"),
        (b"hello", "expected DocRED JSON or unnoted JSONL or PubTator or relation rows"),
        (b"7\tr\tA\tB\n", "found relation rows only, expected documents"),
        (gzip.compress(BOTH, mtime=0)[:-20], "found damaged gzip data"),
        (gzip.compress(BOTH, mtime=0)[:12] + b"\x00" * 20, "found damaged gzip data"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load_documents(path)
    assert "damaged.json: " in str(caught.value)


@given(st.integers(1, len(BOTH) - 1))
def test_every_truncation_is_noticed(length):
    with pytest.raises(DataError) as caught:
        list(ArrayReader(io.StringIO(BOTH[:length].decode())))
    assert "end of the file" in str(caught.value)


@given(st.integers(1, 50), st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=5))
def test_array_reader_equals_json(chunk, values):
    class Small(io.StringIO):
        def read(self, size=-1):
            return super().read(chunk)

    assert list(ArrayReader(Small(json.dumps(values, indent=1)))) == values


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(DataError, match="found no such file"):
        load_documents(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match="found a directory, expected a file"):
        load_documents(tmp_path)


def test_unwritable_target(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot write here"):
        write_documents(tmp_path / "file" / "out.json", [])
    with pytest.raises(OSError, match="cannot write here"):
        write_documents(tmp_path / "nowhere" / "out.json", [])


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="not written: No space left"):
        write_documents(path, [])
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_an_error_while_writing_leaves_nothing(tmp_path):
    def documents():
        yield from load_documents(good)
        raise DataError(load_error.defect)

    good = tmp_path / "good.json"
    good.write_bytes(BOTH)
    with pytest.raises(DataError) as caught:
        load_documents(tmp_path / "none")
    load_error = caught.value
    with pytest.raises(DataError):
        write_documents(tmp_path / "out.json", documents())
    assert [item.name for item in tmp_path.iterdir()] == ["good.json"]


def test_written_files_have_ordinary_permissions(tmp_path):
    with write_text(tmp_path / "a") as stream:
        stream.write("x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
