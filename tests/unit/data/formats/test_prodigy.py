"""Prodigy."""

import json

import pytest
from tests.unit.data.formats.factories import kinds, put, triples

from unnoted.data import DataError, load_documents
from unnoted.data.formats import detect_format

WORDS = [("Ada", 0), ("met", 4), ("Bo", 8), (".", 10), ("She", 12), ("left", 16), (".", 20)]
SPANS = [
    {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"},
    {"start": 8, "end": 10, "token_start": 2, "token_end": 2, "label": "PER"},
]


def prodigy_task(**more):
    """As `rel.manual` saves it: relations name the last tokens of their spans, and the spans."""
    tokens = [
        {"text": word, "start": start, "end": start + len(word), "id": n, "ws": True, "disabled": False}
        for n, (word, start) in enumerate(WORDS)
    ]
    met = {
        "head": 0,
        "child": 2,
        "head_span": SPANS[0],
        "child_span": SPANS[1],
        "color": "#c5bdf4",
        "label": "MET",
    }
    she = {"start": 12, "end": 15, "token_start": 4, "token_end": 4, "label": None}
    same = {
        "head": 4,
        "child": 0,
        "head_span": she,
        "child_span": SPANS[0],
        "color": "#ffd882",
        "label": "COREF",
    }
    fields = {"text": "Ada met Bo. She left.", "tokens": tokens, "spans": SPANS, "relations": [met, same]}
    hashes = {"_input_hash": 1, "_task_hash": -2, "_view_id": "relations", "answer": "accept"}
    return fields | hashes | more


def test_a_task_of_prodigy(tmp_path):
    path = put(tmp_path / "a.jsonl", json.dumps(prodigy_task()))
    (document,) = load_documents(path)
    assert (detect_format(path).name, document.id, triples(document)) == (
        "Prodigy JSONL",
        "-2",
        [("Ada", "MET", "Bo")],
    )
    assert [[m.name for m in e.mentions] for e in document.entities] == [["Ada", "She"], ["Bo"]]
    assert document.entities[0].mentions[1].type == "PER"  # what a pronoun is, coreference says


def test_tokens_are_enough_for_a_relation_of_prodigy(tmp_path):
    relations = [{"head": 0, "child": 2, "label": "MET"}, {"head": 5, "child": 2, "label": "MET"}]
    relations.append({"head": 2, "child": 0, "label": None})  # relations may be drawn without labels
    path = put(tmp_path / "a.jsonl", json.dumps(prodigy_task(relations=relations)))
    assert triples(load_documents(path)[0]) == [("Ada", "MET", "Bo"), ("Bo", "related", "Ada")]
    assert kinds(path)["unlinked-entity"] == 1  # "left" is no entity


def test_tasks_that_were_not_accepted_are_left_out(tmp_path):
    lines = [
        json.dumps(prodigy_task(_task_hash=n, answer=a)) for n, a in enumerate(["reject", "accept", "ignore"])
    ]
    path = put(tmp_path / "a.jsonl", "\n".join(lines))
    assert [document.id for document in load_documents(path)] == ["1"]
    assert kinds(path)["unused-annotation"] == 2


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"spans": [SPANS[0] | {"end": 99}]},
            r"spans\[0\], start/end: 0 to 99, expected 0 <= start < end <= 21",
        ),
        ({"spans": [SPANS[0] | {"start": "0"}]}, r"spans\[0\].start: '0', expected a whole number"),
        ({"relations": [{"head": 0, "child": 2, "label": 3}]}, r"relations\[0\].label: 3, expected a string"),
        ({"text": None}, "text: None, expected a string"),
    ],
)
def test_a_bad_task_of_prodigy_is_named(tmp_path, more, problem):
    with pytest.raises(DataError, match=f"line 1: document '-2': {problem}"):
        load_documents(put(tmp_path / "a.jsonl", json.dumps(prodigy_task(**more))))
