"""The features of real documents with a real tokenizer, against the plain implementation."""

from pathlib import Path

import pytest
from tests.reference.features import plain_features
from transformers import AutoTokenizer

from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.models.features import FeatureCache, featurise

SHARED = Path(__file__).parents[4] / "shared"
ENCODER = SHARED / "encoders" / "minilm"
TRAIN = SHARED / "data" / "docred" / "train_annotated.json"


@pytest.mark.shared
@pytest.mark.skipif(not (ENCODER.exists() and TRAIN.exists()), reason="../shared has no encoder or no DocRED")
def test_real_documents(tmp_path):
    corpus = load_documents(TRAIN)
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    relations = sorted({fact.relation for document in corpus for fact in document.facts})
    features = featurise(corpus, tokenizer, relations, CandidatePairs(), FeatureCache(tmp_path))
    assert features.report.left_out == 0
    assert features.report.facts == sum(len(document.facts) for document in corpus)
    assert features.report.empty_words > 0  # DocRED has a few words that BERT drops
    for index in range(0, len(corpus), 25):
        plain = plain_features(corpus[index], tokenizer, relations, "*")
        row = features[index]
        assert row.tokens.tolist() == plain.tokens
        assert row.mention_position.tolist() == [p for places in plain.positions for p in places]
        assert len(row.fact_pair) == sum(map(sum, plain.labels))
