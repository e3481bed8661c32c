"""Settings in YAML: plain values, and one located error in no time for everything else."""

import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from unnoted.io import YamlError, parse_yaml

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "line 5: found 66,430 values, aliases counted as often as they stand"),
        ("a: &a [*a]", "line 1: found a value that contains itself"),
        ("a: 1\nb: !!python/object/apply:os.system [x]", "line 2: found the tag '!!python/object/apply"),
        ("a: !!int x", "line 1: found the tag '!!int'"),
        ("a: !!bool maybe", "found the tag"),
        ("a: !!timestamp x", "found the tag"),
        ("b: &b {x: 1}\n<<: *b", "line 2: found the merge key '<<'"),
        ("a: 1\nb: 2\na: 3", "line 3: found the key 'a' twice"),
        ("? [a]\n: b", "line 1: found ['a'] as a key"),
        ("a: " + "[" * 2000, "line 1: found values more than 50 deep"),
        ("- " * 2000, "line 1: found values more than 50 deep"),
        ("a: " + "9" * 5000, "line 1: found a number of 5,000 characters"),
        ("a: 0x" + "9" * 5000, "line 1: found a number of 5,002 characters"),
        ("a: 0x_", "line 1: found '0x_', expected a number"),
        ("a: 1\nb: \0", r"line 2: found the character '\x00', expected text"),
        ("a: \ud800", r"line 1: found the character '\ud800'"),
        ("x" * 100_001, "found 100,001 characters, expected at most 100,000 (UNNOTED_MAX_CONFIG)"),
        ("a: *b", "line 1: found undefined alias"),
        ("--- a\n--- b", "line 2"),
        ("=", "line 1"),
    ],
)
def test_refused_in_one_line_and_no_time(text, message):
    began = time.process_time()
    with pytest.raises(YamlError) as caught:
        parse_yaml(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400 and str(caught.value).isprintable()
    assert time.process_time() - began < 5


def test_times_and_dates_are_texts():
    assert parse_yaml("a: 1:30\nb: 2024-01-01\nc: 1.5\nd: 1:30.5") == {
        "a": "1:30", "b": "2024-01-01", "c": 1.5, "d": "1:30.5",
    }  # fmt: skip


def test_an_alias_repeats_what_stands_above_it():
    assert parse_yaml("a: &a [1, 2]\nb: *a") == {"a": [1, 2], "b": [1, 2]}
    assert parse_yaml("") is None


def test_the_limits_can_be_raised(monkeypatch):
    monkeypatch.setenv("UNNOTED_MAX_CONFIG_VALUES", "20001")
    assert len(parse_yaml("- 1\n" * 20_000)) == 20_000


@given(VALUES)
def test_what_was_written_is_read(value):
    assert parse_yaml(yaml.safe_dump(value)) == value


@given(st.text(st.sampled_from("ab:&*!<>?-[]{},#|'\"%\n 0x_.1~"), max_size=40))
def test_any_text_is_a_value_or_one_located_error(text):
    try:
        parse_yaml(text)
    except YamlError as error:
        assert str(error).startswith("line ") and "\n" not in str(error)
