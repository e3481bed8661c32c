"""ATLOP against plain loops: embeddings, contexts, and entities that share no window."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.atlop import PlainATLOP
from tests.reference.batches import random_batch, tiny_model
from tests.reference.encoded import only, plain_contexts, plain_entities, random_encoded

from unnoted.models.architectures.atlop import pool_contexts


def embeddings(model, batch):
    return model.pair_encoder(model.encoder(batch), batch)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    documents=st.lists(st.tuples(st.integers(4, 40), st.integers(0, 6)), min_size=1, max_size=4),
    pair_rate=st.sampled_from([0.1, 0.6, 1.0]),
    mentions=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_embeddings_equal_the_plain_ones(documents, pair_rate, mentions, seed):
    """With few candidates contexts are projected for each, with many for all entity pairs at once."""
    model = tiny_model("bert")
    lengths, entities = zip(*documents, strict=True)
    batch = random_batch(lengths, entities, mentions=mentions, pair_rate=pair_rate, seed=seed)
    expected = PlainATLOP.from_model(model).embed(batch)
    assert_equal(embeddings(model, batch), expected)
    with torch.no_grad():
        assert_equal(embeddings(model, batch), expected)


def gradients(embed, model):
    head, tail = embed()
    (head * tail).sum().backward()
    return {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}


def test_gradients_equal_the_plain_ones():
    model, batch = tiny_model("bert"), random_batch([30, 20], [5, 4], pair_rate=0.6)
    plain = PlainATLOP.from_model(model)
    found = gradients(lambda: embeddings(model, batch), model)
    expected = gradients(lambda: plain.embed(batch), plain)
    for one, other in (("head_projection", "head_extractor"), ("tail_projection", "tail_extractor")):
        for kind in ("weight", "bias"):
            torch.testing.assert_close(found[f"pair_encoder.{one}.{kind}"], expected[f"{other}.{kind}"])
    word = "embeddings.word_embeddings.weight"
    torch.testing.assert_close(found[f"encoder.model.{word}"], expected[f"encoder.{word}"])


@pytest.mark.parametrize("diagonal", [False, True])
def test_contexts_equal_plain_loops(diagonal):
    batch = random_batch([12, 5, 9, 14], [3, 0, 1, 5])
    encoded = random_encoded(batch, 4)
    contexts = pool_contexts(encoded, batch, diagonal=diagonal)
    assert len(contexts.values) == (6 + 1 + 15 if diagonal else 3 + 10)
    for document in (0, 2, 3):
        alone, one, _ = only(encoded, batch, document)
        _, attentions = plain_entities(alone, one)
        for (head, tail), context in plain_contexts(alone, attentions).items():
            if diagonal or head != tail:
                row = contexts.rows(*map(torch.tensor, (document, head, tail)))
                torch.testing.assert_close(contexts.values[row], context)


def test_entities_without_a_shared_window_see_what_either_attends_to():
    model = tiny_model("bert")
    batch = random_batch([2 * (model.encoder.limit - 1)], [6], mentions=1)
    encoded = model.encoder(batch)
    attention = encoded.entity_attention
    overlap = torch.einsum("aht,bht->ab", attention, attention)
    assert (overlap == 0).any() and (pool_contexts(encoded, batch).values.abs().sum(1) > 0).all()
    assert_equal(embeddings(model, batch), PlainATLOP.from_model(model).embed(batch))
