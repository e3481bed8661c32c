import math
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.features import plain_features
from tests.unit.models.features.making import RELATIONS, chain_of, documents, patient, word_piece
from torch.utils.data import DataLoader

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.models.features import (
    Batch,
    Collator,
    Epoch,
    FeatureSet,
    PairSample,
    UnlabelledPerLabelled,
    UnlabelledSample,
    featurise,
)

torch.set_num_threads(1)

corpora = st.lists(documents(), min_size=1, max_size=4)
rates = st.floats(0.01, 1)
KNOWN = ("LOC", "PER")
"""Types that are told apart; one that the documents have is not among them."""


def features_of(corpus: list[Document]) -> FeatureSet:
    return featurise(corpus, word_piece(), RELATIONS, CandidatePairs(), types=KNOWN)


def batch_of(corpus: list[Document], unlabelled: PairSample | None = None) -> Batch:
    features = features_of(corpus)
    return Collator.of(features, unlabelled)(list(features))


def tensors(batch: Batch) -> dict[str, torch.Tensor]:
    values = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}


def pairs_of(batch: Batch, document: int) -> dict[tuple[int, int], tuple[float, list[bool]]]:
    """Weight and labels of each pair of one document."""
    slot, labels = batch.entity_slot.tolist(), batch.labels().tolist()
    return {
        (slot[batch.head[row]], slot[batch.tail[row]]): (float(batch.pair_weight[row]), labels[row])
        for row in range(batch.pairs)
        if batch.pair_document[row] == document
    }


def vars_of(batch):
    """The columns that say something of each mention."""
    names = ("mention_position", "mention_end", "mention_sentence", "mention_type")
    return [(name, getattr(batch, name)) for name in names]


@patient
@given(corpora)
def test_a_batch_holds_what_the_plain_implementation_says(corpus):
    batch = batch_of(corpus)
    plain = [plain_features(document, word_piece(), list(RELATIONS), "*") for document in corpus]
    entity_of_mention = batch.mention_entity.tolist()
    for row, (document, expected) in enumerate(zip(corpus, plain, strict=True)):
        length = batch.lengths[row]
        assert batch.input_ids[row, :length].tolist() == expected.tokens
        assert (batch.input_ids[row, length:] == word_piece().pad_token_id).all()
        assert batch.attention_mask[row].tolist() == [1] * length + [0] * (batch.input_ids.shape[1] - length)
        entities = [e for e, d in enumerate(batch.entity_document.tolist()) if d == row]
        assert batch.entity_slot[entities].tolist() == list(range(len(document.entities)))
        places = {
            name: [
                [int(column[m]) for m, owner in enumerate(entity_of_mention) if owner == entity]
                for entity in entities
            ]
            for name, column in vars_of(batch)
        }
        assert places["mention_position"] == expected.positions
        assert places["mention_end"] == expected.ends
        assert places["mention_sentence"] == [[m.sentence for m in e.mentions] for e in document.entities]
        assert places["mention_type"] == [
            [KNOWN.index(m.type) + 1 if m.type in KNOWN else 0 for m in e.mentions] for e in document.entities
        ]
        mine = [m for m, owner in enumerate(entity_of_mention) if owner in entities]
        assert batch.mention_slot[mine].tolist() == list(range(len(mine)))
        found = pairs_of(batch, row)
        assert list(found) == expected.pairs
        assert [labels for _, labels in found.values()] == expected.labels
        assert all(weight == 1 for weight, _ in found.values())
        own = (batch.pair_document == row).nonzero()[:, 0].tolist()
        both = zip(batch.evidence_pair.tolist(), batch.evidence_sentence.tolist(), strict=True)
        assert [(pair - own[0], sentence) for pair, sentence in both if pair in own] == expected.evidence
    assert batch.documents == tuple(document.id for document in corpus)
    assert batch.relations == len(RELATIONS)
    assert batch.input_ids.shape[1] == max(batch.lengths)
    assert batch.entities == max(len(document.entities) for document in corpus)
    assert batch.mentions == max(sum(len(e.mentions) for e in document.entities) for document in corpus)


@patient
@given(corpora)
def test_tensors_have_the_types_of_the_contract(corpus):
    batch = batch_of(corpus)
    for name, tensor in tensors(batch).items():
        assert tensor.dtype == (torch.float32 if name == "pair_weight" else torch.int64), name


@patient
@given(corpora, rates)
def test_a_sample_keeps_the_labelled_pairs_and_the_sum_of_weights(corpus, rate):
    whole, sampled = batch_of(corpus), batch_of(corpus, UnlabelledSample(rate))
    for row in range(len(corpus)):
        pairs, kept = pairs_of(whole, row), pairs_of(sampled, row)
        labelled = {pair for pair, (_, labels) in pairs.items() if any(labels)}
        unlabelled = len(pairs) - len(labelled)
        expected = max(1, round(rate * unlabelled)) if unlabelled else 0
        assert labelled <= set(kept) <= set(pairs)
        assert list(kept) == [pair for pair in pairs if pair in kept]
        assert len(kept) - len(labelled) == expected
        assert all(kept[pair] == (1.0, pairs[pair][1]) for pair in labelled)
        assert sum(weight for weight, _ in kept.values()) == pytest.approx(len(pairs), rel=1e-6)


@patient
@given(corpora)
def test_a_sample_of_all_is_everything(corpus):
    whole, sampled = batch_of(corpus), batch_of(corpus, UnlabelledSample(1.0))
    for name, tensor in tensors(whole).items():
        assert torch.equal(tensor, getattr(sampled, name)), name


def test_the_weighted_sum_over_a_sample_is_unbiased():
    features = features_of([chain_of(9, entities=9)])
    value = np.random.default_rng(0).normal(size=72)
    sums = []
    for epoch in range(4000):
        sample = UnlabelledSample(0.2, seed=5)
        sample.epoch.set(epoch)
        rows, weights = sample.draw(features[0])
        sums.append(float(weights @ value[rows]))
    error = np.std(sums) / len(sums) ** 0.5
    assert error > 0
    assert abs(np.mean(sums) - value.sum()) < 4 * error


@patient
@given(corpora, st.floats(0.1, 20))
def test_a_sample_by_ratio_keeps_the_labelled_pairs_and_weighs_none(corpus, ratio):
    whole, sampled = batch_of(corpus), batch_of(corpus, UnlabelledPerLabelled(ratio))
    for row in range(len(corpus)):
        pairs, kept = pairs_of(whole, row), pairs_of(sampled, row)
        labelled = {pair for pair, (_, labels) in pairs.items() if any(labels)}
        wanted = max(20, math.floor(ratio * len(labelled)))
        assert labelled <= set(kept)
        assert list(kept) == [pair for pair in pairs if pair in kept]
        assert len(kept) - len(labelled) == min(wanted, len(pairs) - len(labelled))
        assert all(kept[pair] == (1.0, pairs[pair][1]) for pair in kept)


def test_four_unlabelled_pairs_for_each_labelled_one_and_20_in_a_document_without_a_label():
    mentions = tuple(Entity((Mention(0, n, n + 1, "PER", "a"),)) for n in range(9))
    facts = tuple(Fact(head, head + 1, "born-in") for head in range(7))
    twice = Fact(0, 1, "works-for")  # a pair with two relations is one labelled pair
    labelled = Document("1", (("a",) * 9,), mentions, (*facts, twice))
    batch = batch_of([labelled, Document("2", (("a",) * 9,), mentions)], UnlabelledPerLabelled(4))
    assert [len(pairs_of(batch, row)) for row in range(2)] == [7 + 4 * 7, 20]
    assert batch.labels().sum() == 8
    assert (batch.pair_weight == 1).all()


def test_every_unlabelled_pair_is_drawn_by_ratio_alike():
    features = features_of([chain_of(9, entities=9)])
    labelled = set(features[0].fact_pair.tolist())
    counts = np.zeros(72)
    sample = UnlabelledPerLabelled(1)
    for epoch in range(2000):
        sample.epoch.set(epoch)
        counts[sample.draw(features[0])[0]] += 1
    unlabelled = [counts[row] for row in range(72) if row not in labelled]
    share = max(20, len(labelled)) / len(unlabelled)
    error = (2000 * share * (1 - share)) ** 0.5
    assert all(abs(count - 2000 * share) < 5 * error for count in unlabelled)


SAMPLES = [partial(UnlabelledSample, 0.3), partial(UnlabelledPerLabelled, 2)]
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.func.__name__)


def drawn(sample, features: FeatureSet, index: int, seed: int = 0, epoch: int = 0) -> list[int]:
    chosen = sample(seed)
    chosen.epoch.set(epoch)
    return chosen.draw(features[index])[0].tolist()


@each_sample
def test_a_draw_depends_on_seed_epoch_and_document_alone(sample):
    features = features_of([chain_of(9, entities=9), chain_of(9, entities=9)])
    assert drawn(sample, features, 0) == drawn(sample, features, 0)
    changes = [(0, {}), (1, {}), (0, {"seed": 1}), (0, {"epoch": 1})]
    assert len({tuple(drawn(sample, features, index, **change)) for index, change in changes}) == 4


@each_sample
def test_a_document_does_not_depend_on_what_shares_its_batch(sample):
    features = features_of([chain_of(9, entities=6), chain_of(12, entities=7)])
    collate = Collator.of(features, sample())
    alone, together = collate([features[1]]), collate([features[0], features[1]])
    assert pairs_of(alone, 0) == pairs_of(together, 1)


def test_workers_that_outlive_an_epoch_are_told_of_the_next():
    epoch = Epoch()
    features = features_of([chain_of(9, entities=9)] * 2)
    collate = Collator.of(features, UnlabelledSample(0.3, epoch=epoch))
    loader = DataLoader(features, 2, collate_fn=collate, num_workers=1, persistent_workers=True)
    for number in (0, 1, 0):
        epoch.set(number)
        [batch] = loader
        assert torch.equal(batch.head, collate(list(features)).head)
    first = batch.head
    epoch.set(1)
    assert not torch.equal(first, collate(list(features)).head)


@pytest.mark.parametrize("entities", [0, 1])
def test_a_batch_without_a_pair(entities):
    batch = batch_of([chain_of(3, entities=entities)])
    assert batch.pairs == 0
    assert batch.labels().shape == (0, len(RELATIONS))
    assert batch.entities == entities


@pytest.mark.parametrize("ratio", [0, -1, float("inf"), float("nan")])
def test_an_impossible_ratio_is_refused(ratio):
    with pytest.raises(ValueError, match="unlabelled per labelled: found"):
        UnlabelledPerLabelled(ratio)


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan")])
def test_an_impossible_rate_is_refused(rate):
    with pytest.raises(ValueError, match="unlabelled rate: found"):
        UnlabelledSample(rate)


def test_a_negative_seed_or_epoch_is_refused():
    with pytest.raises(ValueError, match="seed: found -1"):
        UnlabelledSample(0.5, seed=-1)
    with pytest.raises(ValueError, match="seed: found -1"):
        UnlabelledPerLabelled(4, seed=-1)
    with pytest.raises(ValueError, match="epoch: found -1"):
        Epoch().set(-1)
