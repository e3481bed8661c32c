"""Files in and out: limits, streams, locks, outputs that are whole or not there, JSON, YAML, checksums."""

import errno
import gzip
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from unnoted.errors import DataError, DefectKind
from unnoted.io import (
    Limits,
    RepeatedKey,
    TextInput,
    YamlError,
    check_checksums,
    content_digest,
    hold_lock,
    is_held,
    lock_output,
    new_folder,
    numbered_lines,
    open_output,
    open_text,
    parse_json,
    parse_yaml,
    read_array,
    read_whole,
    rereadable,
    write_checksums,
    write_lines,
    write_list,
)

TEXT = "größer\n" * 50_000


def elements(text):
    """The values of a JSON list."""
    stream = text if isinstance(text, io.StringIO) else io.StringIO(text)
    return [value for _, _, value in read_array(stream)]


def failure(action):
    """The defect that an action reports."""
    with pytest.raises(DataError) as caught:
        action()
    return caught.value.defect


def read(path):
    with open_text(path) as stream:
        return stream.read()


# Reading


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


def test_a_file_is_read_plain_or_compressed(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    source = TextInput(tmp_path / "file")
    assert TEXT.startswith(source.start()) and len(source.start()) > 50_000
    with source.open() as stream:
        assert stream.read() == TEXT


def test_a_stream_is_looked_at_and_read_with_one_opening(fifo):
    source = TextInput(fifo)
    assert TEXT.startswith(source.start()) and len(source.start()) > 50_000
    with source.open() as stream:
        assert stream.read() == TEXT
    assert TEXT.startswith(source.start())


def test_a_stream_is_copied_for_commands_that_read_twice(fifo, tmp_path):
    file = tmp_path / "file"
    file.write_text("beside it")
    with rereadable([file, fifo]) as (first, second):
        assert first == file
        assert read_whole(second) == read_whole(second) == TEXT
    assert not second.exists()


def test_a_stream_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("-")):
        assert failure(lambda path=path: content_digest(path)).kind is DefectKind.UNREADABLE


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder, "a directory"),
        (lambda folder: folder / "nowhere", "no such file"),
        (lambda folder: folder / "loop", "Too many levels of symbolic links"),
        (lambda folder: folder / ("x" * 300), "File name too long"),
        (lambda folder: Path("a\0b"), "a name with a NUL character"),
        (lambda folder: folder / os.fsdecode(b"\xff"), "no such file"),
    ],
)
def test_paths_that_cannot_be_read(tmp_path, make, reason):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    defect = failure(lambda: read(make(tmp_path)))
    assert defect.kind is DefectKind.UNREADABLE and defect.found == reason


@pytest.mark.parametrize(
    "damaged",
    [gzip.compress(TEXT.encode())[:-20], gzip.compress(b"ab")[:12] + bytes(20), b"ab\xff", b"\xe9["],
    ids=["cut", "overwritten", "last byte", "first byte"],  # gzip has the time in it
)
def test_damaged_content(tmp_path, damaged):
    (tmp_path / "file").write_bytes(damaged)
    assert failure(lambda: read(tmp_path / "file")).kind is DefectKind.UNREADABLE


@pytest.mark.parametrize(("rest", "line"), [("x" * 10_000, 2), ("\n" * 2000, 1002)])
def test_a_line_without_end_is_refused(rest, line):
    lines = numbered_lines(io.StringIO("short\n" + rest), Limits(document=1000))
    defect = failure(lambda: list(lines))
    assert (defect.kind, defect.field) == (DefectKind.TOO_LARGE, f"line {line}")
    with open_text("/dev/zero") as stream:
        assert failure(lambda: list(numbered_lines(stream))).kind is DefectKind.TOO_LARGE


@pytest.mark.parametrize(
    ("name", "limit", "content"),
    [
        ("bomb.gz", "DECOMPRESSED", gzip.compress(b"x\n" * 1_000_000)),
        ("relations.json", "DOCUMENT", b'["a"]' + b" " * 2_000_000),
    ],
)
def test_what_a_whole_file_may_hold_can_be_changed(tmp_path, monkeypatch, name, limit, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert len(read_whole(path)) >= 2_000_000
    monkeypatch.setenv(f"UNNOTED_MAX_{limit}", "1000000")
    defect = failure(lambda: read_whole(path))
    assert defect.kind is DefectKind.TOO_LARGE and f"UNNOTED_MAX_{limit}" in defect.expected


@pytest.mark.parametrize("text", ["many", "0", "-3", "1.5", "٣", "9" * 40])
def test_a_value_that_is_no_limit_is_named(monkeypatch, text):
    monkeypatch.setenv("UNNOTED_MAX_WORDS", text)
    with pytest.raises(ValueError, match=r"^UNNOTED_MAX_WORDS: "):
        Limits.current()


def test_a_misspelt_limit_is_refused(monkeypatch):
    monkeypatch.setenv("UNNOTED_MAX_WORD", "10")
    with pytest.raises(ValueError, match=r"'UNNOTED_MAX_WORD'.*'UNNOTED_MAX_WORDS'"):
        Limits.current()


def test_the_table_of_limits_in_the_docs_is_right():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text("utf-8")
    rows = re.findall(r"\| `(UNNOTED_MAX_\w+)` \| ([\d,]+) \|", page)
    assert rows == [(f"UNNOTED_MAX_{name.upper()}", f"{size:,}") for name, size in asdict(Limits()).items()]


# Locks

HOLD = """
import sys
from pathlib import Path
from unnoted.io import hold_lock
with hold_lock(Path(sys.argv[1]), RuntimeError("busy")):
    print("held", flush=True)
    sys.stdin.read()
"""
WRITE = """
import sys
from pathlib import Path
from unnoted.io import lock_output, open_output
with lock_output(Path(sys.argv[1]), overwrite=True), open_output(Path(sys.argv[1])) as stream:
    stream.write("new" * 10_000)
    stream.flush()
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def start():
    """Start a process that holds something until its input ends."""
    started = []

    def start_process(program, path, **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment,
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start_process
    for process in started:
        process.kill()
        process.communicate()


def test_a_lock_has_one_holder_until_its_process_ends(tmp_path, start):
    lock = tmp_path / ".lock"
    assert not is_held(lock) and not lock.exists()
    holder = start(HOLD, lock)
    assert is_held(lock)
    with pytest.raises(ValueError, match="busy"), hold_lock(lock, ValueError("busy")):
        pass
    holder.kill()
    holder.communicate("")
    with pytest.raises(KeyError), hold_lock(lock, ValueError("busy")):
        assert is_held(lock)
        raise KeyError
    assert not is_held(lock)


@pytest.mark.parametrize("there", [True, False])
def test_a_planted_link_is_not_followed(tmp_path, there):
    lock, victim = tmp_path / ".lock", tmp_path / "victim"
    if there:
        victim.write_text("precious")
    lock.symlink_to(victim)
    assert not is_held(lock)
    with pytest.raises(OSError) as caught, hold_lock(lock, ValueError()):
        pass
    assert caught.value.filename == str(lock)
    assert victim.exists() == there and (not there or victim.read_text() == "precious")


@pytest.mark.parametrize("ending", ["input ends", "kill"])
def test_an_output_is_written_by_one_process_at_a_time(tmp_path, start, ending):
    out, link = tmp_path / "out.json", tmp_path / "link.json"
    out.write_text("old")
    link.symlink_to("out.json")
    writer = start(WRITE, out, TMPDIR=str(tmp_path))  # whatever its folder for temporary files is
    for name in (out, link, tmp_path / ".." / tmp_path.name / "out.json"):
        with (
            pytest.raises(ValueError, match="another process is writing it"),
            lock_output(name, overwrite=True),
        ):
            pass
    with lock_output(tmp_path / "other.json"):
        pass
    if ending == "kill":
        writer.kill()
    writer.communicate("")
    assert out.read_text() == ("old" if ending == "kill" else "new" * 10_000)
    with lock_output(out, overwrite=True):
        pass
    assert ending == "kill" or {path.name for path in tmp_path.iterdir()} == {"out.json", "link.json"}


def test_what_another_writes_while_it_is_waited_for_stays(tmp_path):
    out, held = tmp_path / "out.json", threading.Event()

    def write():
        with hold_lock(tmp_path / "out.json.lock", ValueError(), remove=True):
            held.set()
            time.sleep(0.2)
            out.write_text("theirs")

    thread = threading.Thread(target=write)
    thread.start()
    held.wait()
    with pytest.raises(ValueError, match="--overwrite"), lock_output(out):
        pass
    thread.join()
    assert out.read_text() == "theirs"


# Outputs


def test_an_input_is_not_written_over(tmp_path):
    source = tmp_path / "a.json"
    source.write_text("x")
    (tmp_path / "link").symlink_to("a.json")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "coming").symlink_to("later")
    for output, given_input in (
        (source, source),
        (tmp_path / "link", source),
        (source, tmp_path / "link"),
        (tmp_path / "hard", source),
        (tmp_path / "folder" / "a.json", source),
        (tmp_path / "coming", tmp_path / "later"),
        (source, tmp_path),
    ):
        inputs = [tmp_path / "b.json", given_input]
        with (
            pytest.raises(ValueError, match="is read as input"),
            lock_output(output, inputs=inputs, overwrite=True),
        ):
            pass
    with pytest.raises(ValueError, match="twice"), lock_output(source, tmp_path / "link", overwrite=True):
        pass
    with lock_output(Path("/dev/null"), Path("/dev/null"), inputs=[Path("/dev/null"), Path("-")]):
        pass


@pytest.mark.parametrize("name", ["a.json", "link", "hard", "folder/a.json", "./a.json"])
def test_what_is_there_is_not_replaced_unless_asked(tmp_path, name):
    source = tmp_path / "a.json"
    source.write_text("x")
    (tmp_path / "link").symlink_to("a.json")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "folder").symlink_to(tmp_path)
    output = Path(f"{tmp_path}/{name}")
    with pytest.raises(ValueError, match="--overwrite"), lock_output(output):
        pass
    with lock_output(output, overwrite=True):
        pass
    source.write_text("")  # nothing is lost with it
    with lock_output(output):
        pass


def test_modes_follow_the_umask(tmp_path):
    before = os.umask(mask := 0o077)
    try:
        for _ in range(2):  # a new file, and one in the place of another
            write_lines(tmp_path / "a", [])
            assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_whatever_stops_the_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(KeyError), open_output(path) as stream:
        stream.write("new")
        raise KeyError
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as caught:
        write_lines(path, [{}])
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_places_where_nothing_can_be_written_are_named_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")
    device = Path("/dev/unnoted-does-not-exist")
    for path in (tmp_path, tmp_path / "file" / "out", tmp_path / "nowhere" / "out", device):
        with pytest.raises(OSError), open_output(path):
            pytest.fail("work was done")
    assert not device.exists()


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, open_output(tmp_path / "a"):
        (tmp_path / "input").open()
    assert caught.value.filename == str(tmp_path / "input")


def test_a_link_leads_to_the_file(tmp_path):
    for there in ("old", None):
        target, link = tmp_path / f"target-{there}.gz", tmp_path / f"link-{there}.gz"
        if there:
            target.write_text(there)
        link.symlink_to(target.name)
        with open_output(link) as stream:
            stream.write("new")
        assert link.is_symlink() and gzip.decompress(target.read_bytes()) == b"new"


def test_a_folder_is_there_when_it_is_complete(tmp_path):
    with pytest.raises(KeyError), new_folder(tmp_path / "folder") as folder:
        (folder / "a").write_text("x")
        raise KeyError
    assert not list(tmp_path.iterdir())
    with new_folder(tmp_path / "folder") as folder:
        (folder / "a").write_text("x")
    assert (tmp_path / "folder" / "a").read_text() == "x"
    with pytest.raises(FileExistsError), new_folder(tmp_path / "folder"):
        pass


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_an_open_file_goes_on_where_it_stands(tmp_path, form):
    path = tmp_path / "redirected.gz"
    with path.open("w") as stream:
        stream.write("before\n")
        stream.flush()
        name = Path(form.format(stream.fileno()))
        with lock_output(name), open_output(name) as text:
            text.write("written\n")
        stream.write("after\n")
    assert path.read_text() == "before\nwritten\nafter\n"


def test_a_full_device_and_a_closed_pipe_are_named():
    with pytest.raises(OSError) as caught:
        write_lines("/dev/full", [{"a": 1}])
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with pytest.raises(BrokenPipeError) as caught:
            write_list(f"/dev/fd/{writing}", [{"a": 1}])
        assert caught.value.filename == f"/dev/fd/{writing}"
    finally:
        os.close(writing)


# JSON

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


class Pieces(io.StringIO):
    """A stream that gives so many characters at a time."""

    def __init__(self, text, size):
        super().__init__(text)
        self.size = size

    def read(self, size=-1):
        return super().read(self.size)


@given(st.lists(VALUES, max_size=5), st.integers(0, 4), st.integers(1, 60))
def test_lists_and_values_are_what_json_says(values, indent, size):
    text = json.dumps(values, indent=indent or None)
    assert elements(Pieces(text, size)) == values
    assert parse_json(text) == values == parse_json(text, "line 1")


@given(st.data())
def test_every_truncation_is_noticed(data):
    text = json.dumps([{"title": "Ada", "pos": [0, 2.5], "nothing": None}] * 2)
    length = data.draw(st.integers(1, len(text) - 1))
    assert failure(lambda: elements(text[:length])).kind is DefectKind.UNREADABLE


@pytest.mark.parametrize("text", ["", "{}", "[1] 2", "[1 2]", "[{a: 1}]", "[NaN]", "[" * 100_000])
def test_a_list_that_is_none_is_refused(text):
    assert failure(lambda: elements(text)).kind is DefectKind.UNREADABLE


def test_elements_know_their_line():
    text = '[\n{"a":\n1},\n\n{"a": 2}\n]'
    for size in (1, 5, 100):
        assert [(i, line) for i, line, _ in read_array(Pieces(text, size))] == [(0, 2), (1, 5)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ' + "1" * 5000 + "}",
        "[" * 100_000,
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": "\\ud800"}',
        '{"\\udfff": 1}',
    ],
)
def test_a_file_that_is_one_value_is_refused(text):
    defect = failure(lambda: parse_json(text))
    assert defect.kind is DefectKind.MALFORMED and "set_int_max_str_digits" not in str(defect)


def test_a_repeated_key_is_handed_to_the_reader_that_knows_the_place():
    (record,) = elements('[{"a": {"b": 1, "b": 2}}]')
    assert type(record) is dict and record["a"] == RepeatedKey("b")


@pytest.mark.parametrize(
    "text", ['[{"a": "' + "x" * 3_000_000, "[" + " " * 3_000_000, '[1, "' + "x" * 3_000_000 + '"]']
)
def test_an_element_beyond_the_limit_is_not_read_to_its_end(text):
    stream = io.StringIO(text * 2)
    assert failure(lambda: list(read_array(stream, Limits(document=100)))).kind is DefectKind.TOO_LARGE
    assert stream.tell() < 3_000_000


# YAML

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)


class NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LAUGHS, 2),
        ("a: &a [*a]", 1),
        ("a: 1\nb: !!python/object/apply:os.system [x]", 2),
        ("a: !!int x", 1),
        ("a: !!timestamp x", 1),
        ("a: 1\nb: 2\na: 3", 3),
        ("? [a]\n: b", 1),
        ("a: " + "[" * 20_000, 1),
        ("- " * 20_000, 1),
        ("a: " + "9" * 5000, 1),
        ("a: 0x" + "9" * 5000, 1),
        ("a: 0x_", 1),
        ("a: 1\nb: \0", 2),
        ("a: \ud800", 1),
        ("x" * 100_001, 1),
        ("a: *b", 1),
        ("--- a\n--- b", 2),
        ("=", 1),
    ],
)
def test_yaml_is_refused_in_one_line_and_no_time(text, line):
    began = time.process_time()
    with pytest.raises(YamlError) as caught:
        parse_yaml(text)
    assert str(caught.value).startswith(f"line {line}: ")
    assert len(str(caught.value)) < 400 and str(caught.value).isprintable()
    assert time.process_time() - began < 5


def test_dates_are_texts():
    assert parse_yaml("b: 2024-01-01\nc: 1.5") == {"b": "2024-01-01", "c": 1.5}
    assert parse_yaml("") is None


@given(YAML_VALUES)
def test_yaml_that_was_written_is_read(value):
    assert parse_yaml(yaml.dump(value, Dumper=NoAliases)) == value


@given(st.text(st.sampled_from("ab:&*!<>?-[]{},#|'\"%\n 0x_.1~"), max_size=40))
def test_any_text_is_a_value_or_one_located_error(text):
    try:
        parse_yaml(text)
    except YamlError as error:
        assert str(error).startswith("line ") and "\n" not in str(error)


# Checksums


@pytest.mark.parametrize("change", ["ab", "aaa", None])
def test_checksums_notice_every_change(tmp_path, change):
    (tmp_path / "a").write_text("aa")
    write_checksums(tmp_path, ["a"])
    assert set(check_checksums(tmp_path, ValueError)) == {"a"}
    (tmp_path / "a").unlink()
    if change is not None:
        (tmp_path / "a").write_text(change)
    with pytest.raises(ValueError, match=str(tmp_path / "a")):
        check_checksums(tmp_path, ValueError)


@pytest.mark.parametrize(
    "manifest",
    ["[]", "{", '{"files": {}}', '{"files": {"../a": {"bytes": 1, "sha256": "0"}}}', '{"files": {"a": 1}}'],
)
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    (tmp_path / "checksums.json").write_text(manifest)
    with pytest.raises(KeyError):
        check_checksums(tmp_path, type("Wrong", (KeyError, ValueError), {}))
