"""Downloads against a server on the loopback address, well-behaved and not; the sample of the results pages."""

import gzip
import hashlib
import json
import random
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from urllib3.util import Retry

from unnoted.data import download as module
from unnoted.data.download import (
    Catalog,
    CatalogFile,
    DownloadError,
    Samples,
    download,
    download_sample,
    read_samples,
    select_documents,
)

LARGE, SMALL = random.Random(0).randbytes(300_000), b"a small file beside the large one\n"
FILES = {"large.json": LARGE, "deep/er/small.tsv.gz": SMALL}
SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture
def server(monkeypatch):
    """Serves `contents` by path; `plan` has functions that answer the next requests otherwise."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(module, "TIMEOUT", 2)
    monkeypatch.setattr(module, "RETRIES", Retry(total=2, backoff_factor=0, status_forcelist=(429, 503)))
    served = SimpleNamespace(contents=dict(FILES), plan=deque(), asked=[])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.lstrip("/")
            served.asked.append(name)
            answer = served.plan.popleft() if served.plan else send
            answer(self, served.contents[name])

        def log_message(self, *arguments):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    served.address = f"http://127.0.0.1:{http.server_port}"
    yield served
    http.shutdown()
    thread.join()
    http.server_close()


def send(handler, body, length=None, status=200):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def sha256(content):
    return {"sha256": hashlib.sha256(content).hexdigest()}


def blob(content):
    return {"git_blob_sha1": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}


def catalog(server, identify=sha256, names=None):
    files = {
        name: {"url": f"{server.address}/{name}", **identify(content)}
        for name, content in (names or server.contents).items()
    }
    entry = {"licence": "CC0-1.0", "description": "Invented bytes.", "files": files}
    return Catalog.model_validate({"datasets": {"invented": entry}})


def get(to, catalog, dataset="invented", **options):
    return download(dataset, to, catalog, lambda *state: None, **options)


@pytest.mark.parametrize("identify", [sha256, blob])
def test_files_arrive_whole_with_progress(server, tmp_path, identify):
    seen = []
    done = download(
        "invented", tmp_path / "new", catalog(server, identify), lambda *state: seen.append(state)
    )
    assert {file.name: (tmp_path / "new" / file.name).read_bytes() for file in done} == FILES
    assert ("large.json", len(LARGE), None) in seen
    assert len([path for path in (tmp_path / "new").rglob("*") if path.is_file()]) == len(FILES)


def test_what_is_there_and_right_is_kept(server, tmp_path):
    get(tmp_path, catalog(server))
    (tmp_path / "large.json").unlink()
    server.asked.clear()
    done = get(tmp_path, catalog(server))
    assert [file.outcome for file in done] == ["downloaded", "already there and verified"]
    assert server.asked == ["large.json"]


def test_another_file_in_its_place_is_only_overwritten_on_request(server, tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    mine = tmp_path / "deep" / "er" / "small.tsv.gz"
    mine.write_bytes(b"mine")
    with pytest.raises(DownloadError, match="--overwrite"):
        get(tmp_path, catalog(server))
    assert mine.read_bytes() == b"mine" and server.asked == []
    get(tmp_path, catalog(server), overwrite=True)
    assert mine.read_bytes() == SMALL


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler, body: send(handler, b"", status=404),
        lambda handler, body: send(handler, b"", status=503),
        lambda handler, body: send(handler, b"!" + body[1:]),
        lambda handler, body: send(handler, body[:1000], length=len(body)),
        lambda handler, body: send(handler, gzip.compress(body)),
        lambda handler, body: handler.close_connection,
    ],
)
def test_what_does_not_arrive_whole_leaves_nothing(server, tmp_path, answer):
    server.plan += [answer] * 3
    with pytest.raises(DownloadError) as caught:
        get(tmp_path, catalog(server))
    assert "large.json" in str(caught.value) and "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    server.plan = deque([lambda handler, body: send(handler, b"", status=503)] * 2)  # a passing refusal
    get(tmp_path, catalog(server))
    assert (tmp_path / "large.json").read_bytes() == LARGE


@pytest.mark.parametrize("size", [None, 1000])
def test_an_endless_file_is_cut_short(server, tmp_path, monkeypatch, size):
    monkeypatch.setenv("UNNOTED_MAX_DOWNLOAD", "100000")
    with pytest.raises(DownloadError, match="more bytes"):
        get(tmp_path, catalog(server, lambda content: {"sha256": "0" * 64, "size": size}))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_data_set_names_the_nearest(tmp_path):
    with pytest.raises(DownloadError, match="nearest: 're-docred'"):
        get(tmp_path / "new", Catalog.read(), "re-docrd")
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
    assert CatalogFile(url="http://127.0.0.1/a", git_blob_sha1=git).find_mismatch(tmp_path / "hello") is None
    assert CatalogFile(url="http://127.0.0.1/a", git_blob_sha1="0" * 40).find_mismatch(tmp_path / "hello")


@pytest.mark.parametrize("name", ["../a", "a/../b", "/etc/a", "", ".", "a/", "a//b", "a\\b", "c:a", "a\0"])
def test_names_that_leave_the_folder_are_refused(server, name):
    with pytest.raises(ValueError, match=r"datasets\.invented\.files"):
        catalog(server, names={name: b"x"})


FILE = {"url": "http://127.0.0.1/a", "sha256": "0" * 64}


@pytest.mark.parametrize(
    "file",
    [
        {"sha256": "0" * 64},
        FILE | {"url": "file:///etc/hosts"},
        FILE | {"url": "http://.example.org/a"},
        {"url": "http://127.0.0.1/a"},
        FILE | {"sha256": "abc"},
        FILE | {"git_blob_sha1": "0" * 40},
        FILE | {"size": "12"},
        FILE | {"sha265": "0" * 64},
    ],
)
def test_a_wrong_file_entry_is_located(tmp_path, file):
    dataset = {"licence": "MIT", "description": "Invented.", "files": {"a.txt": file}}
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"datasets": {"mine": dataset}}))
    with pytest.raises(DownloadError, match=r"datasets\.mine\.files\.a\.txt"):
        Catalog.read(path)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"datasets": {}}', '{"datasets": {"a": 1, "a": 2}}', "[" * 100_000]
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


def test_documents_are_selected_from_all_sources_in_the_order_of_the_sample():
    chosen = json.loads(select_documents("x.json", [docred("1", "2"), docred("3", "é", "2")], ["é", "2"]))
    assert [document["title"] for document in chosen] == ["é", "2"]
    text = select_documents("x.txt.gz", [abstracts("7", "8", "9")], ["9", "7"])
    assert gzip.decompress(text) == gzip.decompress(abstracts("9", "7"))
    rows = select_documents("x.tsv.gz", [relations("7", "9", "7"), relations("9", "8")], ["9", "7"])
    assert [row[:1] for row in gzip.decompress(rows).decode().splitlines()] == ["9", "9", "7", "7"]
    for name, content in (
        ("a.json", docred("1")),
        ("a.txt.gz", abstracts("1")),
        ("a.tsv.gz", relations("1")),
    ):
        with pytest.raises(DownloadError, match="1 document"):
            select_documents(name, [content], ["none"])


def test_a_sample_is_downloaded_and_selected(server, tmp_path, monkeypatch):
    server.contents = {"a.json": docred("1", "2", "3")}
    files = {
        "a.json": {"sources": ["invented/a.json"], "ids": "some"},
        "b.json": {"sources": ["invented/a.json"], "ids": None},
    }
    samples = Samples(note="", datasets={"small": files}, ids={"some": ["3", "1"]})
    monkeypatch.setattr(module, "read_samples", lambda: samples)

    def sample(name):
        return download_sample(name, tmp_path, catalog(server), lambda *state: None)

    assert [file.outcome for file in sample("small")] == ["selected"] * 2
    assert json.loads((tmp_path / "a.json").read_bytes()) == json.loads(docred("3", "1"))
    assert (tmp_path / "b.json").read_bytes() == docred("1", "2", "3")
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(ValueError, match="--overwrite"):
        sample("small")
    with pytest.raises(DownloadError, match="small"):
        sample("smal")


def test_every_source_of_a_sample_is_in_the_catalog():
    datasets, samples = Catalog.read().datasets, read_samples()
    for file in (file for files in samples.datasets.values() for file in files.values()):
        assert file.ids is None or file.ids in samples.ids
        for name, _, source in (source.partition("/") for source in file.sources):
            assert source in datasets[name].files


@pytest.mark.shared
def test_the_ids_of_the_samples_select_the_shared_files():
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is absent")
    samples = read_samples()
    for dataset, files in samples.datasets.items():
        for name, file in files.items():
            if file.ids is not None:
                content = (SHARED / dataset / name).read_bytes()
                selected = select_documents(name, [content], samples.ids[file.ids])
                unpack = gzip.decompress if name.endswith(".gz") else bytes
                assert unpack(selected) == unpack(content)
