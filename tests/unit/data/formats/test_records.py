"""What a JSON file looks like from its beginning."""

import pytest
from tests.unit.data.formats.factories import put

from unnoted.data import DataError, load_documents
from unnoted.data.formats.records import first_fields


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (
            [{"id": 1, "text": "x", "label": [], "annotator": 1}],
            r"\(Label Studio's JSON-MIN export, which has no relations",
        ),
        ([{"tokenized_text": ["x"], "ner": []}], r"\(training data of GLiNER\)"),
        ([{"a": 1, "b": 2}], "objects with a, b, expected DocRED JSON, Label Studio JSON or rows of tokens"),
    ],
)
def test_a_list_of_something_else_says_what_it_looks_like(tmp_path, content, looks):
    with pytest.raises(DataError, match=looks) as caught:
        load_documents(put(tmp_path / "a.json", content))
    assert "docs/guides/annotation-tools.md" in str(caught.value)


def test_the_first_fields_of_what_is_cut_off():
    assert first_fields(' [ {"a" : { "b": 1 } , "c\\"d": [ "') == {"a": '{"', 'c\\"d': '["'}
    assert first_fields('{"a": "x, {[ \\" y", "b"') == {"a": '"'}
    assert first_fields("") == first_fields("[") == first_fields("{") == {}
