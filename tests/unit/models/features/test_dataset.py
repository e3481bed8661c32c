import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.features import plain_features
from tests.unit.models.features.making import (
    RELATIONS,
    TYPES,
    chain_of,
    document_of,
    documents,
    patient,
    word_piece,
)

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Fact
from unnoted.errors import DataError
from unnoted.models.features import FeatureCache, FeatureReport, FeatureSet, dataset, featurise

type_pairs = st.frozensets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)))


def same(features: FeatureSet, others: FeatureSet) -> bool:
    """Whether two feature sets agree in everything that a user can see."""
    outside = ("relations", "candidates", "pad_token", "report")
    return all(getattr(features, name) == getattr(others, name) for name in outside) and [
        [np.asarray(getattr(row, name)).tolist() for name in row.__slots__] for row in features
    ] == [[np.asarray(getattr(row, name)).tolist() for name in row.__slots__] for row in others]


def facts_of(features: FeatureSet, index: int) -> set[tuple[int, int, str]]:
    row = features[index]
    return {
        (int(row.head[pair]), int(row.tail[pair]), features.relations[relation])
        for pair, relation in zip(row.fact_pair, row.fact_relation, strict=True)
    }


@patient
@given(corpus=st.lists(documents(), max_size=5))
def test_every_column_is_that_of_the_plain_implementation(corpus):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "DOCUMENTS_A_RECORD", 2)
        features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs())
    assert len(features) == len(corpus)
    for index, (row, document) in enumerate(zip(features, corpus, strict=True)):
        plain = plain_features(document, word_piece(), list(RELATIONS), "*")
        labels = np.zeros((len(row.head), len(RELATIONS)), dtype=bool)
        labels[row.fact_pair, row.fact_relation] = True
        assert (row.index, row.id, row.entities) == (index, document.id, len(document.entities))
        assert row.tokens.tolist() == plain.tokens
        assert list(zip(row.head.tolist(), row.tail.tolist(), strict=True)) == plain.pairs
        assert labels.tolist() == plain.labels
        evidence = zip(row.evidence_pair.tolist(), row.evidence_sentence.tolist(), strict=True)
        assert list(evidence) == plain.evidence
    assert features.token_counts.tolist() == [len(row.tokens) for row in features]
    assert features.pair_counts.tolist() == [CandidatePairs().count(document) for document in corpus]


@patient
@given(corpus=st.lists(documents(relations=(*RELATIONS, "strange")), max_size=4), allowed=type_pairs)
def test_every_fact_is_a_label_or_counted(corpus, allowed):
    rule = CandidatePairs(allowed)
    features = featurise(corpus, word_piece(), RELATIONS, rule)
    report = features.report
    noted = sum(len(document.facts) for document in corpus)
    assert noted == report.facts + report.left_out + report.repeated_facts
    for index, document in enumerate(corpus):
        row, pairs = (
            features[index],
            list(zip(*(side.tolist() for side in rule.index_pairs(document)), strict=True)),
        )
        assert list(zip(row.head.tolist(), row.tail.tolist(), strict=True)) == pairs
        expected = {fact.triple for fact in document.facts if fact.relation != "strange"}
        assert facts_of(features, index) == {triple for triple in expected if triple[:2] in pairs}
        assert len(row.fact_pair) == len(facts_of(features, index))
    assert report.documents == len(corpus)
    assert report.tokens == features.token_counts.sum()
    assert report.pairs == features.pair_counts.sum()


def test_the_report_names_what_was_left_out():
    facts = (
        Fact(0, 1, "born-in"),
        Fact(0, 1, "born-in", (0,)),
        Fact(1, 0, "born-in"),
        Fact(0, 1, "spouse"),
        Fact(0, 1, "spouse"),
        Fact(1, 1, "born-in"),
    )
    corpus = [document_of("a \x07 b", (0, 1), (1, 2), facts=facts)]
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(frozenset({("PER", "LOC")})))
    assert features.report.facts == 1
    assert features.report.left_out == 4
    assert features.report.lines() == [
        "1 fact(s) relate an entity to itself",
        "2 fact(s) of the unknown relation 'spouse'",
        "1 fact(s) between LOC:PER, no candidates",
        "1 fact(s) noted twice, kept once",
        "1 word(s) without a token",
    ]
    assert FeatureReport.from_json(features.report.to_json()) == features.report


@pytest.mark.parametrize("entities", [0, 1])
def test_documents_without_a_pair_are_kept(entities):
    features = featurise([chain_of(4, entities=entities)], word_piece(), RELATIONS, CandidatePairs())
    assert len(features) == 1
    assert len(features[0].head) == len(features[0].fact_pair) == 0
    assert features[0].entities == len(features[0].mention_position) == entities


def test_an_empty_corpus(tmp_path):
    for cache in (None, FeatureCache(tmp_path)):
        features = featurise([], word_piece(), RELATIONS, CandidatePairs(), cache)
        assert len(features) == len(features.token_counts) == 0
        assert features.relations == RELATIONS


@pytest.mark.parametrize("cached", [False, True])
def test_arrays_cannot_be_spoilt_and_copies_are_equal(cached, tmp_path):
    corpus = [chain_of(3, "one"), chain_of(5, "two")]
    cache = FeatureCache(tmp_path) if cached else None
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(), cache)
    with pytest.raises(ValueError, match="read-only"):
        features[1].tokens[0] = 9
    assert same(pickle.loads(pickle.dumps(features)), features)


def test_a_copy_of_cached_features_maps_the_file_instead_of_holding_it(tmp_path):
    corpus = [chain_of(3, "one"), chain_of(500, "two")]
    sizes = [
        len(pickle.dumps(featurise(corpus, word_piece(), RELATIONS, CandidatePairs(), cache)))
        for cache in (None, FeatureCache(tmp_path))
    ]
    assert sizes[0] > 2000 > sizes[1]


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_outside_the_corpus_is_refused(index):
    features = featurise([chain_of(3), chain_of(4)], word_piece(), RELATIONS, CandidatePairs())
    with pytest.raises(IndexError, match="the corpus has 2"):
        features[index]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            document_of("a b", (0, 1), facts=(Fact(0, 1, "born-in"),)),
            r"facts\[0\]: found entity 1, expected .* below 1",
        ),
        (document_of("a b", (0, 1), facts=(Fact(-1, 0, "born-in"),)), r"facts\[0\]: found entity -1"),
        (Document("\ud800", (("a",),), ()), "id: found .* expected valid Unicode"),
    ],
)
def test_a_document_that_points_outside_itself_is_refused_and_named(document, message):
    with pytest.raises(DataError, match=message):
        featurise([chain_of(3), document], word_piece(), RELATIONS, CandidatePairs())


def test_a_relation_named_twice_is_refused():
    with pytest.raises(ValueError, match="found 'b' twice"):
        featurise([], word_piece(), ["a", "b", "b"], CandidatePairs())


@pytest.mark.parametrize("sentence", [-1, 1])
def test_evidence_outside_of_the_document_is_named(sentence):
    document = document_of("a b c", (0, 1), (1, 2), facts=(Fact(0, 1, RELATIONS[0], (0, sentence)),))
    with pytest.raises(
        DataError, match=r"facts\[0\].evidence: found sentence .*, expected a sentence index below 1"
    ):
        featurise([document], word_piece(), RELATIONS, CandidatePairs())
