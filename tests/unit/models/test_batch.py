from dataclasses import fields

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.encoded import tokens_of
from tests.reference.features import plain_features
from tests.unit.models.factories import RELATIONS, chain_of, documents, patient, word_piece

from unnoted.data.document import Document
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import featurise
from unnoted.models.samplers import PairSampler, RatioPairSampler, UniformPairSampler

corpora = st.lists(documents(), min_size=1, max_size=4)
KNOWN = ("LOC", "PER")
"""Types that are told apart; the documents have another one."""


def batch_of(corpus: list[Document], sampler: PairSampler | None = None, markers: bool = True) -> Batch:
    features = featurise(corpus, word_piece(), RELATIONS, types=KNOWN, markers=markers)
    return Collator(features, sampler)(list(features))


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


@patient
@given(corpora)
def test_a_batch_equals_the_plain_implementation(corpus):
    batch = batch_of(corpus)
    owners = batch.mention_entity.tolist()
    for row, document in enumerate(corpus):
        expected = plain_features(document, word_piece(), list(RELATIONS), "*")
        length = batch.lengths[row]
        assert batch.input_ids[row, :length].tolist() == expected.tokens
        assert (batch.input_ids[row, length:] == word_piece().pad_token_id).all()
        assert batch.attention_mask[row].tolist() == [1] * length + [0] * (batch.input_ids.shape[1] - length)
        entities = [e for e, d in enumerate(batch.entity_document.tolist()) if d == row]
        assert batch.entity_slot[entities].tolist() == list(range(len(document.entities)))

        def column(name: str, entities: list[int] = entities) -> list[list[int]]:
            values = getattr(batch, name).tolist()
            return [[values[m] for m, owner in enumerate(owners) if owner == entity] for entity in entities]

        assert column("mention_position") == expected.positions
        assert column("mention_end") == expected.ends
        assert column("mention_sentence") == [[m.sentence for m in e.mentions] for e in document.entities]
        types = [[m.type for m in e.mentions] for e in document.entities]
        numbers = [[KNOWN.index(type) + 1 if type in KNOWN else 0 for type in each] for each in types]
        assert column("mention_type") == numbers
        assert batch.entity_type[entities].tolist() == [each[0] for each in numbers]
        mine = [m for m, owner in enumerate(owners) if owner in entities]
        assert batch.mention_slot[mine].tolist() == list(range(len(mine)))
        found = pairs_of(batch, row)
        assert list(found) == expected.pairs
        assert [labels for _, labels in found.values()] == expected.labels
        assert all(weight == 1 for weight, _ in found.values())
        own = (batch.pair_document == row).nonzero()[:, 0].tolist()
        evidence = zip(batch.evidence_pair.tolist(), batch.evidence_sentence.tolist(), strict=True)
        assert [(pair - own[0], sentence) for pair, sentence in evidence if pair in own] == expected.evidence
    assert batch.documents == tuple(document.id for document in corpus)
    assert batch.entities == max(len(document.entities) for document in corpus)
    assert batch.mentions == max(sum(len(e.mentions) for e in document.entities) for document in corpus)
    for name, tensor in tensors(batch).items():
        assert tensor.dtype == (torch.float32 if name == "pair_weight" else torch.int64), name


@patient
@given(corpora)
def test_sampling_all_pairs_changes_nothing(corpus):
    sampled = batch_of(corpus, UniformPairSampler(1.0))
    for name, tensor in tensors(batch_of(corpus)).items():
        assert torch.equal(tensor, getattr(sampled, name)), name


@pytest.mark.parametrize("sampler", [UniformPairSampler(0.3), RatioPairSampler(2)])
def test_sampled_pairs_do_not_depend_on_the_rest_of_the_batch(sampler):
    features = featurise([chain_of(9, entities=6), chain_of(12, entities=7)], word_piece(), RELATIONS)
    collate = Collator(features, sampler)
    assert pairs_of(collate([features[1]]), 0) == pairs_of(collate([features[0], features[1]]), 1)


@pytest.mark.parametrize("entities", [0, 1])
def test_a_batch_without_a_pair(entities):
    batch = batch_of([chain_of(3, entities=entities)])
    assert batch.pairs == 0 and batch.entities == entities
    assert batch.labels().shape == (0, len(RELATIONS)) and batch.negatives() is None


def span_tokens(batch: Batch) -> list[list[int]]:
    """The tokens of each entity."""
    owner, token = batch.span_entity.tolist(), batch.span_token.tolist()
    return [
        [t for t, o in zip(token, owner, strict=True) if o == e] for e in range(len(batch.entity_document))
    ]


@patient
@given(corpora)
def test_entity_tokens_equal_plain_loops(corpus):
    batch = batch_of(corpus)
    assert span_tokens(batch) == [tokens_of(batch, e) for e in range(len(batch.entity_document))]
    counts = torch.bincount(batch.span_document, minlength=len(corpus)).tolist()
    assert batch.spans == max(counts)
    assert batch.span_slot.tolist() == [slot for count in counts for slot in range(count)]


@patient
@given(corpora)
def test_entity_tokens_without_markers_are_all_from_the_first_to_the_last(corpus):
    batch = batch_of(corpus, markers=False)
    expected: list[set[int]] = [set() for _ in batch.entity_document]
    columns = batch.mention_entity.tolist(), batch.mention_position.tolist(), batch.mention_end.tolist()
    for owner, first, last in zip(*columns, strict=True):
        expected[owner] |= set(range(first, last + 1))
    assert span_tokens(batch) == [sorted(tokens) for tokens in expected]
