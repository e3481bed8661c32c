"""Which facts are predicted, and their evidence."""

import numpy as np
import pytest
import torch
from tests.reference.batches import random_batch
from tests.unit.inference.making import corpus, document_of, reading_model, tokenizer

from unnoted.data.document import Entity, Mention
from unnoted.inference import DecisionOptions, Extractor, scoring
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.tokenization import DocumentTokenizer


def plain_owner(document):
    """The sentence of each token, one word after the other; None for start and end token."""
    owner = [None]
    for number, words in enumerate(document.sentences):
        here = [m for entity in document.entities for m in entity.mentions if m.sentence == number]
        for place, word in enumerate(words):
            owner += [number] * any(mention.start == place for mention in here)
            owner += [number] * len(tokenizer().backend_tokenizer.encode(word, add_special_tokens=False).ids)
            owner += [number] * any(mention.end == place + 1 for mention in here)
    return [*owner, None]


def plain_shares(attention, document, head, tail):
    """Each sentence's share of the products of two entities' attention, token by token."""
    owner = plain_owner(document)
    heads, mass = attention.shape[1], [0.0] * len(document.sentences)
    means = attention[head], attention[tail]
    for token, sentence in enumerate(owner):
        if sentence is not None:
            mass[sentence] += (
                sum(float(means[0][h, token] * means[1][h, token]) for h in range(heads)) / heads
            )
    total = sum(mass)  # 0 where no window holds both
    return [value / total if total else 0.0 for value in mass]


def test_tokens_of_sentences():
    documents = corpus()[:6]
    features = featurise(documents, tokenizer(), ("r",), reading_model().candidates)
    batch = Collator(features)(list(features))
    width, most = max(batch.lengths), max(len(document.sentences) for document in documents)
    assert batch.sentences == most
    for document, row, made in zip(documents, batch.token_sentence.tolist(), features, strict=True):
        expected = [most if sentence is None else sentence for sentence in plain_owner(document)]
        assert len(made.tokens) == len(expected)
        assert row == expected + [most] * (width - len(expected))


def test_sentences_may_be_empty():
    document = document_of("d", "", "Ada came", "", entities=[[(1, 0, 1)], [(1, 1, 2)]])
    counts = DocumentTokenizer(tokenizer())([document])[0].sentence_tokens
    assert counts[0] == counts[2] == 0 < counts[1]
    (found,) = Extractor(reading_model()).extract([document], threshold=0.0)
    assert {fact.evidence for fact in found.facts} == {(1,)}


@pytest.mark.parametrize("piece", [1, 2**22])
def test_shares(monkeypatch, piece):
    monkeypatch.setattr(scoring, "MAX_PRODUCTS", piece)
    model, documents = reading_model(positions=60), corpus()[:2]
    features = featurise(documents, tokenizer(), ("r",), model.candidates)
    batch = Collator(features)(list(features))
    most = max(len(document.sentences) for document in documents)
    with torch.no_grad():
        encoded = model.encoder(batch)
        pair = torch.arange(0, batch.pairs, 7)
        found = scoring.attention_shares(encoded.entity_attention, batch, pair)
    assert found.shape == (len(pair), most)
    for row, number in zip(found, pair, strict=True):
        document = documents[batch.pair_document[number]]
        expected = plain_shares(encoded.entity_attention, document, batch.head[number], batch.tail[number])
        assert row.tolist() == pytest.approx(expected + [0.0] * (most - len(expected)), abs=1e-12)


def test_attentions_that_do_not_meet_support_nothing():
    model, documents = reading_model(), corpus()[:1]
    features = featurise(documents, tokenizer(), ("r",), model.candidates)
    batch = Collator(features)([features[0]])
    attention = torch.zeros(len(batch.entity_document), 2, batch.lengths[0])
    shares = scoring.attention_shares(attention, batch, torch.tensor([0, 1]))
    assert shares.isfinite().all() and not shares.any()


def mentioned(*sentences):
    return Entity(tuple(Mention(sentence, 0, 1, "PER", "x") for sentence in sentences))


@pytest.mark.parametrize(
    ("head", "tail", "shares", "expected"),
    [
        ((0,), (3,), [0.4, 0.1, 0.2, 0.3], (0, 2, 3)),  # at least half of 0.4
        ((0,), (3,), [0.9, 0.02, 0.04, 0.04], (0,)),
        ((0, 2), (2,), [0.9, 0.05, 0.0, 0.05], (2,)),  # both are mentioned in 2
        ((0,), (3,), [0.25, 0.25, 0.25, 0.25], (0, 1, 2)),  # of equals the first
        ((0, 1, 2, 3), (0, 1, 2, 3), [0.1, 0.3, 0.2, 0.4], (1, 2, 3)),  # of four, the most attended
        ((0,), (1,), [0.0, 0.0, 0.0, 0.0], ()),
        ((1,), (1,), [0.0, 0.0, 0.0, 0.0], (1,)),
    ],
)
def test_the_rule(head, tail, shares, expected):
    assert scoring.supporting_sentences(mentioned(*head), mentioned(*tail), np.array(shares)) == expected


def test_facts_carry_their_sentences():
    (found,) = Extractor(reading_model()).extract([corpus()[0]])
    document = found.document
    for fact in found.facts:
        head, tail = (
            {mention.sentence for mention in document.entities[end].mentions}
            for end in (fact.head, fact.tail)
        )
        assert len(fact.evidence) <= 3 and list(fact.evidence) == sorted(set(fact.evidence))
        assert len(head & tail & set(fact.evidence)) == min(3, len(head & tail))
    shown = found.to_json()["facts"][0]
    assert shown["sentences"] == [" ".join(document.sentences[number]) for number in shown["evidence"]]


def test_without_attention_a_sentence_counts_by_its_mentions():
    batch = random_batch([40, 30], [4, 3], mentions=3)
    pair = torch.arange(0, batch.pairs, 2)
    shares = scoring.mention_shares(batch, pair)
    for row, number in enumerate(pair.tolist()):
        sides = (int(batch.head[number]), int(batch.tail[number]))
        places = [
            int(sentence)
            for sentence, entity in zip(batch.mention_sentence, batch.mention_entity, strict=True)
            if int(entity) in sides
        ]
        expected = [places.count(sentence) / len(places) for sentence in range(batch.sentences)]
        assert shares[row].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "values",
    [
        {"threshold": 1.5},
        {"threshold": float("nan")},
        {"target_precision": -0.1},
        {"target_recall": 2},
        {"threshold": 0.5, "target_recall": 0.5},
        {"target_precision": 0.5, "target_recall": 0.5},
    ],
)
def test_bad_options_are_refused(values):
    with pytest.raises(ValueError, match=next(iter(values))):
        DecisionOptions(**values)


@pytest.mark.parametrize("target", [{"target_precision": 0.9}, {"target_recall": 0.5}])
def test_targets_need_a_calibrated_model(target):
    with pytest.raises(ValueError, match="not calibrated"):
        Extractor(reading_model()).extract([corpus()[0]], threshold=DecisionOptions(**target))
