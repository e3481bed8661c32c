"""`unnoted rules`: proposed, judged, written for a person."""

import json

import pytest
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.rules import written_rules


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["rules", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Documents in which half of the people who have a child are not noted as its parent."""
    path = tmp_path_factory.mktemp("rules") / "own.jsonl"
    documents = [
        document.with_facts(f for f in document.facts if number % 2 or f.relation != "parent_of")
        for number, document in enumerate(generate_documents(30))
    ]
    write_documents(path, documents)
    return path


def test_what_labels_speak_for_is_proposed_with_an_example(own, tmp_path):
    to = tmp_path / "rules.txt"
    listed = json.loads(run(own, "--json", "--to", to).stdout)["rules"]
    (parents,) = [
        r
        for r in listed
        if (r["kind"], r["premises"], r["conclusion"]) == ("inverse", ["child_of"], "parent_of")
    ]
    assert parents["added"] > 0 and "| child_of |" in parents["example"]
    assert not written_rules(to.read_text())  # none is chosen yet
    chosen = to.read_text().replace(
        "# child_of(t, h) -> parent_of(h, t)", "child_of(t, h) -> parent_of(h, t)"
    )
    assert list(map(str, written_rules(chosen))) == ["child_of(t, h) -> parent_of(h, t)"]


def test_given_rules_tell_how_complete_labels_are(own, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("child_of(t, h) -> parent_of(h, t)\n")
    implied = json.loads(run(own, "--rules", rules, "--json").stdout)["implied"]
    assert implied["multiplier"] == (implied["implied"] + 1) / (implied["noted"] + 1) > 1.5
    assert "true facts for each labelled one" in run(own, "--rules", rules).stdout


def test_a_line_that_is_no_rule_is_named(own, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("child_of -> parent_of\n")
    assert "line 1" in run(own, "--rules", rules, code=1).output


def test_the_input_is_not_written_over(own):
    before = own.read_bytes()
    run(own, "--to", own, code=1)
    assert own.read_bytes() == before
