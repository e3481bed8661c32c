"""Labelled priors of a corpus, and relation vocabularies from files."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from tests.strategies import corpora

from unnoted.data import (
    CandidatePairs,
    Corpus,
    DataError,
    Document,
    Entity,
    Fact,
    Mention,
    RelationVocabulary,
)


@given(corpora)
def test_labelled_priors_equal_a_plain_count(documents):
    vocabulary = RelationVocabulary(("P17", "spouse", "unseen"))
    for rule in (CandidatePairs(), CandidatePairs.from_facts(documents)):
        corpus = Corpus(tuple(documents), vocabulary, rule)
        pairs = [(d, pair) for d in documents for pair in zip(*rule.index_pairs(d), strict=True)]
        counts = [sum((*pair, relation) in d.labels for d, pair in pairs) for relation in vocabulary]
        expected = tuple(float(Fraction(count, max(len(pairs), 1))) for count in counts)
        if 1.0 in expected:  # no pair is unlabelled: there is no such prior
            with pytest.raises(DataError):
                _ = corpus.labelled_priors
        else:
            assert corpus.labelled_priors.labelled == corpus.labelled_priors.overall == expected


def test_a_corpus_without_labels_has_no_priors():
    corpus = Corpus((Document("d", (("a",),), ()),), RelationVocabulary(()), CandidatePairs())
    with pytest.raises(DataError):
        _ = corpus.labelled_priors


@given(corpora)
def test_a_slice_keeps_relations_and_candidates(documents):
    corpus = Corpus(tuple(documents), RelationVocabulary.from_documents(documents), CandidatePairs())
    part = corpus[1:]
    assert list(part) == documents[1:] and part.relations == corpus.relations
    assert corpus[0] is documents[0] and len(corpus) == len(documents)


def test_priors_that_explicit_negatives_contradict_are_refused():
    people = tuple(Entity((Mention(0, at, at + 1, "PER", "a"),)) for at in range(2))
    document = Document("d", (("a", "b"),), people, (Fact(0, 1, "met"),), negatives=((1, 0, "met"),))
    corpus = Corpus((document,), RelationVocabulary(("met",)), CandidatePairs())
    assert corpus.labelled_priors.labelled == (0.5,)  # of two pairs, the rejected one included
    corpus.check_priors(corpus.labelled_priors)
    with pytest.raises(DataError) as caught:
        corpus.check_priors(corpus.labelled_priors * 1.2)
    assert caught.value.defect.field == "relation 'met'" and "0.6" in caught.value.defect.found


def read(tmp_path, content):
    path = tmp_path / "relations.json"
    path.write_text(json.dumps(content))
    return RelationVocabulary.from_file(path)


@pytest.mark.parametrize(
    ("content", "vocabulary"),
    [
        (["P17", "P26"], RelationVocabulary(("P17", "P26"))),
        ({"P17": "country"}, RelationVocabulary(("P17",), {"P17": "country"})),
        ({"P26": 2, "Na": 0, "P17": 1}, RelationVocabulary(("P17", "P26"))),
        ({"P26": 1, "P17": 0}, RelationVocabulary(("P17", "P26"))),
        ({"P26": 2, "P17": 1}, RelationVocabulary(("P17", "P26"))),
        (
            {"P17": {"name": "country", "description": "Where it lies."}, "P26": "spouse", "P1": {}, "P2": {"name": " "}},
            RelationVocabulary(
                ("P17", "P26", "P1", "P2"), {"P17": "country", "P26": "spouse"}, {"P17": "Where it lies."}
            ),
        ),
    ],
)  # fmt: skip
def test_every_form_of_a_relation_file(tmp_path, content, vocabulary):
    assert read(tmp_path, content) == vocabulary


@pytest.mark.parametrize(
    ("content", "place", "found"),
    [
        ({"P1": {"nane": "x"}}, "relation 'P1'", "'nane': 'x'"),
        ({"P1": {"name": 3}}, "relation 'P1'", "'name': 3"),
        ({"P1": {"name": "x"}, "P2": 4}, "relation 'P2'", "'name': 4"),
        ({"P1": [1]}, "relation 'P1'", "'name': [1]"),
        (7, None, "7"),
        (["P1", "P1"], None, "a relation that is listed twice"),
        (["P1", " "], None, "a relation without a name"),
        ({"P1": 1, "P2": 1}, "relation 'P2'", "1"),  # two relations, one column
        ({"Na": 0, "P1": 1, "P2": 3}, "relation 'P2'", "3"),  # a column without a relation
        ({"P1": 5, "P2": 6}, "relation 'P1'", "5"),
        ({"P1": -1, "P2": 0}, "relation 'P1'", "-1"),
    ],
)
def test_what_is_no_vocabulary_is_located(tmp_path, content, place, found):
    with pytest.raises(DataError) as caught:
        read(tmp_path, content)
    defect = caught.value.defect
    assert defect.file.endswith("relations.json")
    assert (defect.field, defect.found) == (place, found)


@pytest.mark.parametrize("content", ['{"a": 1, "a": 2}', '["\\ud800"]', f'{{"a": {"1" * 5000}}}', "[1"])
def test_what_is_no_json_is_refused(tmp_path, content):
    path = tmp_path / "relations.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"relations\.json"):
        RelationVocabulary.from_file(path)
