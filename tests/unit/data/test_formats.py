"""The table of formats, and formats that a user adds."""

from unittest.mock import patch

import pytest

from unnoted.data import Document, DocumentFormat, load_documents, register_format, write_documents
from unnoted.data.formats import FORMATS, detect_format


@pytest.fixture
def tagged():
    """A format whose files would be taken for DocRED if nobody recognised them before."""

    def read(stream, context):
        for line in stream:
            yield Document(context.register_id(line.strip("[]\n"), "line"), (("words",),), ())

    def write(path, documents):
        lines = [f"[{document.id}]\n" for document in documents]
        path.write_text("".join(lines))
        return len(lines)

    entry = DocumentFormat(
        "tagged", "tagged lines", lambda start: start.startswith("[#"), read, write, ".tag"
    )
    with patch.dict(FORMATS):
        register_format(entry)
        yield entry


def test_a_registered_format_is_recognised_first_and_written_by_its_suffix(tagged, tmp_path):
    path = tmp_path / "notes.tag"
    assert write_documents(path, [Document("#1", (), ()), Document("#2", (), ())]) == 2
    assert detect_format(path).name == "tagged lines"
    assert [document.id for document in load_documents(path)] == ["#1", "#2"]
    other = tmp_path / "notes.txt"
    assert write_documents(other, [Document("#1", (), ())], "tagged") == 1
    assert other.read_text() == "[#1]\n"


def test_a_registered_format_has_the_same_log(tagged, tmp_path):
    (tmp_path / "notes.tag").write_text("[#1]\n[#1]\n")
    with pytest.raises(ValueError, match="document '#1': line: the title or id of an earlier document"):
        load_documents(tmp_path / "notes.tag")


def test_a_key_is_registered_once(tagged):
    with pytest.raises(ValueError, match="format 'tagged' is registered already"):
        register_format(tagged)


def test_a_format_that_is_not_written_is_no_choice(tmp_path):
    with pytest.raises(
        ValueError, match="unknown format 'pubtator', expected one of docred, jsonl, label-studio"
    ):
        write_documents(tmp_path / "out", [], "pubtator")
