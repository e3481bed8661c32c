"""The `fetch` command against a server on the loopback address."""

import hashlib
import json
import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from unnoted.cli import data_fetch
from unnoted.data import fetching

CONTENTS = {"one.json": b"[]\n", "deep/two.tsv": b"1\t2\n" * 1000}

app = typer.Typer()
app.command("fetch")(data_fetch.fetch)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """No proxy, and no pauses between attempts."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetching.time, "sleep", lambda seconds: None)


@pytest.fixture
def address(tmp_path):
    for name, content in CONTENTS.items():
        path = tmp_path / "served" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    handler = partial(Quiet, directory=str(tmp_path / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def run(tmp_path):
    """Runs the command with a catalog whose files are at an address."""

    def run(address, *arguments, dataset="invented"):
        files = {
            name: {"url": f"{address}/{name}", "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in CONTENTS.items()
        }
        entry = {"licence": "CC0-1.0", "description": "Invented bytes.", "files": files}
        catalog = tmp_path / "catalog.json"
        catalog.write_text(json.dumps({"datasets": {"invented": entry}}))
        fixed = [dataset, "--to", str(tmp_path / "data"), "--catalog", str(catalog)]
        return CliRunner().invoke(app, [*fixed, *arguments])

    return run


def only_line(result):
    assert result.exit_code == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_says_what_was_fetched_and_under_which_licence(address, run, tmp_path):
    result = run(address)
    assert result.exit_code == 0, result.output
    assert {name: (tmp_path / "data" / name).read_bytes() for name in CONTENTS} == CONTENTS
    assert result.stdout.splitlines() == [
        "invented: Invented bytes.",
        "  one.json: fetched (3 bytes)",
        "  deep/two.tsv: fetched (4,000 bytes)",
        f"In {tmp_path / 'data'}: 2 fetched, 0 already there and verified. Licence: CC0-1.0.",
    ]
    assert result.stderr == ""


def test_says_what_was_already_there(address, run, tmp_path):
    run(address)
    (tmp_path / "data" / "one.json").unlink()
    result = run(address)
    assert result.exit_code == 0
    assert "  one.json: fetched (3 bytes)" in result.stdout
    assert "  deep/two.tsv: already there and verified (4,000 bytes)" in result.stdout
    assert "1 fetched, 1 already there and verified" in result.stdout


def test_offline_is_one_line(run):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # taken, but nobody listens: connections are refused
        closed = f"http://127.0.0.1:{bound.getsockname()[1]}"
        line = only_line(run(closed))
    assert f"cannot reach {closed}/one.json" in line and "offline" in line


def test_a_corrupted_download_is_one_line(address, run, tmp_path):
    (tmp_path / "served" / "one.json").write_bytes(b"{}\n")
    line = only_line(run(address))
    assert hashlib.sha256(b"{}\n").hexdigest() in line
    assert hashlib.sha256(CONTENTS["one.json"]).hexdigest() in line
    assert list((tmp_path / "data").iterdir()) == []


def test_another_file_in_its_place_needs_force(address, run, tmp_path):
    mine = tmp_path / "data" / "one.json"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    assert "--force" in only_line(run(address))
    assert mine.read_bytes() == b"mine"
    assert run(address, "--force").exit_code == 0
    assert mine.read_bytes() == CONTENTS["one.json"]


def test_an_unknown_data_set_is_one_line(address, run):
    assert "nearest: 'invented'" in only_line(run(address, dataset="invent"))


def test_without_a_catalog_the_shipped_one_is_used(tmp_path):
    result = CliRunner().invoke(app, ["chemdisgen", "--to", str(tmp_path)])
    assert "nearest: 'chemdisgene'" in only_line(result)


def test_a_bad_catalog_is_one_line(tmp_path):
    (tmp_path / "mine.json").write_text('{"datasets": 3}')
    arguments = ["docred", "--to", str(tmp_path), "--catalog", str(tmp_path / "mine.json")]
    line = only_line(CliRunner().invoke(app, arguments))
    assert f"{tmp_path / 'mine.json'}: datasets: found 3" in line


def test_a_terminal_gets_a_bar_for_each_file(monkeypatch, capsys):
    terminal = partial(Console, force_terminal=True, width=100, no_color=True)
    monkeypatch.setattr(data_fetch, "Console", terminal)
    with data_fetch._Bars() as bars:
        bars.show("deep/[two].tsv", 1000, 4000)
        bars.show("deep/[two].tsv", 500, 4000)
        (task,) = bars.progress.tasks
        assert (task.completed, task.total) == (500, 4000)
        bars.progress.refresh()
    printed = capsys.readouterr()
    assert "deep/[two].tsv" in printed.err and "0.5/4.0 kB" in printed.err
    assert printed.out == ""
