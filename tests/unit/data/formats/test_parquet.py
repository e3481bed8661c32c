"""Parquet of documents."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unnoted.data import DataError, load_documents, write_documents
from unnoted.data.synthetic import generate_documents

TEXT = {
    "id": 7,
    "text": "Ada met Bo.",
    "entities": [
        {"type": "PER", "mentions": [{"start": 0, "end": 3}]},
        {"type": "PER", "mentions": [{"start": 8, "end": 10}]},
    ],
}


def write(path, *rows, **options):
    pq.write_table(pa.Table.from_pylist(list(rows)), path, **options)
    return path


def test_rows_are_the_documents_of_lines(tmp_path):
    lines = tmp_path / "a.jsonl"
    write_documents(lines, generate_documents(7))
    rows = map(json.loads, lines.read_text().splitlines())
    path = write(tmp_path / "a.parquet", *rows, row_group_size=3)
    assert load_documents(path).documents == load_documents(lines).documents


def test_a_row_has_only_the_columns_it_needs(tmp_path):
    """Nulls are values that are not given, and other columns are counted."""
    words = {**TEXT, "id": 8, "text": None, "sentences": [["Ada", "met", "Bo"]], "url": "https://a.org"}
    words["entities"] = [{"type": "PER", "mentions": [{"sentence": 0, "start": 0, "end": 1}]}]
    corpus = load_documents(write(tmp_path / "a.parquet", words, TEXT))  # columns are those of the first
    assert [document.id for document in corpus] == ["8", "7"]
    assert [document.text for document in corpus] == [None, "Ada met Bo."]
    assert corpus.log.ignored == {"url": 1}


def test_an_error_names_the_row(tmp_path):
    bad = {**TEXT, "id": 8, "entities": [{"type": "PER", "mentions": [{"start": 0, "end": 300}]}]}
    with pytest.raises(DataError, match=r"a\.parquet: document '8': entities\[0\]\.mentions\[0\]\.start/end"):
        load_documents(write(tmp_path / "a.parquet", TEXT, bad))
    with pytest.raises(DataError, match=r"a\.parquet: row 1"):
        load_documents(write(tmp_path / "a.parquet", TEXT, {"text": "Bo."}))


@pytest.mark.parametrize("cut", [6, 100, -10])
def test_a_damaged_file_is_named(tmp_path, cut):
    path = write(tmp_path / "a.parquet", TEXT)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"a\.parquet: damaged content"):
        load_documents(path)
