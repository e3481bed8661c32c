"""Files that are damaged, missing or cannot be written."""

import errno
import gzip
import io
import json
import os
import re
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.data.test_docred_reader import GOOD

from unnoted import io as unnoted_io
from unnoted.data import DataError, load_documents, write_documents
from unnoted.io import (
    ArrayReader,
    check_output,
    lock_output,
    open_output,
    output_lock,
    write_lines,
    write_list,
    write_text,
)

BOTH = json.dumps([GOOD, {**GOOD, "title": "Bo"}]).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found an empty file, expected documents"),
        (b" \n\n ", "found an empty file"),
        (b"[]", "found 0 documents, expected at least one"),
        (b"\xff\xfe[", "found the byte 0xff, expected UTF-8 text"),
        (BOTH[:40] + b"\xe9" + BOTH[41:], "found the byte 0xe9"),
        (BOTH[:-1], r"found the end of the file after document 2, expected ',' or '\]'"),
        (BOTH[:-30], "found the end of the file in document 2"),
        (BOTH + b"[", "found '\\[' after the list, expected the end of the file"),
        (BOTH.replace(b'"title"', b"title", 1), "broken JSON in document 1"),
        (BOTH.replace(b"[0, 2]", b"[0, NaN]", 1), "NaN is not JSON in document 1"),
        (b"[" * 100_000, "nested too deeply"),
        (b"hello", "expected DocRED JSON or unnoted JSONL or PubTator or Label Studio JSON"),
        (b"7\tr\tA\tB\n", "found relation rows only, expected documents"),
        (gzip.compress(BOTH, mtime=0)[:-20], "found damaged gzip data"),
        (gzip.compress(BOTH, mtime=0)[:12] + b"\x00" * 20, "found damaged gzip data"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load_documents(path)
    assert "damaged.json: " in str(caught.value)


@given(st.integers(1, len(BOTH) - 1))
def test_every_truncation_is_noticed(length):
    with pytest.raises(DataError) as caught:
        list(ArrayReader(io.StringIO(BOTH[:length].decode())))
    assert "end of the file" in str(caught.value)


@given(st.integers(1, 50), st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=5))
def test_array_reader_equals_json(chunk, values):
    class Small(io.StringIO):
        def read(self, size=-1):
            return super().read(chunk)

    assert list(ArrayReader(Small(json.dumps(values, indent=1)))) == values


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(DataError, match="found no such file"):
        load_documents(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match="found a directory, expected a file"):
        load_documents(tmp_path)


def test_unwritable_target(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot write here"):
        write_documents(tmp_path / "file" / "out.json", [])
    with pytest.raises(OSError, match="cannot write here"):
        write_documents(tmp_path / "nowhere" / "out.json", [])


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="not written: No space left"):
        write_documents(path, [])
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_an_error_while_writing_leaves_nothing(tmp_path):
    def documents():
        yield from load_documents(good)
        raise DataError(load_error.defect)

    good = tmp_path / "good.json"
    good.write_bytes(BOTH)
    with pytest.raises(DataError) as caught:
        load_documents(tmp_path / "none")
    load_error = caught.value
    with pytest.raises(DataError):
        write_documents(tmp_path / "out.json", documents())
    assert [item.name for item in tmp_path.iterdir()] == ["good.json"]


def test_written_files_have_ordinary_permissions(tmp_path):
    with write_text(tmp_path / "a") as stream:
        stream.write("x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.fixture(params=["without a name", "with a name"])
def temporary(request, monkeypatch):
    """Both kinds of files that data go to before they have their name."""
    if request.param == "with a name":
        monkeypatch.setattr(unnoted_io, "UNNAMED", None)


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_modes_follow_the_umask(tmp_path, temporary, mask):
    before = os.umask(mask)
    try:
        for _ in range(2):  # a new file, and one in the place of another
            with write_text(tmp_path / "a") as stream:
                stream.write("x")
            assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, temporary):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(KeyError), write_text(path) as stream:
        stream.write("new")
        raise KeyError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_name_that_cannot_be_given_is_told_with_the_file(tmp_path, temporary):
    path = tmp_path / "a"
    with pytest.raises(IsADirectoryError, match="not written: ") as caught, write_text(path) as stream:
        stream.write("x")
        path.mkdir()
    assert caught.value.filename == str(path) and list(tmp_path.iterdir()) == [path]


def test_the_longest_name_can_be_written(tmp_path, temporary):
    with write_text(tmp_path / ("n" * 255)) as stream:
        stream.write("x")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, write_text(tmp_path / "a"):
        (tmp_path / "input").open()
    assert caught.value.filename == str(tmp_path / "input")


def test_a_folder_is_refused_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match="cannot write here"), open_output(tmp_path):
        pytest.fail("work was done")


WRITE = """
import sys
from pathlib import Path
from unnoted.io import claimed, open_output
with claimed(Path(sys.argv[1]), overwrite=True), open_output(Path(sys.argv[1])) as stream:
    stream.write("new" * 10_000)
    stream.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    """Another process that writes out.json until its input ends."""
    (tmp_path / "out.json").write_text("old")
    command = (sys.executable, "-c", WRITE, str(tmp_path / "out.json"))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


def test_a_kill_leaves_the_old_file_and_nothing_else(tmp_path, writer):
    writer.kill()
    writer.wait()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.json": "old"}
    with lock_output(tmp_path / "out.json", overwrite=True):
        pass


def test_an_output_is_written_by_one_process_at_a_time(tmp_path, writer):
    out, link = tmp_path / "out.json", tmp_path / "link.json"
    link.symlink_to("out.json")
    for name in (out, link, tmp_path / ".." / tmp_path.name / "out.json"):
        message = f"^{re.escape(str(name))}: another process is writing it"
        with pytest.raises(ValueError, match=message), lock_output(name):
            pass
        with pytest.raises(ValueError, match=message):
            check_output(name)
    with lock_output(tmp_path / "other.json"):
        pass
    writer.communicate("")
    assert out.read_text() == "new" * 10_000
    with lock_output(out, overwrite=True):
        lock = output_lock(out)
        assert lock.exists()
    assert not lock.exists()


def test_an_input_is_not_written_over(tmp_path):
    source = tmp_path / "a.json"
    source.write_text("x")
    (tmp_path / "link").symlink_to("a.json")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "coming").symlink_to("later")
    for output, read in (
        (source, source),
        (tmp_path / "link", source),
        (source, tmp_path / "link"),
        (tmp_path / "hard", source),
        (tmp_path / "folder" / "a.json", source),
        (tmp_path / "coming", tmp_path / "later"),
    ):
        message = f"^{re.escape(str(output))}: found as input and as output"
        with (
            pytest.raises(ValueError, match=message),
            lock_output(output, inputs=[tmp_path / "b.json", read]),
        ):
            pass
    with (
        pytest.raises(ValueError, match="found twice as output"),
        lock_output(source, tmp_path / "link", overwrite=True),
    ):
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
    message = "found a file of that name, expected a new one; --overwrite replaces it"
    with pytest.raises(ValueError, match=message), lock_output(output):
        pass
    with lock_output(output, overwrite=True):
        pass
    source.write_text("")  # nothing is lost with it
    with lock_output(output):
        pass


def test_a_link_leads_to_the_file(tmp_path, temporary):
    for there in ("old", None):
        target, link = tmp_path / f"target-{there}", tmp_path / f"link-{there}.gz"
        if there:
            target.write_text(there)
        link.symlink_to(target.name)
        with open_output(link) as stream:
            stream.write("new")
        assert link.is_symlink() and gzip.decompress(target.read_bytes()) == b"new"
    with write_text(link) as stream:  # in a folder of ours, where nobody else plants a link
        stream.write("newer")
    assert not link.is_symlink() and gzip.decompress(target.read_bytes()) == b"new"


def test_a_circle_of_links_is_named(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with (
        pytest.raises(OSError, match="Too many levels") as caught,
        open_output(tmp_path / "a"),
    ):
        pass
    assert caught.value.filename == str(tmp_path / "a")


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}", "{link}"])
def test_an_open_file_goes_on_where_it_stands(tmp_path, form):
    path = tmp_path / "redirected.gz"
    with path.open("w") as stream:
        stream.write("before\n")
        stream.flush()
        (tmp_path / "link").symlink_to(f"/dev/fd/{stream.fileno()}")
        before = path.stat().st_ino
        name = Path(form.format(stream.fileno(), link=tmp_path / "link"))
        with lock_output(name), open_output(name) as text:
            text.write("written\n")
        stream.write("after\n")
    assert path.read_text() == "before\nwritten\nafter\n" and path.stat().st_ino == before


def test_devices_stay_devices(tmp_path):
    node = tmp_path / "null"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.open("w").close()
    except PermissionError:
        pytest.skip("only root makes devices, and not on every file system")
    assert write_lines(node, [{"a": 1}]) == 1
    assert node.is_char_device() and list(tmp_path.iterdir()) == [node]


def test_nothing_new_is_made_among_the_devices():
    name = Path("/dev/unnoted-does-not-exist")
    with pytest.raises(FileNotFoundError, match="cannot write here"), open_output(name):
        pass
    assert not name.exists()


def test_a_full_device_and_a_closed_pipe_are_named(tmp_path):
    with pytest.raises(OSError, match="not written: No space left on device: '/dev/full'"):
        write_lines("/dev/full", [{"a": 1}])
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with pytest.raises(BrokenPipeError, match=f"not written: Broken pipe: '/dev/fd/{writing}'"):
            write_list(f"/dev/fd/{writing}", [{"a": 1}])
    finally:
        os.close(writing)


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_file_that_grows_too_large_is_named(tmp_path, temporary, name):
    path, limits = tmp_path / name, resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_bytes(b"old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match=f"not written: File too large: '{re.escape(str(path))}'"):
            write_lines(path, ({"random": os.urandom(100).hex()} for _ in range(10_000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
