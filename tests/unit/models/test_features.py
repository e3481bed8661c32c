import tracemalloc
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.features import plain_features
from tests.unit.models.factories import (
    RELATIONS,
    TYPES,
    chain_of,
    document_of,
    documents,
    patient,
    word_piece,
)
from transformers import AutoTokenizer

from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Fact
from unnoted.errors import DataError
from unnoted.models.batch import Collator
from unnoted.models.features import ARRAYS_BY_LENGTH, FeatureSet, featurise
from unnoted.models.samplers import RatioPairSampler, UniformPairSampler

type_pairs = st.frozensets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)))


def facts_of(features: FeatureSet, index: int) -> set[tuple[int, int, str]]:
    row = features[index]
    return {
        (int(row.head[pair]), int(row.tail[pair]), features.relations[relation])
        for pair, relation in zip(row.fact_pair, row.fact_relation, strict=True)
    }


@patient
@given(corpus=st.lists(documents(), max_size=5))
def test_every_column_equals_the_plain_implementation(corpus):
    features = featurise(corpus, word_piece(), RELATIONS)
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


def test_documents_are_featurised_in_parts(monkeypatch):
    corpus = [chain_of(length, f"d{length}") for length in range(3, 8)]
    whole = list(featurise(corpus, word_piece(), RELATIONS))
    monkeypatch.setattr("unnoted.models.features.DOCUMENTS_AT_ONCE", 2)
    parts = featurise(corpus, word_piece(), RELATIONS)
    assert [(row.index, row.id) for row in parts] == [(row.index, row.id) for row in whole]
    for name in chain.from_iterable(ARRAYS_BY_LENGTH.values()):
        for row, expected in zip(parts, whole, strict=True):
            assert getattr(row, name).tolist() == getattr(expected, name).tolist()
    assert parts[-1].id == "d7"
    with pytest.raises(IndexError):
        parts[len(corpus)]


def test_short_documents_take_little_memory():
    corpus = [chain_of(9, entities=2)] * 5_000
    featurise(corpus[:1], word_piece(), RELATIONS)
    tracemalloc.start()
    features = featurise(corpus, word_piece(), RELATIONS)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(features) < 400  # bytes


@patient
@given(corpus=st.lists(documents(relations=(*RELATIONS, "strange")), max_size=4), allowed=type_pairs)
def test_every_fact_is_a_label_or_counted(corpus, allowed):
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(allowed))
    report = features.report
    assert sum(len(d.facts) for d in corpus) == report.facts + report.left_out + report.repeated_facts
    for index, document in enumerate(corpus):
        row = features[index]
        pairs = list(zip(row.head.tolist(), row.tail.tolist(), strict=True))
        expected = {fact.triple for fact in document.facts if fact.relation != "strange"}
        assert facts_of(features, index) == {triple for triple in expected if triple[:2] in pairs}
        assert len(row.fact_pair) == len(facts_of(features, index))
    assert report.documents == len(corpus)
    assert report.pairs == features.pair_counts.sum()


def test_the_report_counts_what_was_left_out_by_reason():
    born, spouse = Fact(0, 1, "born-in"), Fact(0, 1, "spouse")
    facts = (born, Fact(0, 1, "born-in", (0,)), Fact(1, 0, "born-in"), spouse, spouse, Fact(1, 1, "born-in"))
    corpus = [document_of("a \x07 b", (0, 1), (1, 2), facts=facts)]
    report = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(frozenset({("PER", "LOC")}))).report
    assert (report.facts, report.self_facts, report.repeated_facts, report.empty_words) == (1, 1, 1, 1)
    assert (report.unknown_relations, report.excluded_types) == ({"spouse": 2}, {"LOC:PER": 1})
    assert len(report.lines()) == 5


@pytest.mark.parametrize("entities", [0, 1])
def test_documents_without_a_pair_are_kept(entities):
    [row] = featurise([chain_of(4, entities=entities)], word_piece(), RELATIONS)
    assert len(row.head) == len(row.fact_pair) == 0
    assert row.entities == len(row.mention_position) == entities


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (document_of("a b", (0, 1), facts=(Fact(0, 1, "born-in"),)), "facts[0].tail"),
        (document_of("a b", (0, 1), facts=(Fact(-1, 0, "born-in"),)), "facts[0].head"),
        (document_of("a b", (0, 1), (1, 2), facts=(Fact(0, 1, "born-in", (0, -1)),)), "facts[0].evidence"),
        (document_of("a b", (0, 1), (1, 2), facts=(Fact(0, 1, "born-in", (1,)),)), "facts[0].evidence"),
        (replace(chain_of(4), negatives=((0, 9, "part-of"),)), "negatives[0].tail"),
    ],
)
def test_document_that_points_outside_itself_is_located(document, field):
    with pytest.raises(DataError) as caught:
        featurise([chain_of(3), document], word_piece(), RELATIONS)
    assert (caught.value.defect.document, caught.value.defect.field) == (document.id, field)


def test_repeated_relation_is_refused():
    with pytest.raises(ValueError, match="'b'"):
        featurise([], word_piece(), ["a", "b", "b"])


@st.composite
def reviewed(draw):
    """Documents with explicit negatives, some of an unknown relation, some labelled too."""
    document = draw(documents(relations=(*RELATIONS, "strange")))
    cut = draw(st.integers(0, len(document.facts)))
    rejected = tuple(fact.triple for fact in document.facts[:cut])
    return replace(document, facts=document.facts[draw(st.integers(0, cut)) :], negatives=rejected)


def negatives_of(batch, index):
    slot = batch.entity_slot
    return {
        (int(slot[batch.head[pair]]), int(slot[batch.tail[pair]]), RELATIONS[relation])
        for pair, relation in zip(batch.negative_pair.tolist(), batch.negative_relation.tolist(), strict=True)
        if batch.pair_document[pair] == index
    }


few = settings(patient, max_examples=25)


@pytest.mark.parametrize("sampler", [None, UniformPairSampler(0.2), RatioPairSampler(0.1)])
@few
@given(corpus=st.lists(reviewed(), min_size=1, max_size=3))
def test_explicit_negatives_reach_the_batch_or_are_counted(sampler, corpus):
    features = featurise(corpus, word_piece(), RELATIONS, types=TYPES)
    batch = Collator(features, sampler)(list(features))
    useful = [
        {
            t
            for t in d.negatives
            if t[0] != t[1] and t[2] in RELATIONS and t not in {f.triple for f in d.facts}
        }
        for d in corpus
    ]
    assert [negatives_of(batch, index) for index in range(len(corpus))] == useful
    kept = sum(map(len, useful))
    ignored = sum(t not in each for d, each in zip(corpus, useful, strict=True) for t in d.negatives)
    assert features.report.ignored_negatives == ignored
    mask = batch.negatives()
    assert (mask is None) == (kept == 0)
    assert mask is None or (mask.sum() == kept and not (mask & batch.labels()).any())


SHARED = Path(__file__).parents[4] / "shared"
ENCODER = SHARED / "encoders" / "minilm"
TRAIN = SHARED / "data" / "docred" / "train_annotated.json"


@pytest.mark.shared
@pytest.mark.skipif(not (ENCODER.exists() and TRAIN.exists()), reason="../shared has no encoder or no DocRED")
def test_real_documents():
    corpus = load_documents(TRAIN)
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    relations = sorted({fact.relation for document in corpus for fact in document.facts})
    features = featurise(list(corpus), tokenizer, relations)
    assert features.report.left_out == 0
    assert features.report.facts == sum(len(document.facts) for document in corpus)
    assert features.report.empty_words > 0  # DocRED has a few words that BERT drops
    for index in range(0, len(corpus), 50):
        plain = plain_features(corpus[index], tokenizer, relations, "*")
        row = features[index]
        assert row.tokens.tolist() == plain.tokens
        assert row.mention_position.tolist() == [p for places in plain.positions for p in places]
        assert len(row.fact_pair) == sum(map(sum, plain.labels))
