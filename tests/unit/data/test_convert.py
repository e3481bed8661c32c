"""Converting files between formats, and splitting a corpus."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.data import Document
from unnoted.data.convert import convert_files, split_documents
from unnoted.data.formats import detect_format


def test_what_another_format_has_no_place_for_is_told(tmp_path):
    mention = [{"start": 0, "end": 3}]
    entities = [
        {"id": "Q1", "type": "PER", "mentions": mention},
        {"type": "PER", "mentions": [{"start": 8, "end": 10}]},
    ]
    fact = {"head": 0, "tail": 1, "relation": "met", "evidence": [0]}
    record = {"id": "1", "text": "Ada met Bo.", "entities": entities, "facts": [fact], "mine": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    told = {
        format: convert_files([tmp_path / "a.jsonl"], tmp_path / format, format).lost
        for format in ("docred", "brat", "columns")
    }
    unknown = "1 unknown field (mine)"
    assert told["docred"] == [unknown]
    assert told["brat"] == ["1 fact's evidence", unknown]
    assert told["columns"] == ["1 text", "1 fact's evidence", unknown]
    back = convert_files([tmp_path / "brat"], tmp_path / "b.jsonl")
    assert back.lost == []
    (tmp_path / "brat" / "1.ann").open("a").write("A1\tSure T1\n")
    assert convert_files([tmp_path / "brat"], tmp_path / "c.jsonl").lost == [
        "1 annotation of kinds that are not used here"
    ]


@pytest.mark.parametrize("name", ["a.spacy.gz", "a.csv", "a.json.bz2"])
def test_names_that_would_say_something_wrong_are_refused(tmp_path, name):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "It rained.", "entities": []}')
    with pytest.raises(ValueError, match=name):
        convert_files([tmp_path / "a.jsonl"], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_any_name_will_do_where_the_format_is_given(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "It rained.", "entities": []}')
    convert_files([tmp_path / "a.jsonl"], tmp_path / "a.csv", "docred")
    assert detect_format(tmp_path / "a.csv").key == "docred"


# Random splits ------------------------------------------------------------------------------------------------


@given(st.integers(2, 60), st.integers(), st.floats(0.1, 0.9))
def test_split_parts_are_disjoint_and_whole(count, seed, share):
    documents = [Document(str(number), (), ()) for number in range(count)]
    try:
        parts = split_documents(documents, [share, 1 - share], seed)
    except ValueError as error:
        assert "a part would be empty" in str(error) and min(share, 1 - share) * count < 1
        return
    assert sorted(int(d.id) for part in parts for d in part) == list(range(count))
    assert abs(len(parts[0]) - share * count) <= 0.5 + 1e-9
    assert parts == split_documents(documents, [share, 1 - share], seed)


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [1.5, -0.5]])
def test_impossible_splits_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        split_documents([], shares)
