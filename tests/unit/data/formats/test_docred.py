"""DocRED JSON: every corrupted field gives an error that says where it is."""

import copy
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import word_documents

from unnoted.data import DataError, RelationVocabulary, load_documents, stream_documents
from unnoted.data.formats.docred import record
from unnoted.errors import DefectKind

GOOD = {
    "title": "Ada",
    "sents": [["Ada", "Lorne", "met", "Bo", "."], ["Bo", "lives", "in", "Kelm", "."]],
    "vertexSet": [
        [{"name": "Ada Lorne", "pos": [0, 2], "sent_id": 0, "type": "PER"}],
        [
            {"name": "Bo", "pos": [3, 4], "sent_id": 0, "type": "PER", "global_pos": [3, 3], "index": "1_0"},
            {"name": "Bo", "pos": [0, 1], "sent_id": 1, "type": "PER"},
        ],
        [{"name": "Kelm", "pos": [3, 4], "sent_id": 1, "type": "LOC"}],
    ],
    "labels": [
        {"h": 1, "t": 2, "r": "P551", "evidence": [1]},
        {"h": 0, "t": 1, "r": "P3373", "evidence": []},
    ],
}


def read(tmp_path, *records, log=None, **options):
    path = tmp_path / "train.json"
    path.write_text(json.dumps(list(records)), "utf-8")
    return load_documents(path, log=log, **options)


def changed(path, value):
    """GOOD with the field at `path` replaced, or removed where value is ..."""
    broken = copy.deepcopy(GOOD)
    place = broken
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return broken


def test_good_document(tmp_path):
    corpus = read(tmp_path, GOOD)
    assert corpus[0].entities[1].names == {"Bo"}
    assert corpus[0].facts[0].triple == (1, 2, "P551")
    assert corpus.relations.ids == ("P3373", "P551")
    assert corpus.log.counts == {DefectKind.NO_EVIDENCE: 1}


@pytest.mark.parametrize(
    ("path", "value", "found", "expected"),
    [
        (["title"], "", "an empty string", "title"),
        (["sents"], ..., "nothing", "this field"),
        (["sents", 1], "Bo lives", "'Bo lives'", "a list"),
        (["vertexSet", 0], [], "no mention", "at least one mention"),
        (["vertexSet", 0, 0, "pos"], [4, 6], "4 to 6", "<= 5, the words of sentence 0"),
        (["vertexSet", 0, 0, "pos"], [0], "[0]", "[start, end]"),
        (["vertexSet", 0, 0, "pos"], [0, True], "True", "a whole number"),
        (["vertexSet", 1, 1, "sent_id"], 2, "2", "a sentence from 0 to 1"),
        (["vertexSet", 1, 1, "type"], ..., "nothing", "this field"),
        (["labels", 0, "h"], 3, "3", "an entity index below 3"),
        (["labels", 0, "t"], 1, "head and tail both 1", "two different entities"),
        (["labels", 0, "evidence"], [2], "2", "sentences below 2"),
        (["labels"], {}, "{}", "a list"),
        (["sents", 0, 0], "\ud800", "ud800", "UTF-8"),
    ],
)
def test_a_corrupted_field_is_located(tmp_path, path, value, found, expected):
    with pytest.raises(DataError) as caught:
        read(tmp_path, changed(path, value))
    message = str(caught.value)
    assert "train.json" in message
    before, _, _ = message.rpartition(", expected")
    assert found in before
    assert expected in message.partition("expected")[2]
    if path[0] != "title" and value != "\ud800":
        assert "'Ada'" in message
        assert path[0] in message


def test_unknown_relation_names_the_nearest(tmp_path):
    vocabulary = RelationVocabulary(("P552", "P3373"))
    with pytest.raises(DataError, match=r"labels\[0\]\.r: 'P551'.*nearest: 'P552'"):
        read(tmp_path, GOOD, vocabulary=vocabulary)


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        (["labels", 1], GOOD["labels"][0], DefectKind.DUPLICATE_FACT),
        (["vertexSet", 1, 1], GOOD["vertexSet"][1][0], DefectKind.DUPLICATE_MENTION),
        (["vertexSet", 0, 0, "name"], "Ida Lorne", DefectKind.NAME_MISMATCH),
        (["vertexSet", 0, 0, "colour"], "red", DefectKind.IGNORED_FIELD),
        (["labels", 0, "sure"], 0.4, DefectKind.IGNORED_FIELD),
        (["source"], "wiki", DefectKind.IGNORED_FIELD),
    ],
)
def test_defects_are_counted_and_are_errors_when_strict(tmp_path, path, value, kind):
    broken = changed(path, value)
    assert read(tmp_path, broken).log.counts[kind] == 1
    with pytest.raises(DataError, match="'Ada'"):
        read(tmp_path, broken, strict=True)


def test_notes_are_no_errors_when_strict(tmp_path):
    mixed = changed(["vertexSet", 1, 1, "type"], "ORG")
    assert read(tmp_path, mixed, {"title": "B", "sents": [], "vertexSet": []}, strict=True).log.counts == {
        DefectKind.MIXED_TYPES: 1,
        DefectKind.NO_EVIDENCE: 1,
        DefectKind.NO_FACTS: 1,
        DefectKind.NO_ENTITIES: 1,
    }


def places(value, path=()):
    """Every path into a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


OTHER_TYPES = [None, True, 1.5, "x", 7, [], {}]
OPTIONAL = {"labels", "evidence", "id", "text"}


@given(document=word_documents(), data=st.data())
def test_any_single_corrupted_field_gives_a_located_error(document, data):
    fields = json.loads(json.dumps(record(document)))
    path = data.draw(st.sampled_from([path for path in places(fields) if path]))
    owner = fields
    for key in path[:-1]:
        owner = owner[key]
    old = owner[path[-1]]
    wrong = [value for value in OTHER_TYPES if type(value) is not type(old)]
    if path[-1] in ("title", "id"):
        wrong.remove(7)  # which is read as a string
    if type(old) is int:
        wrong += [-1, 10**9]
    removable = isinstance(owner, dict) and path[-1] not in OPTIONAL
    value = data.draw(st.sampled_from([*wrong, ...] if removable else wrong))
    if value is ...:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    with TemporaryDirectory() as folder:
        file = Path(folder) / "broken.json"
        file.write_text(json.dumps([fields]), "utf-8")
        with pytest.raises(DataError) as caught:
            list(stream_documents(file))
    assert "broken.json: " in str(caught.value)
    assert caught.value.defect.field is not None
    if path[0] != "title":
        assert caught.value.defect.document == document.id
