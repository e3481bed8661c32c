"""Known negatives are read, checked and kept as facts are."""

import json

import pytest

from unnoted.data import load_documents
from unnoted.errors import DataError, DefectKind, DefectLog

WORDS = ["Ada", "met", "Bo", "and", "Cy"]


def own(negatives, facts=()):
    entities = [
        {"id": name, "type": "PER", "mentions": [{"sentence": 0, "start": at, "end": at + 1}]}
        for at, name in ((0, "Ada"), (2, "Bo"), (4, "Cy"))
    ]
    record = {"id": "d", "sentences": [WORDS], "entities": entities, "facts": list(facts)}
    return json.dumps({**record, "negatives": negatives})


def docred(negatives, labels=()):
    entities = [[{"name": WORDS[at], "pos": [at, at + 1], "sent_id": 0, "type": "PER"}] for at in (0, 2, 4)]
    record = {"title": "d", "sents": [WORDS], "vertexSet": entities, "labels": list(labels)}
    return json.dumps([{**record, "negatives": negatives}])


def read(tmp_path, text, **options):
    path = tmp_path / "corpus.json"
    path.write_text(text)
    return load_documents(path, **options)


def test_both_json_formats_read_them(tmp_path):
    (ours,) = read(tmp_path, own([{"head": 0, "tail": 2, "relation": "met"}]))
    (theirs,) = read(tmp_path, docred([{"h": 0, "t": 2, "r": "met"}]))
    assert ours.negatives == theirs.negatives == ((0, 2, "met"),)
    assert ours.facts == theirs.facts == ()


@pytest.mark.parametrize(
    ("negative", "field", "expected"),
    [
        ({"head": 0, "tail": 3, "relation": "met"}, "negatives[0].tail", "an entity index below 3"),
        ({"head": 1, "tail": 1, "relation": "met"}, "negatives[0].tail", "two different entities"),
        ({"head": 0, "tail": 1, "relation": " "}, "negatives[0].relation", "the name of a relation"),
        ({"head": 0, "tail": 1, "relation": "saw"}, "negatives[0].relation", "a relation of the vocabulary"),
        ({"head": 0, "tail": 1}, "negatives[0].relation", "this field"),
        ({"head": 0, "tail": 1, "relation": "\ud800"}, "negatives[0].relation", "UTF-8"),
        ("no", "negatives[0]", "an object"),
    ],
)
def test_each_wrong_field_is_named(tmp_path, negative, field, expected):
    with pytest.raises(DataError) as caught:
        read(tmp_path, own([negative]), vocabulary=["met", "\ud800"])
    assert caught.value.defect.field == field
    assert expected in str(caught.value)


def test_what_is_a_fact_is_no_known_negative(tmp_path):
    fact = {"h": 0, "t": 1, "r": "met", "evidence": [0]}
    with pytest.raises(DataError, match=r"negatives\[0\].*which is a fact, too.*not both"):
        read(tmp_path, docred([{"h": 0, "t": 1, "r": "met"}], [fact]))


def test_one_noted_twice_is_kept_once_and_counted(tmp_path):
    log = DefectLog()
    negative = {"head": 0, "tail": 1, "relation": "met"}
    (document,) = read(tmp_path, own([negative, negative]), log=log)
    assert document.negatives == ((0, 1, "met"),)
    assert log.counts[DefectKind.DUPLICATE_FACT] == 1
    assert "negatives[1]" in str(log.examples[DefectKind.DUPLICATE_FACT][0])
