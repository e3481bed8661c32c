"""Downloads against a server on the loopback address, well-behaved and not; the sample of the results pages."""

import gzip
import hashlib
import json
import random
import socket
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from urllib3.util import Retry

from unnoted.data import download as module
from unnoted.data.download import (
    Catalog,
    CatalogFile,
    DownloadError,
    SampleFile,
    download,
    download_sample,
    read_samples,
    select_documents,
)

LARGE, SMALL = random.Random(0).randbytes(300_000), b"a small file beside the large one\n"
FILES = {"large.json": LARGE, "deep/er/small.tsv.gz": SMALL}
SHARED = Path(__file__).parents[4] / "shared" / "data"


@dataclass
class Server:
    """Serves contents by path; `plan` has functions that answer the next requests otherwise."""

    contents: dict[str, bytes]
    plan: deque = field(default_factory=deque)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def catalog(self, identify=None, **files):
        identify = identify or (lambda content: {"sha256": hashlib.sha256(content).hexdigest()})
        entries = {
            name: {"url": f"{self.run_id}/{name}", **identify(content)}
            for name, content in (files or self.contents).items()
        }
        entry = {"licence": "CC0-1.0", "description": "Invented bytes.", "files": entries}
        return Catalog.model_validate({"datasets": {"invented": entry}})


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(module, "TIMEOUT", 2)
    monkeypatch.setattr(module, "RETRIES", Retry(total=2, backoff_factor=0, status_forcelist=(429, 503)))
    served = Server(dict(FILES))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.lstrip("/")
            served.asked.append(name)
            if served.plan and (answer := served.plan.popleft()):
                answer(self, served.contents[name])
            else:
                send(self, served.contents[name])

        def log_message(self, *arguments):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    served.run_id = f"http://127.0.0.1:{http.server_port}"
    yield served
    http.shutdown()
    thread.join()
    http.server_close()


def send(handler, body, length=True, status=200):
    handler.send_response(status)
    if length:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def blob(content):
    return {"git_blob_sha1": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}


def get(to, catalog, dataset="invented", **options):
    return download(dataset, to, catalog, lambda *state: None, **options)


def refusal(*arguments, **options):
    with pytest.raises(DownloadError) as caught:
        get(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("identify", [None, blob])
def test_files_arrive_whole_with_progress(server, tmp_path, identify):
    seen = []
    catalog = server.catalog(identify)
    done = download("invented", tmp_path / "new", catalog, lambda *state: seen.append(state))
    assert {file.name: file.path.read_bytes() for file in done} == FILES
    assert {file.outcome for file in done} == {"downloaded"}
    assert ("large.json", len(LARGE), len(LARGE)) in seen
    assert sorted(path.name for path in (tmp_path / "new").rglob("*") if path.is_file()) == [
        "large.json",
        "small.tsv.gz",
    ]


def test_what_is_there_and_right_is_kept(server, tmp_path):
    get(tmp_path, server.catalog())
    (tmp_path / "large.json").unlink()
    server.asked.clear()
    done = get(tmp_path, server.catalog())
    assert [file.outcome for file in done] == ["downloaded", "already there and verified"]
    assert server.asked == ["large.json"]


def test_another_file_in_its_place_is_only_overwritten_on_request(server, tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    mine = tmp_path / "deep" / "er" / "small.tsv.gz"
    mine.write_bytes(b"mine")
    assert "--overwrite" in refusal(tmp_path, server.catalog())
    assert mine.read_bytes() == b"mine" and server.asked == []
    get(tmp_path, server.catalog(), overwrite=True)
    assert mine.read_bytes() == SMALL


def test_a_passing_refusal_is_asked_again(server, tmp_path):
    server.plan += [lambda handler, body: send(handler, b"", status=503)] * 2
    get(tmp_path, server.catalog())
    assert server.asked[:3] == ["large.json"] * 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda handler, body: send(handler, b"", status=404), "404"),
        (lambda handler, body: send(handler, b"!" + body[1:]), "damaged"),
        (lambda handler, body: send(handler, body[:1000], length=False), "damaged"),
        (lambda handler, body: (handler.send_response(200), handler.send_header("Content-Length", "300000"),
                                handler.end_headers(), handler.wfile.write(body[:1000])), "cannot download"),
        (lambda handler, body: send(handler, gzip.compress(body)), "damaged"),
    ],
)  # fmt: skip
def test_what_does_not_arrive_whole_leaves_nothing(server, tmp_path, answer, said):
    server.plan += [answer] * 3
    assert said in refusal(tmp_path, server.catalog())
    assert list(tmp_path.iterdir()) == []
    server.plan.clear()
    get(tmp_path, server.catalog())


@pytest.mark.parametrize("size", [None, 1000])
def test_an_endless_file_is_cut_short(server, tmp_path, monkeypatch, size):
    monkeypatch.setenv("UNNOTED_MAX_DOWNLOAD", "100000")
    catalog = server.catalog(lambda content: {"sha256": "0" * 64} | ({"size": size} if size else {}))
    assert "more bytes" in refusal(tmp_path, catalog)
    assert list(tmp_path.iterdir()) == []


def test_a_silent_server_and_a_closed_port(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RETRIES", Retry(total=0))
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    server.plan.append(lambda handler, body: threading.Event().wait(0.5))
    assert f"{server.run_id}/large.json" in refusal(tmp_path, server.catalog())
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # taken, but nobody listens: connections are refused
        server.run_id = f"http://127.0.0.1:{bound.getsockname()[1]}"
        assert "refused" in refusal(tmp_path, server.catalog())


@pytest.mark.parametrize(("given", "near"), [("re-docrd", "re-docred"), ("chemdisgen", "chemdisgene")])
def test_an_unknown_data_set_names_the_nearest(tmp_path, given, near):
    with pytest.raises(DownloadError, match=f"nearest: '{near}'"):
        get(tmp_path / "new", Catalog.read(), given)
    assert not (tmp_path / "new").exists()


def test_the_shipped_catalog():
    datasets = Catalog.read().datasets
    assert {name: (entry.licence, len(entry.files)) for name, entry in datasets.items()} == {
        "docred": ("MIT", 5),
        "re-docred": ("MIT", 3),
        "chemdisgene": ("CC0-1.0", 10),
    }
    assert all(f.url.startswith("https://") for entry in datasets.values() for f in entry.files.values())


def test_the_git_checksum_is_the_one_of_git(tmp_path):
    (tmp_path / "hello").write_bytes(b"hello\n")
    git = "ce013625030ba8dba906f756967f9e9ca394464a"  # printf 'hello\n' | git hash-object --stdin
    file = CatalogFile(url="http://127.0.0.1/hello", git_blob_sha1=git)
    assert file.find_mismatch(tmp_path / "hello") is None
    wrong = CatalogFile(url="http://127.0.0.1/hello", git_blob_sha1="0" * 40)
    assert git in wrong.find_mismatch(tmp_path / "hello")


@pytest.mark.parametrize("name", ["../a", "a/../b", "/etc/a", "", ".", "a/", "a//b", "a\\b", "c:a", "a\0"])
def test_names_that_leave_the_folder_are_refused(server, name):
    with pytest.raises(ValueError, match=r"datasets\.invented\.files"):
        server.catalog(None, **{name: b"x"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", None),
        ("url", "file:///etc/hosts"),
        ("url", "http://.example.org/a"),
        ("url", "http://127.0.0.1/a b"),
        ("sha256", None),
        ("sha256", "abc"),
        ("git_blob_sha1", "0" * 40),
        ("size", 0),
        ("size", "12"),
        ("sha265", "0" * 64),
    ],
)
def test_a_wrong_file_entry_is_located(tmp_path, field, value):
    entry = {"url": "http://127.0.0.1/a", "sha256": "0" * 64} | {field: value}
    entry = {key: kept for key, kept in entry.items() if kept is not None}
    dataset = {"licence": "MIT", "description": "Invented.", "files": {"a.txt": entry}}
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"datasets": {"mine": dataset}}))
    with pytest.raises(DownloadError, match=r"datasets\.mine\.files\.a\.txt"):
        Catalog.read(path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"datasets": {}}', '{"datasets": {"a": 1, "a": 2}}', "[" * 100_000, '{"note": "\\ud800"}'],
)
def test_a_wrong_catalog_names_its_file(tmp_path, text):
    path = tmp_path / "catalog.json"
    path.write_text(text)
    with pytest.raises(DownloadError) as caught:
        Catalog.read(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


# The sample


def docred(*titles):
    return json.dumps([{"title": title, "sents": [[title]], "vertexSet": []} for title in titles]).encode()


def abstracts(*ids):
    return gzip.compress("".join(f"{id}|t|A é\n{id}|a|B\n{id}\t0\t1\tA\tT\tX\n\n" for id in ids).encode())


def relations(*rows):
    return gzip.compress("".join(f"{id}\tr\tX\t{number}\n" for number, id in enumerate(rows)).encode())


def test_documents_are_selected_from_all_sources_in_the_order_of_the_sample(tmp_path):
    for name, content in {
        "a.json": docred("1", "2"), "b.json": docred("3", "é", "2"), "a.txt.gz": abstracts("7", "8", "9"),
        "a.tsv.gz": relations("7", "9", "7"), "b.tsv.gz": relations("9", "8"),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)

    def select(name, sources, ids):
        return select_documents(name, SampleFile(sources, ids), tmp_path)

    chosen = json.loads(select("x.json", ["a.json", "b.json"], ["é", "2"]))
    assert [document["title"] for document in chosen] == ["é", "2"]
    text = select("x.txt.gz", ["a.txt.gz"], ["9", "7"])
    assert gzip.decompress(text) == gzip.decompress(abstracts("9", "7"))
    rows = gzip.decompress(select("x.tsv.gz", ["a.tsv.gz", "b.tsv.gz"], ["9", "7"])).decode()
    assert [row.split("\t")[0] for row in rows.splitlines()] == ["9", "9", "7", "7"]
    assert select("x.json", ["a.json"], None) == docred("1", "2")
    for name, source in (("x.json", "a.json"), ("x.txt.gz", "a.txt.gz"), ("x.tsv.gz", "a.tsv.gz")):
        with pytest.raises(DownloadError, match="1 document"):
            select(name, [source], ["none"])


def test_a_sample_is_downloaded_and_selected(server, tmp_path, monkeypatch):
    server.contents = {"a.json": docred("1", "2", "3")}
    files = {"a.json": SampleFile(["invented/a.json"], ["3", "1"])}
    monkeypatch.setattr(module, "read_samples", lambda: {"small": files})

    def sample(name):
        return download_sample(name, tmp_path, server.catalog(), lambda *state: None)

    assert [file.outcome for file in sample("small")] == ["selected"]
    assert json.loads((tmp_path / "a.json").read_bytes()) == json.loads(docred("3", "1"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(ValueError, match="--overwrite"):
        sample("small")
    with pytest.raises(DownloadError, match="small"):
        sample("smal")


def test_every_source_of_a_sample_is_in_the_catalog():
    datasets = Catalog.read().datasets
    for files in read_samples().values():
        for source in (source for file in files.values() for source in file.sources):
            name, _, file = source.partition("/")
            assert file in datasets[name].files


@pytest.mark.shared
def test_the_ids_of_the_samples_select_the_shared_files(tmp_path):
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is absent")
    for dataset, files in read_samples().items():
        for name, file in files.items():
            content = (SHARED / dataset / name).read_bytes()
            (tmp_path / name).write_bytes(content)
            selected = select_documents(name, file._replace(sources=[name]), tmp_path)
            unpack = gzip.decompress if name.endswith(".gz") else bytes
            assert unpack(selected) == unpack(content)
