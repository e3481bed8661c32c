"""Files of word vectors: what is read, what is refused, and where an error says it is."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from unnoted.models.encoders import EncoderError
from unnoted.models.encoders.glove import read_glove

SHARED = Path(__file__).parents[4] / "shared" / "encoders" / "glove.6B.100d.docred.txt"

LINES = "the 0.5 -1 2e-3\nof 1 2 3\n. . . 4 5 6\nat name@example.org 7 8 9\n\u00a0 1 1 1\n2 0 0 1\n"


def written(folder, text, name="vectors.txt"):
    path = folder / name
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_words_may_have_spaces_and_files_may_be_compressed(tmp_path, name):
    vectors = read_glove(written(tmp_path, LINES, name))
    assert list(vectors.rows) == ["the", "of", ". . .", "at name@example.org", "\u00a0", "2"]
    assert vectors.values.dtype == np.float32 and vectors.size == 3
    expected = [[0.5, -1, 2e-3], [1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [0, 0, 1]]
    np.testing.assert_allclose(vectors.values, expected)
    assert (vectors.lines, vectors.repeated) == (6, 0)


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("\n", " \n")]
)
def test_line_ends_of_other_programs_are_no_values(tmp_path, change):
    vectors = read_glove(written(tmp_path, change(LINES)))
    assert vectors.size == 3 and vectors.values[1].tolist() == [1, 2, 3]


def test_the_first_of_repeated_words_counts(tmp_path):
    path = written(tmp_path, "a 1 2\nb 3 4\na 5 6\nb 7 8\na 9 9\nc 0 1\nc 1 0\n")
    vectors = read_glove(path, {"a", "b"})
    assert vectors.rows == {"a": 0, "b": 1} and vectors.values.tolist() == [[1, 2], [3, 4]]
    assert (vectors.lines, vectors.repeated) == (7, 3)


def test_only_wanted_words_are_kept(tmp_path):
    vectors = read_glove(written(tmp_path, LINES), {"of", "unseen"})
    assert vectors.rows == {"of": 0} and vectors.values.shape == (1, 3) and vectors.lines == 6
    assert read_glove(written(tmp_path, LINES), set()).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "vectors.txt: found an empty file"),
        ("the\n", "line 1: found 'the', expected a word and its values"),
        ("\n", "line 1: found '', expected a word and its values"),
        ("a 1 2\nb 3\n", "line 2: found 'b 3', expected a word and 2 values"),
        ("a 1 2\n\n", "line 2: found '', expected a word and 2 values"),
        ("a 1 2\n 3 4\n", "line 2: found ' 3 4', expected a word and 2 values"),
        ("a 1 2\nb 3 4 5\n", "line 2: found 3 values, expected 2"),
        ("400000 3\na 1 2 3\n", "line 2: found 3 values, expected 1"),
        ("a 1 2\nb 3 x\n", "line 2: found 'x' after the word 'b', expected a number"),
        ("a 1 nan\n", "line 1: found 'nan' after the word 'a', expected a number"),
        ("a 1 1e999\n", "line 1: found '1e999' after the word 'a', expected a number"),
        (b"a 1 2\n\xff 3 4\n", "vectors.txt: found the byte 0xff, expected UTF-8"),
    ],
)
def test_what_is_not_of_the_format_is_refused(tmp_path, text, message):
    with pytest.raises(EncoderError) as error:
        read_glove(written(tmp_path, text))
    assert str(error.value).startswith(str(tmp_path)) and message in str(error.value)


def test_the_number_of_values_of_unwanted_words_is_checked_too(tmp_path):
    path = written(tmp_path, "a 1 2\nb 3\n")
    with pytest.raises(EncoderError, match="line 2"):
        read_glove(path, {"a"})


def test_a_file_that_is_not_there_or_is_cut_is_refused(tmp_path):
    with pytest.raises(EncoderError, match=r"missing\.txt: found no such file"):
        read_glove(tmp_path / "missing.txt")
    whole = gzip.compress(LINES.encode())
    (tmp_path / "cut.gz").write_bytes(whole[:-12])
    with pytest.raises(EncoderError, match=r"cut\.gz: found damaged gzip data"):
        read_glove(tmp_path / "cut.gz")


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="no GloVe file in ../shared")
def test_a_real_file_is_read():
    vectors = read_glove(SHARED, {"the", "of", "*", "zzqx"})
    assert set(vectors.rows) == {"the", "of", "*"}
    assert vectors.size == 100 and vectors.lines > 30_000 and vectors.repeated == 0
    assert 0.1 < vectors.values.std() < 1
