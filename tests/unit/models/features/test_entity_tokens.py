"""The tokens that name an entity, against plain loops; and that neither markers nor repetitions are among them."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.alone import tokens_of
from tests.unit.models.features.making import RELATIONS, document_of, documents, patient, word_piece

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Entity, Mention
from unnoted.models.features import Collator, featurise


def batch_of(corpus, markers=True):
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(), markers=markers)
    return Collator.of(features)(list(features))


def found_in(batch):
    """The tokens of each entity."""
    owner, token = batch.span_entity.tolist(), batch.span_token.tolist()
    return [
        [t for t, o in zip(token, owner, strict=True) if o == e] for e in range(len(batch.entity_document))
    ]


@patient
@given(st.lists(documents(), min_size=1, max_size=4))
def test_between_markers_they_are_those_of_plain_loops(corpus):
    batch = batch_of(corpus)
    assert found_in(batch) == [tokens_of(batch, e, "all") for e in range(len(batch.entity_document))]
    counts = torch.bincount(batch.span_document, minlength=len(corpus)).tolist()
    assert batch.spans == max(counts)
    assert batch.span_slot.tolist() == [slot for count in counts for slot in range(count)]


@patient
@given(st.lists(documents(), min_size=1, max_size=4))
def test_without_markers_they_are_all_from_the_first_to_the_last(corpus):
    batch = batch_of(corpus, markers=False)
    places = zip(batch.mention_position.tolist(), batch.mention_end.tolist(), strict=True)
    spans = [set(range(first, last + 1)) for first, last in places]
    expected = [set() for _ in batch.entity_document]
    for owner, span in zip(batch.mention_entity.tolist(), spans, strict=True):
        expected[owner] |= span
    assert found_in(batch) == [sorted(tokens) for tokens in expected]


def test_markers_of_a_mention_within_are_no_tokens_of_the_outer_one():
    # start * a * b * * end: the outer mention is "a b", the inner one "b"; they share the closing marker.
    batch = batch_of([document_of("a b", (0, 2), (1, 2))])
    assert batch.mention_position.tolist() == [1, 3] and batch.mention_end.tolist() == [5, 5]
    assert found_in(batch) == [[2, 4], [4]]


def test_a_token_of_two_mentions_of_one_entity_counts_once():
    entity = Entity((Mention(0, 0, 2, "PER", "a b"), Mention(0, 1, 2, "PER", "b")))
    assert found_in(batch_of([Document("d", (("a", "b"),), (entity,))], markers=False)) == [[1, 2]]


def test_a_mention_without_a_token_has_its_opening_marker():
    batch = batch_of([document_of("a \x07 b", (1, 2), (2, 3))])
    assert found_in(batch) == [[2], [5]]
