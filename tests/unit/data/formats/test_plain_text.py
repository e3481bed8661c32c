"""Plain text."""

import pytest
from tests.unit.data.formats.factories import put

from unnoted.data import DataError, load_documents


def test_a_text_file_is_a_document_and_a_folder_several(tmp_path):
    put(tmp_path / "note.txt", "Ada met Bo.\n\nShe left.")
    (document,) = load_documents(tmp_path / "note.txt")
    assert (document.id, document.sentences[1], document.entities) == ("note", ("She", "left", "."), ())
    (tmp_path / "more").mkdir()
    put(tmp_path / "more" / "b.txt", "Bo.")
    assert [document.id for document in load_documents(tmp_path)] == ["more/b", "note"]


@pytest.mark.parametrize("content", ["1|x|Title\n1\t0\t5\tTitle\tX\t1\n", "a\tb\tc\n", "", "[1"])
def test_a_table_is_no_text(tmp_path, content):
    with pytest.raises(DataError):
        load_documents(put(tmp_path / "a.txt", content))
