"""Inputs: files and streams, within limits, each way to fail named."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from unnoted.errors import DataError
from unnoted.io import Limits, TextInput, content_digest, numbered_lines, open_text, read_whole, rereadable

TEXT = "größer\n" * 50_000


@pytest.fixture(params=["plain", "gzip"])
def content(request):
    return TEXT.encode() if request.param == "plain" else gzip.compress(TEXT.encode())


@pytest.fixture
def fifo(tmp_path, content):
    """A pipe that gives the content once, in small pieces."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write():
        with path.open("wb", buffering=0) as stream:
            for start in range(0, len(content), 777):
                stream.write(content[start : start + 777])

    thread = threading.Thread(target=write)
    thread.start()
    yield path
    thread.join()


def test_a_stream_is_looked_at_and_read_with_one_opening(fifo):
    source = TextInput(fifo)
    assert TEXT.startswith(source.start()) and len(source.start()) > 50_000
    with source.open() as stream:
        assert stream.read() == TEXT
    assert TEXT.startswith(source.start())  # still known


def test_a_stream_is_kept_for_commands_that_read_twice(fifo, tmp_path):
    file = tmp_path / "file"
    file.write_text("beside it")
    with rereadable([file, fifo]) as (first, second):
        assert first == file
        assert read_whole(second) == read_whole(second) == TEXT
    assert not second.exists()


def test_a_stream_that_nobody_reads_is_let_go(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    broken = []

    def write():
        try:
            path.write_bytes(b"x" * 10_000_000)
        except BrokenPipeError as error:
            broken.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    source = TextInput(path)
    source.start()
    source.close()
    thread.join(10)
    assert broken


def test_a_stream_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("-")):
        with pytest.raises(DataError, match="found a stream, which can be read only once, expected a file"):
            content_digest(path)


def test_ways_to_fail(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, found in (
        (tmp_path, "a directory"),
        (tmp_path / "nowhere", "no such file"),
        (loop, "Too many levels of symbolic links"),
        (tmp_path / ("x" * 300), "File name too long"),
        (Path("a\0b"), "a name with a NUL character"),
        (tmp_path / os.fsdecode(b"\xff"), "no such file"),
    ):
        with pytest.raises(DataError) as caught, open_text(path):
            pass
        assert caught.value.defect.found == found


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("x" * 10_000_000, r"line 2: found more than 1,000 characters .*\(UNNOTED_MAX_LINE\)"),
        ("\n" * 2000, r"line 1002: found more than 1,000 blank lines"),
    ],
)
def test_a_line_without_end_is_refused_before_it_is_read(tmp_path, rest, message):
    path = tmp_path / "line"
    path.write_text("short\n" + rest)
    with pytest.raises(DataError, match=message), open_text(path) as stream:
        list(numbered_lines(stream, Limits(line=1000)))


def test_an_endless_device_is_refused():
    with pytest.raises(DataError, match="UNNOTED_MAX_LINE"), open_text("/dev/zero") as stream:
        list(numbered_lines(stream))


def test_a_gzip_bomb_is_refused_and_its_limits_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"x\n" * 10_000_000))

    def read():
        with open_text(path) as stream:
            return len(stream.read())

    with pytest.raises(DataError, match=r"unpacks to [\d,]+ times its size.*UNNOTED_MAX_RATIO"):
        read()
    monkeypatch.setenv("UNNOTED_MAX_RATIO", "2000")
    assert read() == 20_000_000
    monkeypatch.setenv("UNNOTED_MAX_DECOMPRESSED", "1000000")
    with pytest.raises(DataError, match=r"bytes or more of decompressed data.*UNNOTED_MAX_DECOMPRESSED"):
        read()


def test_a_whole_file_has_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "relations.json"
    path.write_text('["a"]' + " " * 1000)
    assert read_whole(path).startswith('["a"]')
    monkeypatch.setenv("UNNOTED_MAX_DOCUMENT", "500")
    with pytest.raises(DataError, match="more than 500 characters, expected at most 500"):
        read_whole(path)


@pytest.mark.parametrize("text", ["many", "0", "-3", "1.5", "٣", "9" * 40])
def test_a_limit_that_is_none_is_named(monkeypatch, text):
    monkeypatch.setenv("UNNOTED_MAX_WORDS", text)
    with pytest.raises(ValueError, match=r"UNNOTED_MAX_WORDS: found .*, expected a whole number above 0"):
        Limits.current()


def test_a_misspelt_limit_is_refused(monkeypatch):
    monkeypatch.setenv("UNNOTED_MAX_WORD", "10")
    with pytest.raises(
        ValueError, match=r"'UNNOTED_MAX_WORD': found no such limit \(nearest: 'UNNOTED_MAX_WORDS'\)"
    ):
        Limits.current()
