"""The official prediction file: read as written, and every fault of it located."""

import json
import math

import pytest

from unnoted.data import DataError, DefectLog
from unnoted.data.formats.predictions import Prediction, read_predictions
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectKind

GOOD = {"title": "Ada", "h_idx": 0, "t_idx": 2, "r": "P26", "evidence": [0, 1], "score": 0.5}


def write(tmp_path, *records):
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(list(records)), "utf-8")
    return path


def test_good(tmp_path):
    bare = {key: GOOD[key] for key in ("title", "h_idx", "t_idx", "r")}
    assert list(read_predictions(write(tmp_path))) == []
    path = write(tmp_path, GOOD, bare, GOOD | {"score": 3})
    assert list(read_predictions(path)) == [
        Prediction("Ada", 0, 2, "P26", (0, 1), 0.5),
        Prediction("Ada", 0, 2, "P26"),
        Prediction("Ada", 0, 2, "P26", (0, 1), 3.0),
    ]


def test_what_does_not_exist_is_read_all_the_same(tmp_path):
    (prediction,) = read_predictions(write(tmp_path, GOOD | {"h_idx": -7, "t_idx": 10**9, "evidence": [-1]}))
    assert prediction.key == ("Ada", -7, 10**9, "P26") and prediction.evidence == (-1,)


@pytest.mark.parametrize(
    ("field", "value", "found", "expected"),
    [
        ("title", ..., "nothing", "this field"),
        ("title", "\ud800", "ud800", "UTF-8"),
        ("h_idx", "0", "'0'", "a whole number"),
        ("t_idx", True, "True", "a whole number"),
        ("r", None, "None", "a string"),
        ("evidence", 0, "0", "a list"),
        ("evidence", [0, "1"], "'1'", "a whole number"),
        ("score", "0.5", "'0.5'", "a finite number"),
        ("score", 10**400, "1000", "a finite number"),
    ],
)
def test_a_bad_field_is_located(tmp_path, field, value, found, expected):
    bad = {key: GOOD[key] for key in GOOD if key != field} if value is ... else GOOD | {field: value}
    with pytest.raises(DataError) as caught:
        list(read_predictions(write(tmp_path, GOOD, bad)))
    message = str(caught.value)
    assert "predictions.json: " in message and f"[1].{field}" in message
    before, _, after = message.rpartition(", expected")
    assert found in before and expected in after
    assert field == "title" or "document 'Ada'" in message


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[1]", '[{"title"', json.dumps([GOOD]) + "x"),
        json.dumps([GOOD | {"score": math.nan}]),
        json.dumps([GOOD]).replace("0.5", "1e999"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path, text):
    path = tmp_path / "predictions.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"predictions\.json: .*, expected "):
        list(read_predictions(path))


def test_unknown_fields_are_counted(tmp_path):
    log = DefectLog()
    assert len(list(read_predictions(write(tmp_path, GOOD | {"colour": "red"}), log))) == 1
    assert log.counts == {DefectKind.IGNORED_FIELD: 1}
    with pytest.raises(DataError, match=r"\[0\]\.colour"):
        list(read_predictions(write(tmp_path, GOOD | {"colour": "red"}), DefectLog(strict=True)))


def test_collecting_goes_on_after_an_error(tmp_path):
    log = DefectLog(collect=True)
    assert len(list(read_predictions(write(tmp_path, {}, GOOD, 3, GOOD), log))) == 2
    assert log.counts == {DefectKind.MALFORMED: 2}


@pytest.mark.parametrize(
    "first", [b"document,head", b"2 facts", b"<!DOCTYPE html>", b"<?xml", b"PAR1\xf0\xff"]
)
def test_results_in_other_formats_are_refused_by_what_is_read(tmp_path, first):
    path = tmp_path / "facts"
    path.write_bytes(first)
    with pytest.raises(
        DataError, match=r"\.json or \.jsonl of `unnoted predict`, or a DocRED prediction file"
    ):
        list(read_predictions(path))


FACTS = [{"head": 0, "tail": 1, "relation": "met", "score": 0.5}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([GOOD]),
        json.dumps([{"id": "1", "facts": FACTS}]),
        json.dumps({"id": "1", "facts": FACTS * 2000}),
        json.dumps({"id": "1", "facts": []}) + "\n",
    ],
)
def test_predictions_are_refused_as_documents(tmp_path, text):
    path = tmp_path / "results"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match="these are predictions"):
        list(stream_documents(path))


def test_documents_may_have_their_entities_after_their_facts(tmp_path):
    fact = {"head": 0, "tail": 1, "relation": "met"}
    entities = [
        {"type": "PER", "mentions": [{"start": start, "end": end}]} for start, end in ((0, 3), (8, 10))
    ]
    record = {"id": "1", "facts": [fact] * 2000, "text": "Ada met Bo.", "entities": entities}
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    assert [len(document.facts) for document in stream_documents(path)] == [1]
