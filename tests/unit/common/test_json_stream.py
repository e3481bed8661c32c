"""JSON that Python would take silently, or refuse with words of its own."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.errors import DataError
from unnoted.io import ArrayReader, Limits, RepeatedKey, parse_json, parse_record

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(VALUES, max_size=5), st.integers(0, 4))
def test_lists_and_values_are_what_json_says(values, indent):
    text = json.dumps(values, indent=indent or None)
    assert list(ArrayReader(io.StringIO(text))) == values
    assert parse_json(text) == values == parse_record(text, "line 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "key 'b': found it twice in one object"),
        ('{"a": ' + "1" * 5000 + "}", "a number of thousands of digits"),
        ("[" * 1000 + "]" * 1000, "nested too deeply"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": "\\ud800"}', r"found '\ud800', expected characters that UTF-8 can hold"),
        ('{"\\udfff": 1}', r"found '\udfff'"),
    ],
)
def test_a_file_that_is_one_value_is_refused(text, message):
    with pytest.raises(DataError) as caught:
        parse_json(text)
    assert message in str(caught.value) and "set_int_max_str_digits" not in str(caught.value)


def test_a_repeated_key_is_handed_to_the_reader_that_knows_the_place():
    (record,) = ArrayReader(io.StringIO('[{"a": {"b": 1, "b": 2}}]'))
    assert type(record) is dict and type(record["a"]) is RepeatedKey and record["a"].key == "b"


@pytest.mark.parametrize(
    "text", ['[{"a": "' + "x" * 3_000_000, "[" + " " * 3_000_000, '[1, "' + "x" * 3_000_000 + '"]']
)
def test_an_element_beyond_the_limit_is_not_read_to_its_end(text):
    stream = io.StringIO(text * 2)
    with pytest.raises(
        DataError, match=r"more than 100 characters in document \d, .* \(UNNOTED_MAX_DOCUMENT\)"
    ):
        list(ArrayReader(stream, Limits(document=100)))
    assert stream.tell() < 3_000_000
