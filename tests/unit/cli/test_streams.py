"""Standard input, pipes and devices give every command what the file gives."""

import gzip
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial

import pytest
from tests.unit.cli import running
from tests.unit.data.formats.test_pubtator import HEADER, MENTIONS
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import write_documents
from unnoted.data.synthetic import generate_documents

ROWS = "7\tr\tMESH:C1\t12\n" * 3


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """200 documents by format, each larger than what a pipe or a look at the start holds."""
    folder = tmp_path_factory.mktemp("contents")
    documents = list(generate_documents(200))
    for name in ("docred.json", "documents.jsonl", "packed.jsonl.gz"):
        write_documents(folder / name, documents)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


run = partial(running.run, "data")


def report(*arguments, **options):
    (found,) = json.loads(run("check", "--json", *arguments, **options).stdout)
    return {key: value for key, value in found.items() if key not in ("files", "defects")}


@contextmanager
def piped(tmp_path, content, name="pipe"):
    """A named pipe that somebody else writes to."""
    path = tmp_path / name
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=[content])
    thread.start()
    yield path
    thread.join(10)


@pytest.mark.parametrize("name", ["docred.json", "documents.jsonl", "packed.jsonl.gz"])
def test_check(contents, tmp_path, name):
    file = tmp_path / name
    file.write_bytes(contents[name])
    expected = report(file)
    assert expected["statistics"]["documents"] == 200
    assert report("-", input=contents[name]) == expected
    with piped(tmp_path, contents[name]) as pipe:
        assert report(pipe) == expected


def test_relation_rows_may_come_before_or_after_in_streams(tmp_path):
    abstracts = "\n".join([*HEADER, *MENTIONS, ""]).encode()
    files = {"a.txt": abstracts, "b.tsv": gzip.compress(ROWS.encode())}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    expected = report(tmp_path / "a.txt", tmp_path / "b.tsv")
    assert expected["relation_rows"]["read"] == 3
    with piped(tmp_path, files["b.tsv"]) as pipe:
        assert report("-", pipe, input=abstracts) == expected
    with piped(tmp_path, abstracts, "second") as pipe:
        assert report("-", pipe, input=files["b.tsv"]) == expected


def test_convert_split_thin_and_compare(contents, tmp_path):
    file = tmp_path / "documents.jsonl"
    file.write_bytes(contents["documents.jsonl"])
    for command, *options in (
        ("convert",),
        ("hide-labels", "--keep", "0.5"),
        ("hide-labels", "--keep-popular", "0.5"),
        ("hide-labels", "--setting", "incomplete"),
    ):
        options.append("--overwrite")
        run(command, file, *options, "--to", tmp_path / "of-file.json")
        run(command, "-", *options, "--to", tmp_path / "of-stream.json", input=file.read_bytes())
        assert (tmp_path / "of-stream.json").read_bytes() == (tmp_path / "of-file.json").read_bytes()
    half = f"{tmp_path / 'a.json'}=0.5", f"{tmp_path / 'b.json'}=0.5"
    run("split", "-", "--into", half[0], "--into", half[1], input=file.read_bytes())
    assert report(tmp_path / "a.json")["statistics"]["documents"] == 100
    part = tmp_path / "of-file.json"
    expected = run("compare", part, file, "--json").stdout
    assert run("compare", part, "-", "--json", input=file.read_bytes()).stdout == expected


def test_a_line_without_end_from_a_pipe_is_refused(tmp_path):
    command = f"yes x | tr -d '\\n' | {sys.executable} -m unnoted data check -"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "standard input" in done.stdout
    command = f"(printf '{{'; yes x | tr -d '\\n') | {sys.executable} -m unnoted data check -"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "UNNOTED_MAX_DOCUMENT" in done.stdout


def test_a_training_needs_files(tmp_path):
    output = str(tmp_path / "run")
    result = CliRunner().invoke(app, ["train", "small", "--train", "-", "--output", output], input=b"{}")
    assert result.exit_code == 1
    assert "error: standard input: a stream, which can be read only once, expected a file" in result.stderr


def test_dev_stdout_goes_on_where_the_shell_stands(contents, tmp_path):
    """Opened anew, /dev/stdout would leave the shell at the file's start, to write over the documents."""
    file, out = tmp_path / "docred.json", tmp_path / "out.txt"
    file.write_bytes(contents["docred.json"])
    convert = f"{sys.executable} -m unnoted data convert {file} --to /dev/stdout --format jsonl"
    subprocess.run(
        ["bash", "-c", f"(echo first; {convert}; echo last) > {out}"], check=True, capture_output=True
    )
    lines = out.read_text("utf-8").splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("first", "last", 202)


@pytest.mark.parametrize(
    "arguments", ["convert documents.jsonl --to - --format jsonl", "check --all packed.jsonl.gz"]
)
def test_a_reader_that_has_read_enough_is_no_error(contents, tmp_path, arguments):
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    command = f"{sys.executable} -m unnoted data {arguments} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("arguments", [("check", "-", "-"), ("compare", "-", "-")])
def test_standard_input_is_read_by_one(contents, arguments):
    result = run(*arguments, code=1, input=contents["docred.json"])
    assert "named twice, and it can be read once" in result.output


def test_a_stream_without_end_is_not_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("UNNOTED_MAX_DECOMPRESSED", "5000000")
    result = run("hide-labels", "/dev/zero", "--keep", 0.5, "--to", tmp_path / "out.json", code=1)
    assert "error: /dev/zero: " in result.stderr and "(UNNOTED_MAX_DECOMPRESSED)" in result.stderr
    assert not list(tmp_path.iterdir())
