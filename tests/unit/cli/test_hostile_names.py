"""Names and texts that were made to break the terminal, and paths that lead nowhere."""

import json
import os
import time

import pytest
from tests.unit.data.formats.test_docred import GOOD
from typer.testing import CliRunner

from unnoted.cli.main import app

RED = "[/b][bold]\x1b[31m\u202e:warning:\x07\n"


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit | None)
    for text in (result.stdout, result.stderr):
        assert all(line.isprintable() for line in text.splitlines()), text
    return result


def named(title, relation="P1", **more):
    labels = [{**GOOD["labels"][0], "r": relation}]
    return {**GOOD, "title": title, "labels": labels, **more}


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / f"{RED.strip()}file.json".replace("/", "")
    path.write_text(json.dumps([named(f"A{RED}", RED, **{RED: 1}), named("B" * 10_000, "r" * 10_000)]))
    return path


def test_check_shows_names_as_they_are(hostile):
    output = run("data", "check", hostile, "--per-relation").stdout
    assert r"[/b][bold]\x1b[31m\u202e:warning:\x07\n" in output.replace("\n", "").replace(" ", "")
    assert "BBB..." in output and len(output) < 10_000
    (report,) = json.loads(run("data", "check", hostile, "--json").stdout)
    assert RED in report["statistics"]["facts_per_relation"]


def test_hide_labels_and_compare_show_names_as_they_are(hostile, tmp_path):
    to = tmp_path / "left.json"
    for option in (["--keep", "0.0001"], ["--setting", "full"]):
        output = run(
            "data", "hide-labels", hostile, *option, "--to", to, "--per-relation", "--overwrite"
        ).stdout
        assert r"\x1b[31m" in output and len(output) < 10_000
    assert r"\x1b[31m" in run("data", "compare", to, hostile).stdout
    assert json.loads(run("data", "compare", to, hostile, "--json").stdout)["documents_compared"] == 2
    to.write_text(json.dumps([named(f"C{RED}")]))
    assert r"only in A: 1 (C[/b]" in run("data", "compare", to, hostile).stdout


def test_an_error_is_one_short_line(tmp_path):
    path = tmp_path / "bad.json"
    for title in (RED, "x" * 100_000):
        path.write_text(json.dumps([{**GOOD, "title": title, "sents": RED * 100}]))
        stderr = run("data", "convert", path, "--to", tmp_path / "x.json", code=1).stderr
        assert stderr.count("\n") == 1 and stderr.startswith("error: ") and len(stderr) < 600


def test_lone_surrogates_are_reported(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([named("a\ud800"), named("b", **{"\udfff": 1})]))
    output = run("data", "check", path, code=1).stdout
    assert r"document 'a\ud800': id: '\ud800', expected characters that UTF-8 can hold" in output
    assert r"\udfff" in output and "not usable" in output


def paths(tmp_path):
    loop, locked = tmp_path / "loop.json", tmp_path / "locked.json"
    loop.symlink_to(loop)
    locked.mkdir()
    return [
        (loop, "Too many levels of symbolic links"),
        (locked, "a directory"),
        (tmp_path / "nowhere.json", "no such file"),
        (tmp_path / "new\nline.json", "no such file"),
        (tmp_path / ("x" * 300 + ".json"), "File name too long"),
        (tmp_path / os.fsdecode(b"\xff\x1b.json"), "no such file"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_path_that_leads_nowhere_is_one_error(tmp_path, number):
    path, reason = paths(tmp_path)[number]
    good = tmp_path / "good.json"
    good.write_text(json.dumps([GOOD]))
    to = tmp_path / "to.json"
    for command in (
        ["data", "convert", path, "--to", to],
        ["data", "hide-labels", path, "--keep", "0.5", "--to", to],
        ["data", "hide-labels", path, "--keep-popular", "0.5", "--to", to],
        ["data", "compare", good, path],
        ["data", "check", good, "--vocabulary", path],
        ["evaluate", "--gold", path, "--predictions", good],
        ["evaluate", "--gold", good, "--predictions", path],
    ):
        stderr = run(*command, code=1).stderr
        assert stderr.startswith("error: ") and stderr.count("\n") == 1, (command, stderr)
        assert reason in stderr, (command, stderr)
    assert reason in run("data", "check", path, code=1).stdout
    assert not to.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: !!python/object/apply:os.system [x]", "line 1: tags"),
        ("a: &a [*a]", "aliases"),
        ("extends: settings.yaml", "in a circle"),
        ("x: " + "[" * 3000, "line 1: "),
        ("seed: 0x" + "9" * 5000, "is not a number"),
        ("train: \"a\\0b\"", "missing"),
        ("".join(f"k{number}: 1\n" for number in range(4000)), "more"),
    ],
)  # fmt: skip
def test_a_config_is_one_error(tmp_path, text, message):
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    began = time.process_time()
    stderr = run("info", path, code=1).stderr
    assert message in stderr and stderr.startswith("error: ") and stderr.count("\n") == 1
    assert len(stderr) < 3000 and time.process_time() - began < 20


def test_json_stays_json(tmp_path):
    path = tmp_path / "next-line.json"
    path.write_text(json.dumps([named("A\x85B", "r\x9b31m")]))
    (report,) = json.loads(run("data", "check", path, "--json").stdout)
    assert report["statistics"]["facts_per_relation"] == {"r\x9b31m": 1}
