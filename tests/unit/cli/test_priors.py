"""Priors estimated and audited, as a user types it."""

import json
import re
import sys
from types import ModuleType

import pytest
from tests.unit.priors.simulating import simulated
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.documents.formats import jsonl
from unnoted.documents.generator import generate_documents
from unnoted.documents.levels import level
from unnoted.documents.thinning import thin


def run(*arguments, code=0, said=None):
    result = CliRunner().invoke(app, ["priors", *map(str, arguments)], input=said)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    path = tmp_path_factory.mktemp("priors") / "own.jsonl"
    documents = list(generate_documents(12))
    jsonl.write(path, list(thin(documents, level("extreme", lambda: documents), 0)))
    return path


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.npz"
    simulated(3, relations=3, pairs=1000)[0].save(path)
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_file_without_a_command_is_estimated(own, scores, tmp_path):
    to = tmp_path / "priors.json"
    shown = run(own, "--scores", scores, "--to", to)
    assert "true facts per labelled one" in shown.stdout and "r2" in shown.stdout
    assert shown.stdout == run("estimate", own, "--scores", scores).stdout
    found = json.loads(run("--json", own, "--scores", scores).stdout)
    assert json.loads(to.read_text("utf-8")) == {row["relation"]: row["prior"] for row in found["relations"]}
    assert "audit" in run("--help").stdout


def test_without_scores_models_are_trained(own, scores, monkeypatch):
    seen = []
    module = ModuleType("unnoted.training.cross_fit")
    module.cross_fit = lambda settings, tell: (
        seen.append(settings) or simulated(3, relations=3, pairs=1000)[0]
    )
    monkeypatch.setitem(sys.modules, "unnoted.training.cross_fit", module)
    trained = run(own, "--encoder", "recurrent", "--set", "epochs=2").stdout
    assert trained == run(own, "--scores", scores).stdout
    assert seen[0].train == (own,) and seen[0].encoder == "recurrent" and seen[0].epochs == 2


def test_scores_that_are_none(own, tmp_path):
    assert "absent.npz: found no such file" in run(own, "--scores", tmp_path / "absent.npz", code=1).stderr
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    assert "bad.npz: " in run(own, "--scores", tmp_path / "bad.npz", code=1).stderr


def test_an_audit_from_drawing_to_priors(own, tmp_path):
    audit, to = tmp_path / "audit.jsonl", tmp_path / "priors.json"
    assert "30 questions written" in run("audit", own, "--questions", 30, "--to", audit).stderr
    first, *questions = lines(audit)
    assert "design" in first and len(questions) == 30
    for question in questions:
        text = " ".join(question["sentences"])
        assert question["head_name"] in text and question["tail_name"] in text and question["answer"] is None
    # Ctrl-D after two answers and a slip of the finger: what was said stays.
    stopped = run("audit", own, "--answers", audit, "--ask", said="y\nq\nn\n")
    assert "2 answers written" in stopped.stderr
    assert [line.get("answer") for line in lines(audit)[1:4]] == ["yes", "no", None]
    run("audit", own, "--answers", audit, "--ask", "--to", to, said="n\n" + "s\n" * 27)
    assert [line["answer"] for line in lines(audit)[1:]] == ["yes", "no", "no"] + ["skip"] * 27
    assert json.loads(to.read_text("utf-8")).keys() == set(first["design"]["relations"])


def test_answers_are_never_overwritten(own, tmp_path):
    audit = tmp_path / "audit.jsonl"
    run("audit", own, "--questions", 5, "--to", audit)
    before = audit.read_bytes()
    assert "continues an audit" in run("audit", own, "--questions", 5, "--to", audit, code=1).stderr
    assert audit.read_bytes() == before
    assert "answers: found none" in run("audit", own, "--answers", audit, code=1).stderr
    assert "found neither --to nor --answers" in run("audit", own, code=1).stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "perhaps"}, "line 2: answer: found 'perhaps', expected yes, no, skip or null"),
        ({"answer": [1]}, r"line 2: answer: found \[1\]"),
        ({"relation": "x"}, "line 2: relation: found 'x'"),
        ({"band": 9}, "line 2: band: found 9, expected 0 to 4"),
        ({"probability": 0}, "line 2: probability: found 0"),
        ({"document": "other"}, "a question about document 'other'"),
    ],
)
def test_a_bad_line_is_named(own, tmp_path, change, message):
    audit = tmp_path / "audit.jsonl"
    run("audit", own, "--questions", 1, "--to", audit)
    first, question = lines(audit)
    audit.write_text("\n".join(map(json.dumps, (first, question | change))), "utf-8")
    assert re.search(message, run("audit", own, "--answers", audit, code=1).stderr)
    audit.write_text(json.dumps(question), "utf-8")
    assert "line 1: found" in run("audit", own, "--answers", audit, code=1).stderr
