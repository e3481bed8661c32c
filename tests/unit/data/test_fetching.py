"""Fetching against a server on the loopback address that can misbehave in every way a real one does."""

import errno
import gzip
import hashlib
import json
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from unnoted.data import fetching
from unnoted.data.catalog import SHIPPED_CATALOG, Catalog, CatalogError, CatalogFile, FetchError
from unnoted.data.fetching import Outcome, Patience, fetch

CONTENT = random.Random(0).randbytes(300_000)
SMALL = b"a small file beside the large one\n"
FILES = {"large.json": CONTENT, "deep/er/small.tsv.gz": SMALL}
ONCE = Patience(attempts=1, pause=0, timeout=5)
TWICE = Patience(attempts=2, pause=0, timeout=5)


@dataclass(frozen=True)
class Behaviour:
    """How the server answers one request."""

    status: int | None = None  # answered instead of the file
    cut: int | None = None  # the connection closes after so many bytes of the body
    corrupt: bool = False  # the first byte of the body is another one
    ranges: bool = True  # honours the Range header
    shift: int = 0  # a range starts so many bytes later than asked for
    framing: str = "length"  # or "close" or "chunked": how the end of the body is told
    repeat: int = 1  # the body is sent so many times
    silent: bool = False  # nothing is answered at all
    encoding: str | None = None  # what the body is said to be packed with
    claim: str | None = None  # what Content-Length says instead of the truth
    drip: bool = False  # the body comes by the byte, and never ends
    stall: bool = False  # after the body, the connection stays open in silence
    dripping_header: bool = False  # so does a header


@dataclass
class Shelf:
    """The files a server has, how it will answer the next requests, and what it was asked."""

    contents: dict[str, bytes]
    plan: deque[Behaviour] = field(default_factory=deque)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    @property
    def ranges(self) -> list[str | None]:
        return [asked_range for _, asked_range in self.asked]


def handler_for(shelf):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            self.close_connection = True
            name, asked_range = self.path.removeprefix("/"), self.headers.get("Range")
            shelf.asked.append((name, asked_range))
            behaviour = shelf.plan.popleft() if shelf.plan else Behaviour()
            if behaviour.silent:
                shelf.over.wait(10)
            elif behaviour.dripping_header:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Patience: ")
                self.drip()
            elif behaviour.status is not None:
                self.answer(behaviour.status)
            else:
                self.send_file(shelf.contents[name], asked_range, behaviour)

        def drip(self):
            with suppress(ConnectionError):
                while not shelf.over.wait(0.02):
                    self.wfile.write(b"x")

        def answer(self, status, *headers):
            self.send_response(status)
            for key, value in (*headers, ("Connection", "close")):
                self.send_header(key, value)
            self.end_headers()

        def send_file(self, content, asked_range, behaviour):
            if asked_range is None or not behaviour.ranges:
                return self.send_body(200, content, behaviour)
            start = int(asked_range.removeprefix("bytes=").removesuffix("-")) + behaviour.shift
            if start >= len(content):
                return self.answer(416, ("Content-Range", f"bytes */{len(content)}"))
            told = ("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            return self.send_body(206, content[start:], behaviour, told)

        def send_body(self, status, body, behaviour, *headers):
            body *= behaviour.repeat
            if behaviour.corrupt:
                body = bytes([body[0] ^ 1]) + body[1:]
            framing = {
                "length": (("Content-Length", behaviour.claim or str(len(body))),),
                "close": (),
                "chunked": (("Transfer-Encoding", "chunked"),),
            }[behaviour.framing]
            encoding = (("Content-Encoding", behaviour.encoding),) if behaviour.encoding else ()
            self.answer(status, *headers, *framing, *encoding)
            if behaviour.framing == "chunked":
                body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
            with suppress(ConnectionError):  # a client that has had enough
                self.wfile.write(body[: behaviour.cut])
            if behaviour.drip:
                self.drip()
            if behaviour.stall:
                shelf.over.wait(10)

    return Handler


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def shelf():
    shelf = Shelf(dict(FILES))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(shelf))
    server.daemon_threads = True
    shelf.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield shelf
    shelf.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def sha256_entry(content):
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def blob_entry(content):
    return {"git_blob_sha1": hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()}


def catalog_of(folder, address, identify=sha256_entry, files=FILES):
    entries = {name: {"url": f"{address}/{name}", **identify(content)} for name, content in files.items()}
    path = folder / "catalog.json"
    dataset = {"licence": "CC0-1.0", "description": "Invented bytes.", "files": entries}
    path.write_text(json.dumps({"datasets": {"invented": dataset}}))
    return Catalog.read(path)


@pytest.fixture
def both(shelf, tmp_path):
    """A catalog of two files, with sizes."""
    return catalog_of(tmp_path, shelf.address)


@pytest.fixture
def large(shelf, tmp_path):
    """A catalog of the large file alone, with its size."""
    return catalog_of(tmp_path, shelf.address, files={"large.json": CONTENT})


@pytest.fixture
def blob(shelf, tmp_path):
    """A catalog of the large file alone, named by its git blob and without its size."""
    return catalog_of(tmp_path, shelf.address, blob_entry, {"large.json": CONTENT})


@pytest.fixture
def to(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def target(to):
    return to / "large.json"


@pytest.fixture
def part(to):
    to.mkdir()
    return to / "large.json.part"


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def message_of(catalog, to, patience=ONCE, **options):
    with pytest.raises(FetchError) as caught:
        fetch("invented", to, catalog, patience=patience, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestWhole:
    @pytest.mark.parametrize("identify", [sha256_entry, blob_entry])
    @pytest.mark.parametrize("framing", ["length", "close", "chunked"])
    def test_fetches_every_file(self, shelf, tmp_path, to, identify, framing):
        shelf.plan.extend([Behaviour(framing=framing)] * 2)
        report = fetch("invented", to, catalog_of(tmp_path, shelf.address, identify), patience=ONCE)
        assert files_in(to) == set(FILES)
        assert {name: (to / name).read_bytes() for name in FILES} == FILES
        assert report == [(name, to / name, len(content), Outcome.FETCHED) for name, content in FILES.items()]

    def test_a_gzip_file_that_is_served_as_an_encoding_is_not_unpacked(self, shelf, tmp_path, to):
        packed = gzip.compress(CONTENT, mtime=0)
        shelf.contents["small.gz"] = packed
        shelf.plan.append(Behaviour(encoding="gzip"))
        fetch("invented", to, catalog_of(tmp_path, shelf.address, files={"small.gz": packed}), patience=ONCE)
        assert (to / "small.gz").read_bytes() == packed

    def test_a_second_run_verifies_and_asks_for_nothing(self, shelf, both, to):
        fetch("invented", to, both)
        shelf.asked.clear()
        assert [file.outcome for file in fetch("invented", to, both)] == [Outcome.VERIFIED] * 2
        assert shelf.asked == []

    def test_only_what_is_missing_is_fetched(self, shelf, both, to):
        to.mkdir()
        (to / "large.json").write_bytes(CONTENT)
        report = fetch("invented", to, both)
        assert shelf.asked == [("deep/er/small.tsv.gz", None)]
        assert [item.outcome for item in report] == [Outcome.VERIFIED, Outcome.FETCHED]

    def test_progress_counts_the_bytes_that_are_here(self, large, to, part):
        part.write_bytes(CONTENT[:1000])
        told = []
        fetch("invented", to, large, lambda *told_now: told.append(told_now))
        done = [step[1] for step in told]
        assert done == sorted(set(done)) and done[0] > 1000 and done[-1] == len(CONTENT)
        assert {(name, total) for name, _, total in told} == {("large.json", len(CONTENT))}


class TestResume:
    @pytest.mark.parametrize("identify", [sha256_entry, blob_entry])
    def test_a_part_is_continued(self, shelf, tmp_path, to, target, part, identify):
        part.write_bytes(CONTENT[:123_456])
        catalog = catalog_of(tmp_path, shelf.address, identify, {"large.json": CONTENT})
        fetch("invented", to, catalog, patience=ONCE)
        assert shelf.ranges == ["bytes=123456-"]
        assert target.read_bytes() == CONTENT
        assert files_in(to) == {"large.json"}

    def test_a_server_without_ranges_starts_over(self, shelf, large, to, target, part):
        part.write_bytes(b"x" * 1000)
        shelf.plan.append(Behaviour(ranges=False))
        fetch("invented", to, large, patience=ONCE)
        assert target.read_bytes() == CONTENT

    def test_another_range_than_asked_for_starts_over(self, shelf, large, to, target, part):
        part.write_bytes(CONTENT[:1000])
        shelf.plan.append(Behaviour(shift=1))
        fetch("invented", to, large, patience=TWICE)
        assert shelf.ranges == ["bytes=1000-", None]
        assert target.read_bytes() == CONTENT

    def test_a_complete_part_needs_no_server(self, shelf, blob, to, target, part):
        part.write_bytes(CONTENT)
        fetch("invented", to, blob, patience=ONCE)
        assert shelf.asked == []
        assert target.read_bytes() == CONTENT and not part.exists()

    def test_a_wrong_part_of_full_length_is_refused_by_the_server_and_starts_over(
        self, shelf, blob, to, target, part
    ):
        part.write_bytes(CONTENT[::-1])
        fetch("invented", to, blob, patience=TWICE)
        assert shelf.ranges == [f"bytes={len(CONTENT)}-", None]
        assert target.read_bytes() == CONTENT

    @pytest.mark.parametrize("extra", [b"", b"more"])
    def test_a_wrong_part_of_known_length_is_not_continued(self, shelf, large, to, target, part, extra):
        part.write_bytes(CONTENT[::-1] + extra)
        fetch("invented", to, large, patience=ONCE)
        assert shelf.ranges == [None]
        assert target.read_bytes() == CONTENT

    def test_an_interrupted_run_can_be_continued(self, shelf, large, to, target):
        def interrupt(file, done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fetch("invented", to, large, interrupt)
        kept = (to / "large.json.part").stat().st_size
        assert 0 < kept < len(CONTENT) and not target.exists()
        fetch("invented", to, large)
        assert shelf.ranges == [None, f"bytes={kept}-"]
        assert target.read_bytes() == CONTENT


class TestTruncated:
    @pytest.mark.parametrize("framing", ["length", "close", "chunked"])
    def test_the_next_attempt_of_the_same_run_continues(self, shelf, large, to, target, framing):
        shelf.plan.append(Behaviour(cut=200_000, framing=framing))
        fetch("invented", to, large, patience=TWICE)
        first, second = shelf.ranges
        assert first is None and 0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 200_000
        assert target.read_bytes() == CONTENT

    def test_after_the_last_attempt_the_part_is_kept_and_the_next_run_continues(
        self, shelf, blob, to, target
    ):
        shelf.plan.extend([Behaviour(cut=100_000), Behaviour(cut=50_000)])
        message = message_of(blob, to, TWICE)
        assert "invented: large.json" in message and "lost the connection" in message
        assert "150000 more expected" in message
        assert "150,000 bytes are kept, running the command again continues" in message
        assert files_in(to) == {"large.json.part"}
        assert (to / "large.json.part").read_bytes() == CONTENT[:150_000]

        fetch("invented", to, blob, patience=ONCE)
        assert shelf.ranges == [None, "bytes=100000-", "bytes=150000-"]
        assert target.read_bytes() == CONTENT

    def test_silence_is_a_lost_connection(self, shelf, large, to, target):
        shelf.plan.append(Behaviour(silent=True))
        fetch("invented", to, large, patience=Patience(attempts=2, pause=0, timeout=0.2))
        assert shelf.ranges == [None, None]
        assert target.read_bytes() == CONTENT


class TestCorrupted:
    @pytest.mark.parametrize("identify", [sha256_entry, blob_entry])
    def test_it_is_removed_and_the_next_run_starts_clean(self, shelf, tmp_path, to, target, identify):
        catalog = catalog_of(tmp_path, shelf.address, identify, {"large.json": CONTENT})
        shelf.plan.append(Behaviour(corrupt=True))
        message = message_of(catalog, to)
        damaged = identify(bytes([CONTENT[0] ^ 1]) + CONTENT[1:])
        algorithm = catalog.datasets["invented"].files["large.json"].algorithm
        assert f"found {algorithm} {damaged[algorithm]}" in message
        assert f"expected {identify(CONTENT)[algorithm]}" in message
        assert "invented: large.json" in message and "corrupted" in message
        assert files_in(to) == set()

        fetch("invented", to, catalog, patience=ONCE)
        assert shelf.ranges == [None, None]
        assert target.read_bytes() == CONTENT

    def test_a_part_of_another_file_is_removed(self, large, to, part):
        part.write_bytes(b"x" * 1000)
        assert "corrupted" in message_of(large, to)
        assert files_in(to) == set()

    def test_a_shorter_file_than_expected_is_corrupted(self, shelf, large, to):
        shelf.contents["large.json"] = b"<html>Please log in</html>"
        assert "found 26 bytes, expected 300,000 bytes" in message_of(large, to)
        assert files_in(to) == set()

    def test_a_longer_file_than_expected_is_not_read_to_its_end(self, shelf, large, to):
        shelf.plan.append(Behaviour(repeat=100, framing="close"))
        told = []
        assert "corrupted" in message_of(large, to, progress=lambda file, done, total: told.append(done))
        assert told[-1] < 2 * len(CONTENT)
        assert files_in(to) == set()

    def test_files_that_were_complete_stay(self, shelf, both, to):
        shelf.plan.extend([Behaviour(), Behaviour(corrupt=True)])
        assert "invented: deep/er/small.tsv.gz" in message_of(both, to)
        assert files_in(to) == {"large.json"}


class TestRefused:
    def test_a_missing_file_is_asked_for_once(self, shelf, large, to):
        shelf.plan.append(Behaviour(status=404))
        message = message_of(large, to, TWICE)
        assert "invented: large.json: found the answer 404 Not Found" in message
        assert f"expected the file at {shelf.address}/large.json" in message
        assert len(shelf.asked) == 1 and files_in(to) == set()

    def test_an_answer_without_the_file_is_refused(self, shelf, large, to):
        shelf.plan.append(Behaviour(status=204))
        assert "found the answer 204" in message_of(large, to, TWICE)
        assert files_in(to) == set()

    @pytest.mark.parametrize("status", [429, 503])
    def test_a_busy_server_is_asked_again(self, shelf, large, to, target, status):
        shelf.plan.append(Behaviour(status=status))
        fetch("invented", to, large, patience=TWICE)
        assert target.read_bytes() == CONTENT

    def test_a_server_that_stays_busy_is_reported(self, shelf, large, to):
        shelf.plan.extend([Behaviour(status=503)] * 2)
        message = message_of(large, to, TWICE)
        assert "503" in message and "nothing of it was fetched" in message

    def test_offline_is_one_line_with_the_address_after_growing_pauses(self, tmp_path, to, monkeypatch):
        pauses = []
        monkeypatch.setattr(fetching.time, "sleep", pauses.append)
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))  # taken, but nobody listens: connections are refused
            closed = f"http://127.0.0.1:{bound.getsockname()[1]}"
            message = message_of(catalog_of(tmp_path, closed), to, Patience(3, pause=0.5, timeout=5))
        assert f"cannot reach {closed}/large.json" in message and "offline" in message
        assert pauses == [0.5, 1.0]
        assert files_in(to) == set()

    def test_an_untrusted_certificate_is_not_called_offline(self, large, to, monkeypatch):
        tried = []

        def refuse(url, timeout, **options):
            tried.append(timeout)
            raise requests.exceptions.SSLError(ssl.SSLCertVerificationError("self-signed"))

        monkeypatch.setattr(requests, "get", refuse)
        message = message_of(large, to, TWICE)
        assert "no trusted connection" in message and "offline" not in message
        assert tried == [TWICE.timeout]


class TestPresent:
    def test_another_file_is_left_as_it_is_and_nothing_is_fetched(self, shelf, both, to):
        there = to / "deep" / "er" / "small.tsv.gz"
        there.parent.mkdir(parents=True)
        there.write_bytes(b"y" * len(SMALL))
        message = message_of(both, to)
        assert "invented: deep/er/small.tsv.gz" in message and str(there) in message
        assert f"found sha256 {hashlib.sha256(b'y' * len(SMALL)).hexdigest()}" in message
        assert f"expected {hashlib.sha256(SMALL).hexdigest()}" in message and "--force" in message
        assert there.read_bytes() == b"y" * len(SMALL)
        assert shelf.asked == []

    def test_force_replaces_it(self, large, to, target):
        to.mkdir()
        target.write_bytes(b"mine")
        (file,) = fetch("invented", to, large, force=True)
        assert target.read_bytes() == CONTENT
        assert file.outcome is Outcome.FETCHED

    def test_force_keeps_it_until_the_new_one_is_verified(self, shelf, large, to, target):
        to.mkdir()
        target.write_bytes(b"mine")
        shelf.plan.append(Behaviour(corrupt=True))
        assert "corrupted" in message_of(large, to, force=True)
        assert target.read_bytes() == b"mine"
        assert files_in(to) == {"large.json"}

    def test_force_does_not_fetch_what_is_right(self, shelf, both, to):
        fetch("invented", to, both)
        shelf.asked.clear()
        assert [file.outcome for file in fetch("invented", to, both, force=True)] == [Outcome.VERIFIED] * 2
        assert shelf.asked == []

    def test_a_folder_in_its_place_is_an_error(self, shelf, large, to, target):
        target.mkdir(parents=True)
        assert "found a folder, expected a file" in message_of(large, to, force=True)
        assert shelf.asked == []


class TestDisk:
    def test_a_target_that_is_a_file(self, large, to):
        to.write_text("not a folder")
        message = message_of(large, to)
        assert "invented: large.json" in message and str(to) in message and "writable folder" in message
        assert to.read_text() == "not a folder"

    def test_a_target_that_may_not_be_written(self, shelf, large, to, monkeypatch):
        def deny(self, *arguments, **options):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

        monkeypatch.setattr(Path, "mkdir", deny)
        message = message_of(large, to)
        assert "found 'Permission denied', expected a writable folder with room for 300,000 bytes" in message
        assert shelf.asked == []

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
    def test_a_full_disk(self, large, to, target, part, monkeypatch):
        opened = os.open
        monkeypatch.setattr(
            os, "open", lambda path, *options: opened("/dev/full" if path == part else path, *options)
        )
        message = message_of(large, to, TWICE)
        assert "No space left on device" in message and str(target) in message
        assert not target.exists()

    def test_a_disk_that_is_full_at_the_last_moment(self, shelf, large, to, target, monkeypatch):
        def full(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            assert "No space left on device" in message_of(large, to)
        assert not target.exists()
        fetch("invented", to, large)
        assert target.read_bytes() == CONTENT


class TestCatalog:
    @pytest.mark.parametrize(
        ("given", "nearest"),
        [("re-docrd", "re-docred"), ("DOCRED", "docred"), ("ChemDisGene", "chemdisgene")],
    )
    def test_unknown_data_sets_name_the_nearest(self, to, given, nearest):
        with pytest.raises(
            FetchError, match=f"no data set is named '{given}', .* \\(nearest: '{nearest}'\\)"
        ):
            fetch(given, to)
        assert not to.exists()

    def test_what_is_shipped(self):
        datasets = Catalog.read().datasets
        assert {name: (entry.licence, len(entry.files)) for name, entry in datasets.items()} == {
            "docred": ("MIT", 5),
            "re-docred": ("MIT", 3),
            "chemdisgene": ("CC0-1.0", 10),
        }
        assert all(f.url.startswith("https://") for entry in datasets.values() for f in entry.files.values())

    @pytest.mark.shared
    def test_what_is_shipped_is_what_was_gathered(self):
        gathered = Path(__file__).parents[4] / "shared" / "data" / "catalog.json"
        if not gathered.exists():
            pytest.skip(f"{gathered} is absent")
        shipped = json.loads(SHIPPED_CATALOG.read_text("utf-8"))["datasets"]
        expected = {k: v for k, v in json.loads(gathered.read_text("utf-8")).items() if k != "_about"}
        assert {name: (entry["licence"], entry["files"]) for name, entry in shipped.items()} == {
            name: (entry["licence"], entry["files"]) for name, entry in expected.items()
        }

    def test_the_git_blob_checksum_is_the_one_of_git(self, tmp_path):
        path = tmp_path / "hello"
        path.write_bytes(b"hello\n")
        git = "ce013625030ba8dba906f756967f9e9ca394464a"  # printf 'hello\n' | git hash-object --stdin
        address = "http://127.0.0.1/hello"
        assert CatalogFile(url=address, git_blob_sha1=git).mismatch(path) is None
        wrong = CatalogFile(url=address, git_blob_sha1="0" * 40).mismatch(path)
        assert wrong == f"found git_blob_sha1 {git}, expected {'0' * 40}"

    @pytest.mark.parametrize(
        "name",
        [
            "../a",
            "a/../../b",
            "/etc/a",
            "//a",
            "",
            ".",
            "..",
            "a/",
            "a//b",
            "./a",
            "a\\b",
            "c:a",
            "a\0",
            "a.part",
        ],
    )
    def test_names_that_leave_the_folder_are_refused(self, tmp_path, name):
        with pytest.raises(CatalogError, match="expected a file name or path below the target folder"):
            catalog_of(tmp_path, "http://127.0.0.1", files={name: b"x"})

    @pytest.mark.parametrize(
        ("field", "value", "expected"),
        [
            ("url", None, "url: found nothing, expected an http or https address"),
            ("url", 7, "url: found 7, expected an http or https address"),
            ("url", "file:///etc/hosts", "an http or https address"),
            ("url", "http://", "an http or https address"),
            ("url", "http://.example.org/a", "an http or https address"),
            ("url", "http://127.0.0.1:port/a", "an http or https address"),
            ("url", "http://127.0.0.1/a b", "an http or https address"),
            ("sha256", None, "found no checksum, expected one of sha256 or git_blob_sha1"),
            ("sha256", "abc", "sha256: found 'abc', expected 64 hexadecimal digits"),
            ("git_blob_sha1", "0" * 40, "found sha256 and git_blob_sha1, expected one of"),
            ("size", 0, "size: found 0, expected a number of bytes above 0"),
            ("size", True, "size: found True, expected a number"),
            ("size", "12", "size: found '12', expected a number"),
            ("sha265", "0" * 64, "sha265: found an unknown key, expected a known one (nearest: 'sha256')"),
        ],
    )
    def test_a_bad_file_entry_is_located(self, tmp_path, field, value, expected):
        entry = {"url": "http://127.0.0.1/a", "sha256": "0" * 64}
        entry = {key: kept for key, kept in (entry | {field: value}).items() if kept is not None}
        dataset = {"licence": "MIT", "description": "Invented.", "files": {"a.txt": entry}}
        message = self.refused(tmp_path, json.dumps({"datasets": {"mine": dataset}}))
        assert "mine: files: 'a.txt'" in message and expected in message

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "found '' (Expecting value: line 1"),
            ('{"datasets": {', "line 1 column 15"),
            ("[]", "top level: found [], expected a JSON object"),
            ("{}", "datasets: found nothing, expected a JSON object"),
            ('{"note": "x"}', "datasets: found nothing"),
            ('{"datasets": {}}', "datasets: found {}, expected a JSON object that is not empty"),
            ('{"dataset": {}}', "dataset: found an unknown key, expected a known one (nearest: 'datasets')"),
            ('{"datasets": {"a": 1, "a": 2}}', "key 'a': found it twice"),
            ('{"datasets": {"a": 1}}', "a: found 1, expected a JSON object"),
            ('{"datasets": {"a": {"licence": "MIT", "files": {}}}}', "a: description: found nothing"),
            (
                '{"datasets": {"a": {"licence": "MIT", "description": "x", "files": {}}}}',
                "a: files: found {}, expected a JSON object that is not empty",
            ),
            (
                '{"datasets": {"a": {"licence": " ", "description": "x", "files": {"b": 1}}}}',
                "a: licence: found ' ', expected some text",
            ),
            ("[" * 100_000, "found JSON nested too deeply"),
        ],
    )
    def test_a_bad_catalog_is_located(self, tmp_path, text, expected):
        assert expected in self.refused(tmp_path, text)

    def refused(self, tmp_path, text):
        path = tmp_path / "catalog.json"
        path.write_text(text)
        with pytest.raises(CatalogError) as caught:
            Catalog.read(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: ") and "\n" not in message
        return message

    def test_a_catalog_that_cannot_be_read(self, tmp_path):
        with pytest.raises(CatalogError, match="found no such file, expected a file"):
            Catalog.read(tmp_path / "absent.json")
        with pytest.raises(CatalogError, match="found a directory, expected a file"):
            Catalog.read(tmp_path)
        (tmp_path / "latin.json").write_bytes(b'{"note": "\xe9"}')
        with pytest.raises(CatalogError, match="found the byte 0xe9, expected UTF-8 text"):
            Catalog.read(tmp_path / "latin.json")

    def test_checksums_may_be_written_in_capitals(self, tmp_path, shelf, to, target):
        upper = lambda content: {"sha256": hashlib.sha256(content).hexdigest().upper()}  # noqa: E731
        fetch("invented", to, catalog_of(tmp_path, shelf.address, upper, {"large.json": CONTENT}))
        assert target.read_bytes() == CONTENT

    def test_patience_needs_an_attempt(self):
        with pytest.raises(ValueError, match="attempts: found 0, expected 1 or more"):
            Patience(attempts=0)


class TestBounds:
    """A server that lies or never ends is cut short and named; what was planted is left alone."""

    @pytest.mark.parametrize(
        "behaviour",
        [
            Behaviour(framing="close", cut=1000, drip=True),
            Behaviour(claim="300000", cut=1000, drip=True),
            Behaviour(dripping_header=True),
            Behaviour(cut=1000, stall=True),
            Behaviour(silent=True),
        ],
    )
    def test_a_server_that_never_ends_meets_the_deadline(self, shelf, large, to, behaviour):
        shelf.plan.append(behaviour)
        patience = Patience(attempts=3, pause=0, timeout=5, deadline=0.5)
        began = time.monotonic()
        message = message_of(large, to, patience)
        assert time.monotonic() - began < 3
        assert "invented: large.json" in message and "after 0.5 seconds" in message
        assert "UNNOTED_MAX_FETCH_SECONDS" in message
        assert files_in(to) <= {"large.json.part"}

    def test_the_deadline_is_settable_and_what_was_kept_is_continued(self, shelf, large, to, monkeypatch):
        monkeypatch.setenv("UNNOTED_MAX_FETCH_SECONDS", "1")
        shelf.plan.append(Behaviour(cut=150_000, stall=True))
        assert "after 1 seconds" in message_of(large, to, TWICE)
        monkeypatch.delenv("UNNOTED_MAX_FETCH_SECONDS")
        fetch("invented", to, large, patience=ONCE)
        assert (to / "large.json").read_bytes() == CONTENT and shelf.ranges[1] is not None

    def test_a_body_without_end_is_cut_where_the_catalog_knows_no_size(self, shelf, blob, to, monkeypatch):
        monkeypatch.setenv("UNNOTED_MAX_DOWNLOAD", "1000000")
        shelf.plan.append(Behaviour(repeat=100, framing="close"))
        told = []
        message = message_of(blob, to, progress=lambda file, done, total: told.append(done))
        assert "more than 1,000,000 bytes" in message and "UNNOTED_MAX_DOWNLOAD" in message
        assert told[-1] < 1_100_000 and files_in(to) == set()

    @pytest.mark.parametrize("claim", ["12", "999999999999", "-5", "many"])
    def test_a_length_that_is_a_lie(self, shelf, large, to, target, claim):
        shelf.plan.append(Behaviour(claim=claim))
        with suppress(FetchError):
            fetch("invented", to, large, patience=TWICE)
        fetch("invented", to, large, patience=TWICE)
        assert target.read_bytes() == CONTENT and files_in(to) == {"large.json"}

    @pytest.mark.parametrize("plant", ["symlink_to", "hardlink_to"])
    def test_a_planted_part_is_not_followed(self, shelf, large, to, part, tmp_path, plant):
        secret = tmp_path / "secret"
        secret.write_text("of somebody else")
        getattr(part, plant)(secret)
        assert "large.json.part: found a link" in message_of(large, to)
        assert secret.read_text() == "of somebody else" and shelf.asked == []

    def test_a_planted_link_to_nothing_makes_nothing(self, large, to, part, tmp_path):
        part.symlink_to(tmp_path / "made")
        assert "found a link" in message_of(large, to)
        assert not (tmp_path / "made").exists()

    def test_a_killed_fetch_leaves_its_part_which_the_next_one_continues(
        self, shelf, large, to, target, part
    ):
        shelf.plan.append(Behaviour(cut=150_000, stall=True))
        program = (
            "import sys; from pathlib import Path; from unnoted.data.catalog import Catalog; "
            "from unnoted.data.fetching import fetch; "
            "fetch('invented', Path(sys.argv[2]), Catalog.read(Path(sys.argv[1])))"
        )
        arguments = [sys.executable, "-c", program, to.parent / "catalog.json", to]
        with subprocess.Popen(arguments) as process:
            while not part.exists() or part.stat().st_size < 150_000:
                time.sleep(0.02)
            with pytest.raises(ValueError, match=r"large\.json: another process is writing it"):
                fetch("invented", to, large, patience=ONCE)
            process.kill()
        assert files_in(to) == {"large.json.part"}
        fetch("invented", to, large, patience=ONCE)
        assert target.read_bytes() == CONTENT and shelf.ranges[1] is not None
