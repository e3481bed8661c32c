"""The data commands, as a user types them."""

import hashlib
import json
import os
import subprocess
import sys
from functools import partial

import pytest
from tests.unit.cli import running
from tests.unit.data.formats.test_docred import GOOD, changed

from unnoted.data import load_documents
from unnoted.data.formats import write_documents
from unnoted.priors import Priors

run = partial(running.run, "data")


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.json"
    path.write_text(json.dumps([GOOD, {**GOOD, "title": "Bo"}, {**GOOD, "title": "Cy"}]), "utf-8")
    return path


def test_check_prints_figures_and_defects(train):
    output = run("check", train, "--per-relation").output
    assert "2.00" in output and "no-evidence" in output and "P551" in output and "usable" in output


def test_check_candidates(train):
    (report,) = json.loads(run("check", train, "--json", "--candidates", "PER:LOC").stdout)
    assert report["statistics"]["candidate_pairs"] == 6
    assert "HeadType:TailType" in run("check", train, "--candidates", "PER", code=1).stderr


def test_check_of_bad_data_exits_with_1(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([changed(["labels", 0, "h"], 9)]), "utf-8")
    output = run("check", path, code=1).output
    assert "labels[0].h: 9, expected an entity index below 3" in output
    assert "Traceback" not in output
    run("check", tmp_path, code=1)
    run("check", tmp_path / "nowhere.json", code=1)


def test_hide_labels(train, tmp_path):
    to = tmp_path / "left.json"
    output = run("hide-labels", train, "--keep", "0.5", "--seed", "3", "--to", to, "--per-relation").output
    kept = sum(len(document.facts) for document in load_documents(to))
    assert 0 < kept < 6 and f"6 facts before, {kept} kept" in output
    again = tmp_path / "again.json"
    run("hide-labels", train, "--keep", "0.5", "--seed", "3", "--to", again)
    assert again.read_bytes() == to.read_bytes()
    for option in (["--setting", "extreme"], ["--setting", "incomplete"], ["--keep-popular", "0.4"]):
        run("hide-labels", train, *option, "--to", to, "--overwrite")


def test_hide_labels_needs_one_rule(train, tmp_path):
    to = tmp_path / "left.json"
    assert "--keep-popular" in run("hide-labels", train, "--to", to, code=1).stderr
    assert (
        "--keep-popular"
        in run("hide-labels", train, "--to", to, "--keep", 1, "--setting", "full", code=1).stderr
    )
    assert "nearest: 'extreme'" in run("hide-labels", train, "--to", to, "--setting", "extrem", code=1).stderr
    assert not to.exists()


def test_compare(train, tmp_path):
    hidden = tmp_path / "left.json"
    run("hide-labels", train, "--keep", "0.5", "--seed", "3", "--to", hidden)
    assert "documents compared: 3" in run("compare", hidden, train).output
    result = json.loads(run("compare", hidden, train, "--json").stdout)
    assert result["overall"]["in_b"] == 6 and result["overall"]["only_a"] == 0
    assert result["overall"]["ratio"] == 6 / result["overall"]["in_a"]


def test_priors_by_relation_come_from_a_sample_with_complete_labels(tmp_path):
    labelled, complete, sample, file = (
        tmp_path / name for name in ("a.jsonl", "b.jsonl", "s.jsonl", "p.json")
    )
    run("generate", "--documents", 40, "--setting", "incomplete", "--to", labelled, "--truth", complete)
    write_documents(sample, load_documents(complete)[:10])
    run("compare", labelled, sample, "--priors", file)
    own = load_documents(labelled).labelled_priors
    found = Priors.from_file(file, own)
    facts, labels = (
        sum(len(document.labels) for document in load_documents(path)) for path in (complete, labelled)
    )
    assert sum(found.overall) / sum(found.labelled) == pytest.approx(facts / labels, rel=0.3)
    assert len({round(a / b, 3) for a, b in zip(found.overall, found.labelled, strict=True) if b}) > 3
    assert run("compare", labelled, sample, "--priors", sample, "--overwrite", code=1).stderr.count("\n") == 1
    assert list(load_documents(sample))  # an input is never overwritten


def test_convert_there_and_back(train, tmp_path):
    lines, back = tmp_path / "own.jsonl.gz", tmp_path / "back.json"
    run("convert", train, "--to", lines)
    run("convert", lines, "--to", back)
    assert list(load_documents(back)) == list(load_documents(train))
    assert (
        "nearest: 'docred'"
        in run("convert", train, "--to", tmp_path / "c", "--format", "docrd", code=1).stderr
    )


def test_split(train, tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.jsonl"
    run("split", train, "--into", f"{first}=0.67", "--into", f"{second}=0.33")
    assert (len(load_documents(first)), len(load_documents(second))) == (2, 1)
    assert "FILE=SHARE" in run("split", train, "--into", "a.json", code=1).stderr


def test_generate_is_reproducible_and_hides_labels(tmp_path):
    paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl", "truth.jsonl")]
    options = ["--documents", 20, "--seed", 5, "--setting", "extreme"]
    run("generate", *options, "--to", paths[0], "--truth", paths[2])
    run("generate", *options, "--to", paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    labelled, truth = load_documents(paths[0]), load_documents(paths[2])
    for some, every in zip(labelled, truth, strict=True):
        assert some.labels < every.labels


def test_any_part_of_an_incomplete_corpus_can_be_generated_alone(tmp_path):
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    run("generate", "--documents", 60, "--setting", "incomplete", "--to", whole)
    run("generate", "--documents", 10, "--start", 40, "--setting", "incomplete", "--to", part)
    assert list(load_documents(whole)[40:50]) == list(load_documents(part))


def test_fetch_says_what_is_there_and_under_which_licence(tmp_path):
    content = b"[]\n"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.json").write_bytes(content)
    file = {"url": "http://127.0.0.1:9/one.json", "sha256": hashlib.sha256(content).hexdigest()}
    entry = {"licence": "CC0-1.0", "description": "Invented bytes.", "files": {"one.json": file}}
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps({"datasets": {"invented": entry}}))
    given = ("--to", tmp_path / "data", "--catalog", catalog)
    output = run("fetch", "invented", *given).stdout
    assert "one.json: already there and verified (3 bytes)" in output and "CC0-1.0" in output
    (tmp_path / "data" / "one.json").write_bytes(b"mine")
    assert "--overwrite" in run("fetch", "invented", *given, code=1).stderr
    assert "nearest: 'invented'" in run("fetch", "invent", *given, code=1).stderr
    assert "nearest: 'docred'" in run("fetch", "docrd", "--to", tmp_path, "--sample", code=1).stderr
    catalog.write_text('{"datasets": 3}')
    refused = run("fetch", "invented", *given, code=1).stderr
    assert refused.startswith(f"error: {catalog}: datasets") and refused.count("\n") == 1


MAIN = (sys.executable, "-c", "from unnoted.cli.main import main; main()", "data")


@pytest.mark.parametrize(
    "command",
    [
        ("convert", "TRAIN", "--to", "-", "--format", "jsonl"),
        ("convert", "TRAIN", "--to", "/dev/stdout", "--format", "jsonl"),
        ("hide-labels", "TRAIN", "--keep", "1", "--per-relation", "--to", "-", "--format", "jsonl"),
        ("split", "TRAIN", "--into", "-=1", "--format", "jsonl"),
    ],
)
def test_documents_go_to_standard_output_and_messages_beside_it(train, tmp_path, command):
    done = subprocess.run(
        [*MAIN, *(str(train) if part == "TRAIN" else part for part in command)],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {"Ada", "Bo", "Cy"}
    assert done.stderr and list(tmp_path.iterdir()) == [train]


@pytest.mark.parametrize(
    "command",
    [
        "generate --documents 2000 --to -",
        "generate --documents 2000 --to /dev/stdout",
        "check TRAIN",
    ],
)
def test_a_reader_that_leaves_is_no_error(train, command):
    reading, writing = os.pipe()
    os.close(reading)
    arguments = command.replace("TRAIN", str(train)).split()
    done = subprocess.run([*MAIN, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 0 and done.stderr.count("\n") <= 1
