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
from unnoted.suggestions import BelowCutoff, MissingLabels, Suggestion, SuggestionSet

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
                    document.id, *place, draw(SHARES), draw(sentences),
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
        draw(st.builds(BelowCutoff, st.integers(0, 10**9), st.none() | NUMBERS)),
        draw(st.booleans()),
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
        (Suggestion(document.id, 0, 1, "other", 0.5, (0,)), Suggestion(document.id, *first.triple, 0.1, labelled=True)),
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
    (put(0, "unnoted", "priors"), "line 1"),
    (drop(0, "source"), "line 1.source"),
    (put(0, "model", 3), "line 1.model"),
    (put(0, "model", "\ud800"), "line 1"),
    (put(0, "relations", {"other": ["other"]}), "line 1.relations.other.1"),
    (put(0, "documents", -1), "line 1.documents"),
    (put(0, "documents", 2), "line 3.id"),
    (put(0, "suggestions", 3), None),
    (put(0, "suggestions", 1), "line 4"),
    (put(0, "missing", [{"relation": "none", "labelled": 1, "missing": 1, "low": 1, "high": 1}]), "line 1.missing[0].relation"),
    (put(0, "missing", [{"relation": "other", "labelled": 1, "missing": "1"}]), "line 1.missing.0.missing"),
    (put(0, "below_cutoff", {"candidates": 1, "expected": "x"}), "line 1.below_cutoff.expected"),
    (put(1, "entities", 5), "entities"),
    (put(2, "document", "elsewhere"), "line 3.document"),
    (put(2, "head", 99), "line 3.head"),
    (put(2, "head", True), "line 3.head"),
    (put(2, "head", -1), "line 3.head"),
    (put(2, "tail", 0), "line 3.tail"),
    (put(2, "relation", "none"), "line 3.relation"),
    (put(2, "score", 1.5), "line 3.score"),
    (put(2, "score", "0.5"), "line 3.score"),
    (drop(2, "score"), "line 3.score"),
    (put(2, "score", 1e999), "line 3"),
    (put(2, "evidence", [99]), "line 3.evidence"),
    (put(2, "rule", "\ud800"), "line 3"),
    (put(2, "unknown", 1), "line 3.unknown"),
    (put(2, "labelled", True), "line 3.labelled"),
    (drop(3, "labelled"), "line 4.labelled"),
    (lambda lines: lines.__setitem__(3, lines[2]), "line 4"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "place"), SPOILT)
def test_a_spoilt_field_is_located(tmp_path, lines, spoil, place):
    path = tmp_path / "spoilt.jsonl"
    spoil(lines)
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with pytest.raises(DataError) as caught:
        SuggestionSet.load(path)
    assert (caught.value.defect.file, caught.value.defect.field) == (str(path), place)


def test_an_empty_file_is_no_file_of_suggestions(tmp_path):
    (tmp_path / "s.jsonl").write_text("")
    with pytest.raises(DataError) as caught:
        SuggestionSet.load(tmp_path / "s.jsonl")
    assert caught.value.defect.field == "line 1"


@pytest.mark.slow
def test_two_hundred_thousand_suggestions_load_in_seconds(tmp_path):
    documents = {document.id: document for document in generate_documents(1000)}
    relations = {f"r{number}": (f"r{number}", "") for number in range(400)}
    pairs = ((document, relation) for relation in relations for document in documents)
    suggestions = tuple(
        Suggestion(document, 0, 1, relation, 0.5, (0,)) for (document, relation), _ in zip(pairs, range(200_000), strict=False)
    )  # fmt: skip
    SuggestionSet("a", "docred", "0", "m", relations, documents, suggestions, ()).save(tmp_path / "s.jsonl")
    start = time.process_time()
    assert len(SuggestionSet.load(tmp_path / "s.jsonl").suggestions) == 200_000
    assert time.process_time() - start < 15
