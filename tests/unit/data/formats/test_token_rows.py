"""Rows of tokens."""

import json

import pytest
from tests.unit.data.formats.factories import put, triples

from unnoted.data import DataError, load_documents
from unnoted.data.formats import detect_format

ROW = {"tokens": ["Ada", "Lorne", "met", "Bo", ".", "Ada", "Lorne", "left", "."], "orig_id": 5441}
ENTITIES = [{"type": "Peop", "start": 0, "end": 2}, {"type": "Peop", "start": 3, "end": 4}]
TAGS = ["B-Peop", "I-Peop", "O", "B-Peop", "O", "B-Peop", "I-Peop", "O", "O"]


@pytest.mark.parametrize("listed", [False, True])
def test_rows_as_the_hub_has_conll04(tmp_path, listed):
    row = ROW | {"entities": ENTITIES, "relations": [{"type": "Met", "head": 0, "tail": 1}]}
    path = put(tmp_path / "a.json", [row] if listed else json.dumps(row))
    (document,) = load_documents(path)
    assert (detect_format(path).name, document.id, triples(document)) == (
        "rows of tokens",
        "5441",
        [("Ada Lorne", "Met", "Bo")],
    )


def test_tags_are_mentions_and_names_join_them(tmp_path):
    row = ROW | {"ner_tags": TAGS, "relations": [{"type": "Met", "head": 2, "tail": 1}]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [len(entity.mentions) for entity in document.entities] == [2, 1]
    assert triples(document) == [("Ada Lorne", "Met", "Bo")]


def test_a_mention_begins_where_the_type_changes_or_a_tag_says_so(tmp_path):
    row = {"tokens": list("abcdefg"), "ner_tags": ["I-A", "I-A", "B-A", "B-B", "I-B", "I-C", "O"]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [e.name for e in document.entities] == ["a b", "c", "d e", "f"]


def test_tags_without_prefix_are_types(tmp_path):
    row = {"tokens": list("abcdef"), "ner_tags": ["PER", "O", "PER", "PER", "LOC", "O"]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [(e.name, e.type) for e in document.entities] == [("a", "PER"), ("c d", "PER"), ("e", "LOC")]
    for tag in ("B", "B-", 1):  # a prefix without a type, a number without its name
        with pytest.raises(DataError, match=r"ner_tags\[0\]"):
            load_documents(put(tmp_path / "b.jsonl", json.dumps({"tokens": ["a"], "ner_tags": [tag]})))


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"entities": [{"type": "P", "start": 0, "end": 10}]},
            r"entities\[0\].start/end: 0 to 10, expected 0 <= start",
        ),
        ({"ner_tags": ["O"]}, "ner_tags: 1 tags, expected 9, one for each token"),
        (
            {"entities": ENTITIES, "relations": [{"type": "M", "head": 0, "tail": 2}]},
            r"relations\[0\].tail: 2, expected",
        ),
        (
            {"tokens": [["a"], ["b"]], "entities": [{"type": "P", "start": 0, "end": 2}]},
            "expected a mention within one sentence",
        ),
    ],
)
def test_a_bad_row_is_named(tmp_path, more, problem):
    with pytest.raises(DataError, match=problem):
        load_documents(put(tmp_path / "a.jsonl", json.dumps(ROW | more)))
