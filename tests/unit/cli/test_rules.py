"""`unnoted rules`: what rules imply of labels, and proposals."""

import json
from functools import partial

import pytest
from tests.unit.cli import running

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.rules import parse_rules

RULE = "child_of(t, h) -> parent_of(h, t)"


run = partial(running.run, "rules")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Documents in which half of the parents are not labelled as such."""
    path = tmp_path_factory.mktemp("rules") / "own.jsonl"
    documents = [
        document.with_facts(f for f in document.facts if number % 2 or f.relation != "parent_of")
        for number, document in enumerate(generate_documents(30))
    ]
    write_documents(path, documents)
    return path


def test_proposals_have_examples_and_a_person_chooses(own, tmp_path):
    to = tmp_path / "rules.txt"
    listed = json.loads(run("propose", own, "--json", "--to", to).stdout)["rules"]
    (parents,) = [
        each for each in listed
        if (each["kind"], each["premises"], each["conclusion"]) == ("inversion", ["child_of"], "parent_of")
    ]  # fmt: skip
    assert parents["added"] > 0 and "| child_of |" in parents["example"]
    assert not parse_rules(to.read_text())  # none is chosen yet
    chosen = to.read_text().replace(f"# {RULE}", RULE)
    assert list(map(str, parse_rules(chosen))) == [RULE]
    assert "child_of" in run("propose", own, "--limit", 3).stdout


def test_each_rule_has_a_multiplier_and_all_a_spread(own, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text(f"{RULE}\nspouse_of(t, h) -> spouse_of(h, t)\n")
    found = json.loads(run("show", own, "--rules", rules, "--json").stdout)
    parents, _ = found["rules"]
    assert parents["multiplier"] == (parents["implied"] + 1) / (parents["labelled"] + 1) > 1.5
    assert found["spread"][0] <= found["together"]["multiplier"] <= found["spread"][1]
    shown = run("show", own, "--rules", rules).stdout
    assert "all rules together" in shown and f"{found['spread'][1]:.2f}" in shown


def test_a_line_that_is_no_rule_is_located(own, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("child_of -> parent_of\n")
    assert "line 1" in run("show", own, "--rules", rules, code=1).output


def test_the_input_is_not_written_over(own):
    before = own.read_bytes()
    run("propose", own, "--to", own, code=1)
    assert own.read_bytes() == before


def test_labels_that_speak_for_no_rule(tmp_path):
    (document,) = generate_documents(1)
    write_documents(tmp_path / "one.jsonl", [document.with_facts(document.facts[:1])])
    result = run("propose", tmp_path / "one.jsonl")
    assert result.stdout == "" and result.stderr.startswith("note: ")
