"""unnoted's own JSONL: raw text or words, written by hand."""

import json

import pytest

from unnoted.data import DataError, load_documents
from unnoted.errors import DefectKind

TEXT = {
    "id": "1",
    "text": "Ada Lorne lives in Kelm. She met Bo.",
    "entities": [
        {"id": "Q1", "type": "PER", "mentions": [{"start": 0, "end": 9}, {"start": 0, "end": 3}]},
        {"id": "Q2", "mentions": [{"start": 19, "end": 23, "type": "LOC"}]},
        {"type": "PER", "mentions": [{"start": 33, "end": 35, "name": "Bo"}]},
    ],
    "facts": [
        {"head": "Q1", "tail": "Q2", "relation": "residence", "evidence": [0]},
        {"head": 0, "tail": 2, "relation": "met"},
    ],
}
WORDS = {
    "id": "2",
    "sentences": [["Ada", "met", "Bo", "."]],
    "entities": [
        {"type": "PER", "mentions": [{"sentence": 0, "start": 0, "end": 1}]},
        {"type": "PER", "mentions": [{"sentence": 0, "start": 2, "end": 3}]},
    ],
}


def read(tmp_path, *records, **options):
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    return load_documents(path, **options)


def test_text_and_words(tmp_path):
    text, words = read(tmp_path, TEXT, WORDS)
    assert text.sentences == (("Ada", "Lorne", "lives", "in", "Kelm", "."), ("She", "met", "Bo", "."))
    assert [mention.span for mention in text.entities[0].mentions] == [(0, 0, 2), (0, 0, 1)]
    assert [fact.triple for fact in text.facts] == [(0, 1, "residence"), (0, 2, "met")]
    assert words.entities[1].name == "Bo" and words.text is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 1.5}, "id: 1.5, expected a string"),
        ({"text": None}, "document '1': text: nothing, expected a string"),
        ({"entities": None}, "entities: None, expected a list"),
        ({"entities": [{"mentions": [{"start": 0, "end": 3}]}]}, r"entities\[0\]\.type: nothing"),
        ({"entities": [{"type": "PER", "mentions": []}], "facts": []}, "no mention"),
        ({"entities": [{"type": "P", "mentions": [{"start": 3, "end": 3}]}]}, "3 to 3"),
        ({"entities": [{"type": "P", "mentions": [{"start": 0, "end": 99}]}]}, "characters of the text"),
        ({"entities": [{"type": "P", "mentions": [{"start": 3, "end": 4}]}]}, "at least one word"),
        ({"entities": [{"type": "P", "mentions": [{"start": 0, "end": 3, "name": "Bo"}]}]}, ": 'Bo'"),
        ({"facts": [{"head": "Q3", "tail": "Q2", "relation": "r"}]}, r"facts\[0\]\.head: 'Q3'.*'Q2'"),
        ({"facts": [{"head": None, "tail": "Q2", "relation": "r"}]}, r"facts\[0\]\.head: None"),
        ({"facts": [{"head": 0, "tail": 0, "relation": "r"}]}, "two different entities"),
        ({"sentences": [["Ada", "flew"]]}, "text: .*expected a text whose words are `sentences`"),
    ],
)
def test_errors_are_located(tmp_path, change, message):
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, {**TEXT, **change})
    assert "own.jsonl" in str(caught.value)


def test_an_id_of_two_entities_names_neither(tmp_path):
    twice = [{"id": "Q1", "type": "PER", "mentions": [{"start": 0, "end": 3}]}] * 2
    facts = [{"head": "Q1", "tail": 1, "relation": "r"}]
    with pytest.raises(DataError, match="an id that one entity has"):
        read(tmp_path, {**TEXT, "entities": twice, "facts": facts})


def test_a_broken_line_is_numbered(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(TEXT) + '\n{"id": "2", "text"\n', "utf-8")
    with pytest.raises(DataError, match="line 2"):
        load_documents(path)


def test_unknown_fields_are_reported(tmp_path):
    assert read(tmp_path, {**WORDS, "colour": "red"}).log.counts[DefectKind.IGNORED_FIELD] == 1
