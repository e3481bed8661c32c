"""Suggestions survive their file, and a file that was tampered with is an error that names its place."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import CHARACTERS, corpora

from unnoted.data.synthetic import generate_documents
from unnoted.errors import DataError
from unnoted.suggestions import MissingLabels, Suggestion, SuggestionSet, Unlisted

RELATIONS = ["P17", "spouse", "chem_gene:affects^binding", "größer als"]
TEXTS = st.text(CHARACTERS, max_size=8)
SHARES = st.floats(0, 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def suggestion_sets(draw):
    documents = draw(corpora)
    suggestions = []
    for document in documents:
        indices = st.integers(0, max(len(document.entities) - 1, 0))
        places = st.tuples(indices, indices, st.sampled_from(RELATIONS)).filter(
            lambda place: place[0] != place[1]
        )
        for place in draw(st.lists(places, max_size=4, unique=True)) if len(document.entities) > 1 else []:
            sentences = st.lists(st.integers(0, len(document.sentences) - 1), max_size=3).map(tuple)
            suggestions.append(
                Suggestion(
                    document.id, *place, draw(st.none() | SHARES), draw(NUMBERS), draw(sentences),
                    draw(st.none() | TEXTS), place in document.labels,
                )
            )  # fmt: skip
    missing = st.builds(
        MissingLabels, st.sampled_from(RELATIONS), st.integers(0, 99), NUMBERS, NUMBERS, NUMBERS
    )
    return SuggestionSet(
        *(draw(TEXTS) for _ in range(4)),
        {relation: (draw(TEXTS), draw(TEXTS)) for relation in RELATIONS},
        {document.id: document for document in documents},
        tuple(draw(st.permutations(suggestions))),
        tuple(draw(st.lists(missing, max_size=3))),
        draw(st.builds(Unlisted, st.integers(0, 10**9), st.none() | NUMBERS)),
    )


@given(found=suggestion_sets(), name=st.sampled_from(["s.jsonl", "s.jsonl.gz"]))
@settings(max_examples=25, deadline=None)
def test_what_is_saved_is_loaded(found, name):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        found.save(path)
        loaded = SuggestionSet.load(path)
    assert loaded == found
    assert list(loaded.documents) == list(found.documents)


@pytest.fixture
def lines(tmp_path):
    """A file of one document and two suggestions, as parsed lines."""
    (document,) = generate_documents(1)
    first = document.facts[0]
    relations = {fact.relation: (fact.relation, "") for fact in document.facts} | {"other": ("other", "")}
    SuggestionSet(
        "a.json", "docred", "0" * 64, "m", relations, {document.id: document},
        (Suggestion(document.id, 0, 1, "other", 0.5, 0.25, (0,)), Suggestion(document.id, *first.triple, None, -1.0, labelled=True)),
        (MissingLabels("other", 3, 1.5, 0.5, 2.5),),
    ).save(tmp_path / "s.jsonl")  # fmt: skip
    return [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]


def put(line, key, value):
    def spoil(lines):
        lines[line][key] = value

    return spoil


def drop(line, key):
    def spoil(lines):
        del lines[line][key]

    return spoil


SPOILT = [
    (put(0, "unnoted", "priors"), "line 1: found .*, expected the first line of a file of suggestions, format 1"),
    (put(0, "format", 2), "expected the first line of a file of suggestions, format 1"),
    (drop(0, "source"), r"line 1\.source: found nothing, expected a string"),
    (put(0, "model", 3), r"line 1\.model: found 3, expected a string"),
    (put(0, "model", "\ud800"), "line 1: found .* expected characters that UTF-8 can hold"),
    (put(0, "relations", {"other": ["other"]}), r"line 1\.relations\.'other': found \['other'\], expected a list of a name"),
    (put(0, "documents", -1), r"line 1\.documents: found -1, expected 0 or more"),
    (put(0, "documents", 2), "line 3.id: found nothing, expected a string"),
    (put(0, "suggestions", 3), "found the end of the file after 2 suggestions, expected 3"),
    (put(0, "suggestions", 1), "line 4: found .*, expected the end of the file"),
    (put(0, "missing", [{"relation": "none", "labelled": 1}]), r"line 1\.missing\[0\]\.relation: found 'none'"),
    (put(0, "missing", [{"relation": "other", "labelled": 1, "missing": "1"}]), r"missing\[0\]\.missing: found '1', expected a number"),
    (put(0, "unlisted", {"candidates": 1, "expected": "x"}), r"line 1\.unlisted\.expected: found 'x', expected a number"),
    (put(1, "entities", 5), "entities: found 5, expected a list"),
    (put(2, "document", "elsewhere"), r"line 3\.document: found 'elsewhere', expected a document of this file"),
    (put(2, "head", 99), r"line 3\.head: found 99, expected an entity index below"),
    (put(2, "head", True), r"line 3\.head: found True, expected a whole number"),
    (put(2, "tail", 0), r"line 3\.tail: found the head, 0, expected another entity"),
    (put(2, "relation", "none"), r"line 3\.relation: found 'none', expected a relation of the first line"),
    (put(2, "probability", 1.5), r"line 3\.probability: found 1.5, expected 0 to 1, or null"),
    (drop(2, "confidence"), r"line 3\.confidence: found nothing, expected a number"),
    (put(2, "confidence", 1e999), "line 3: found .*Infinity is not JSON"),
    (put(2, "evidence", [99]), r"line 3\.evidence: found 99, expected sentences below"),
    (put(2, "rule", "\ud800"), "line 3: found .* expected characters that UTF-8 can hold"),
    (put(2, "labelled", True), r"line 3\.labelled: found True, expected false: the document has no such fact"),
    (drop(3, "labelled"), r"line 4\.labelled: found False, expected true: the document has that fact"),
    (lambda lines: lines.__setitem__(3, lines[2]), "line 4: found .* again, expected each suggestion once"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), SPOILT)
def test_a_spoilt_field_is_named(tmp_path, lines, spoil, message):
    path = tmp_path / "spoilt.jsonl"
    spoil(lines)
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        SuggestionSet.load(path)
    assert str(caught.value).startswith(str(path))


def test_an_empty_file_is_no_file_of_suggestions(tmp_path):
    (tmp_path / "s.jsonl").write_text("")
    with pytest.raises(DataError, match=r"line 1: found {}, expected the first line"):
        SuggestionSet.load(tmp_path / "s.jsonl")


@pytest.mark.slow
def test_two_hundred_thousand_suggestions_load_in_seconds(tmp_path):
    documents = {document.id: document for document in generate_documents(1000)}
    relations = {f"r{number}": (f"r{number}", "") for number in range(400)}
    pairs = ((document, relation) for relation in relations for document in documents)
    suggestions = tuple(
        Suggestion(document, 0, 1, relation, 0.5, 0.5, (0,)) for (document, relation), _ in zip(pairs, range(200_000), strict=False)
    )  # fmt: skip
    SuggestionSet("a", "docred", "0", "m", relations, documents, suggestions, ()).save(tmp_path / "s.jsonl")
    start = time.process_time()
    assert len(SuggestionSet.load(tmp_path / "s.jsonl").suggestions) == 200_000
    assert time.process_time() - start < 15
