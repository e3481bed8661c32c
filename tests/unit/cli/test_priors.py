"""Priors estimated and audited, as a user types it."""

import json
import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import permutations
from types import ModuleType

import numpy as np
import pytest
from tests.unit.priors.simulating import simulated
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import load_documents
from unnoted.data.formats import jsonl
from unnoted.data.levels import level
from unnoted.data.synthetic import generate_documents
from unnoted.data.thinning import thin
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import close, implied_facts, load_rules


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


def test_a_file_without_a_command_is_estimated(own, judged, tmp_path):
    to = tmp_path / "priors.json"
    shown = run(own, "--scores", judged, "--to", to)
    assert "true facts per labelled one" in shown.stdout and "parent_of" in shown.stdout
    assert shown.stdout == run("estimate", own, "--scores", judged).stdout
    found = json.loads(run("--json", own, "--scores", judged).stdout)
    assert json.loads(to.read_text("utf-8")) == {row["relation"]: row["prior"] for row in found["relations"]}
    assert "audit" in run("--help").stdout


def test_without_scores_models_are_trained(own, judged, monkeypatch):
    seen = []
    module = ModuleType("unnoted.training.cross_fit")
    module.cross_fit = lambda settings, tell: seen.append(settings) or LabelledScores.load(judged)
    monkeypatch.setitem(sys.modules, "unnoted.training.cross_fit", module)
    trained = run(own, "--encoder", "recurrent", "--set", "epochs=2").stdout
    assert trained == run(own, "--scores", judged).stdout
    assert seen[0].train == (own,) and seen[0].encoder == "recurrent" and seen[0].epochs == 2


def test_scores_that_are_none(own, tmp_path):
    assert "absent.npz: found no such file" in run(own, "--scores", tmp_path / "absent.npz", code=1).stderr
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    for path in (tmp_path / "bad.npz", own):
        refused = " ".join(run(own, "--scores", path, code=1).stderr.split())
        assert f"{path.name}: found something else, expected scores that were saved" in refused


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


@pytest.fixture(scope="module")
def judged(own, tmp_path_factory):
    """Scores of the documents in `own`, beside their labels."""
    corpus = load_documents(own)
    random = np.random.default_rng(0)
    rows = [
        (number, head, tail)
        for number, document in enumerate(corpus)
        for head, tail in permutations(range(len(document.entities)), 2)
    ]
    document, head, tail = np.array(rows, np.int32).T
    names = tuple(each.id for each in corpus)
    shape = len(rows), len(corpus.relations)
    scores = LabelledScores(
        corpus.relations.ids, names, document, head, tail, np.zeros(shape, np.float32), np.zeros(shape, bool)
    ).relabelled({each.id: each.labels for each in corpus})
    margin = random.normal(size=shape) + 4 * scores.labelled
    path = tmp_path_factory.mktemp("judged") / "scores.npz"
    replace(scores, margin=margin.astype(np.float32)).save(path)
    return path


RULES = "child_of(t, h) -> parent_of(h, t)\nparent_of(t, h) -> child_of(h, t)\n"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULES, "utf-8")
    return path


def by_relation(*arguments):
    found = json.loads(run(*arguments, "--json").stdout)
    return found["ratio"]["estimate"], {row["relation"]: row for row in found["relations"]}


def test_a_known_level_is_shared_out(own, judged, rules):
    level, told = by_relation(own, "--scores", judged, "--prior-multiplier", 3)
    assert level == 3
    labelled, estimated = (sum(row[name] for row in told.values()) for name in ("labelled", "estimated"))
    assert estimated / labelled == pytest.approx(3, rel=0.25)
    # What follows by rules is known to be true, though nobody noted it.
    _, closed = by_relation(own, "--scores", judged, "--prior-multiplier", 3, "--rules", rules)
    assert {name: row["labelled"] for name, row in closed.items()} == {
        name: row["labelled"] for name, row in told.items()
    }
    corpus = load_documents(own)
    known = Counter(
        relation
        for each in close(corpus, load_rules(rules, corpus.relations))
        for *_, relation in each.document.labels
    )
    assert known["parent_of"] > closed["parent_of"]["labelled"]
    assert all(closed[relation]["low"] >= count - 1e-9 for relation, count in known.items())


def test_rules_tell_the_level(own, judged, rules):
    corpus = load_documents(own)
    implied = implied_facts(corpus, load_rules(rules, corpus.relations))
    assert implied.noted
    assert by_relation(own, "--scores", judged, "--rules", rules)[0] == pytest.approx(implied.multiplier)
    rules.write_text("child_of(t, h) -> child_of(h, t)\n", "utf-8")  # nobody is a child of a child of theirs
    refused = run(own, "--scores", judged, "--rules", rules, code=1).stderr
    assert "facts that follow, 0 of them noted, expected enough to tell" in " ".join(refused.split())


def test_a_level_that_cannot_be_used(own, judged, scores, rules, tmp_path):
    for told in ((), ("--prior-multiplier", 3)):
        others = run(own, "--scores", scores, *told, code=1).stderr
        assert "scores.npz" in others and "found scores of 100 documents" in others
    assert "nowhere.jsonl" in run(tmp_path / "nowhere.jsonl", "--scores", judged, code=1).stderr
    absent = run(own, "--scores", judged, "--rules", tmp_path / "absent.txt", code=1).stderr
    assert "absent.txt: found no such file" in absent
    for multiplier in ("1e9", "inf"):
        assert "error" in run(own, "--scores", judged, "--prior-multiplier", multiplier, code=1).stderr
    run(own, "--scores", judged, "--rules", rules, "--to", rules, "--overwrite", code=1)
    assert rules.read_text("utf-8") == RULES
    for option, value in (("--set", "epochs=2"), ("--encoder", "recurrent"), ("--folds", 3)):
        beside = run(own, "--scores", judged, option, value, code=1).stderr
        assert f"{option}: found beside --scores" in beside
    twice = run(own, "--prior-multiplier", 3, "--set", "prior_multiplier=4", code=1).stderr
    assert "prior_multiplier: found both as an option and in --set" in twice
    kept = run(own, "--set", f"output={tmp_path}", code=1).stderr  # scores of other settings may lie there
    assert "output: found in --set, expected none" in kept


@pytest.mark.parametrize("config", ["small", "best"])
def test_models_of_folds_are_told_the_level(own, judged, rules, monkeypatch, config):
    seen = []
    module = ModuleType("unnoted.training.cross_fit")
    module.cross_fit = lambda settings, tell: seen.append(settings) or LabelledScores.load(judged)
    monkeypatch.setitem(sys.modules, "unnoted.training.cross_fit", module)
    trained = (own, "--config", config, "--encoder", "recurrent")
    by_relation(*trained, "--prior-multiplier", 5)
    assert (seen[0].prior_multiplier, seen[0].rules) == (5, None)
    by_relation(*trained, "--prior-multiplier", 5, "--rules", rules)
    assert (seen[1].prior_multiplier, seen[1].rules) == (5, str(rules))
    assert seen[0].output != seen[1].output  # scores of other settings are not found again
