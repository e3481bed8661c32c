"""A person's path: a text, a model's folder, an entity pipeline; facts in every form, in under a minute, without training."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
import spacy
from tests.unit.cli.running import run
from tests.unit.inference.making import saved_model

NOTES = """Ada Lorne moved from Kelm to Porto in 1990. There she founded Norbank with Bo Hale.

Norbank, whose seat is in Porto, was sold to Hale & Sons in 2004. Ada Lorne lives in Kelm again.
"""
NAMES = {
    "PERSON": ["Ada Lorne", "Bo Hale"],
    "GPE": ["Kelm", "Porto"],
    "ORG": ["Norbank", "Hale & Sons"],
    "DATE": ["1990", "2004"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a text, an entity pipeline and a model."""
    path = tmp_path_factory.mktemp("text")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name} for label, names in NAMES.items() for name in names]
    )
    nlp.to_disk(path / "pipeline")
    saved_model(path / "model", entity_types=["LOC", "ORG", "PER", "TIME"])
    (path / "notes.txt").write_text(NOTES, "utf-8")
    return path


@pytest.fixture
def predict(folder, monkeypatch):
    """The file that a prediction of the text is written to."""

    def predict(name):
        monkeypatch.chdir(folder)
        run(
            *[
                "predict",
                "model",
                "notes.txt",
                "--text",
                "--entities",
                "pipeline",
                "--threshold",
                "0.3",
                "--to",
            ],
            name,
            "--overwrite",
        )
        return folder / name

    return predict


def test_raw_text_to_a_page_in_under_a_minute(folder):
    command = "predict model notes.txt --text --entities pipeline --threshold 0.3 --to facts.html"
    started, before = time.monotonic(), os.times()
    done = subprocess.run(
        [sys.executable, "-m", "unnoted", *command.split()],
        cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert done.returncode == 0, done.stderr
    # Of a machine that is busy with something else, the time that was spent counts.
    assert min(time.monotonic() - started, spent) < 60
    page = (folder / "facts.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>") and "notes.txt" in page
    assert all(name.replace("&", "&amp;") in page for names in NAMES.values() for name in names)
    assert len(re.findall(r'<tr class="fact"', page)) > 3


def test_raw_text_to_json_that_needs_nothing_else(predict):
    (record,) = json.loads(predict("facts.json").read_text("utf-8"))
    assert record["id"] == "notes.txt" and record["facts"]
    for fact in record["facts"]:
        for side in ("head", "tail"):
            assert {NOTES[start:end] for start, end in fact[f"{side}_offsets"]} == {fact[f"{side}_name"]}
            assert fact[f"{side}_type"] in ("LOC", "ORG", "PER", "TIME")
        assert 0.3 < fact["score"] <= 1 and fact["relation_name"]
        assert fact["sentences"] and all(sentence in NOTES for sentence in fact["sentences"])


def test_raw_text_to_a_table_and_a_graph_of_the_same_facts(predict):
    facts = json.loads(predict("facts.json").read_text("utf-8"))[0]["facts"]
    expected = sorted((fact["head_name"], fact["relation"], fact["tail_name"]) for fact in facts)
    with predict("facts.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted((row["head_name"], row["relation"], row["tail_name"]) for row in rows) == expected
    graph = ElementTree.parse(predict("facts.graphml")).getroot()
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    keys = {key.get("id"): key.get("attr.name") for key in graph.iterfind("g:key", space)}

    def values(element):
        return {keys[data.get("key")]: data.text for data in element.iterfind("g:data", space)}

    names = {node.get("id"): values(node)["name"] for node in graph.iterfind(".//g:node", space)}
    edges = [
        (names[edge.get("source")], values(edge)["relation"], names[edge.get("target")])
        for edge in graph.iterfind(".//g:edge", space)
    ]
    assert sorted(edges) == expected
    turtle = predict("facts.ttl").read_text("utf-8")
    assert all(json.dumps(name, ensure_ascii=False) in turtle for row in expected for name in row[::2])
