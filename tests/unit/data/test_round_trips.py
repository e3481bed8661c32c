"""Whatever is written is read again as it was."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from tests.strategies import corpora

from unnoted.data import load_documents, stream_documents, write_documents


@pytest.mark.parametrize("name", ["corpus.json", "corpus.jsonl", "corpus.json.gz", "corpus.jsonl.gz"])
@given(documents=corpora)
def test_documents_survive_write_and_read(name, documents):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_documents(path, documents) == len(documents)
        assert list(load_documents(path)) == documents
        assert list(stream_documents(path)) == documents


@given(documents=corpora)
def test_equal_documents_make_equal_bytes(documents):
    with TemporaryDirectory() as folder:
        for name in ("corpus.json", "corpus.jsonl.gz"):
            first, second = Path(folder) / f"1{name}", Path(folder) / f"2{name}"
            write_documents(first, documents)
            write_documents(second, list(stream_documents(first)))
            assert first.read_bytes() == second.read_bytes()
