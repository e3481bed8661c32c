import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.atlop import PlainATLOP
from tests.reference.batches import random_batch, tiny_model

from unnoted.models.architectures import lean_contexts, localized_context


def embeddings(model, batch):
    return model.pairs(model.encoder(batch), batch)


@settings(max_examples=30, deadline=None)
@given(
    documents=st.lists(st.tuples(st.integers(4, 40), st.integers(0, 6)), min_size=1, max_size=4),
    pair_rate=st.sampled_from([0.1, 0.6, 1.0]),
    mentions=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_embeddings_equal_the_plain_ones(documents, pair_rate, mentions, seed):
    model = tiny_model("bert")
    lengths, entities = zip(*documents, strict=True)
    batch = random_batch(lengths, entities, mentions=mentions, pair_rate=pair_rate, seed=seed)
    expected = PlainATLOP.of(model).embed(batch)
    with torch.no_grad():
        lean = embeddings(model.eval(), batch)
    for found in (embeddings(model, batch), lean):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_lean_contexts_in_pieces_change_nothing(monkeypatch):
    batch, model = random_batch([30, 20], [5, 4]), tiny_model("bert").eval()
    with torch.no_grad():
        whole = embeddings(model, batch)
        monkeypatch.setattr(lean_contexts, "PRODUCTS_AT_ONCE", 60)
        pieces = embeddings(model, batch)
        monkeypatch.setattr(
            localized_context, "PAIRS_AT_ONCE", 3
        )  # contexts are projected as they are wanted
        unprojected = embeddings(model, batch)
    for found in (pieces, unprojected):
        for one, other in zip(found, whole, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_tokens_in_pieces_change_nothing(monkeypatch):
    batch = random_batch([30, 20], [5, 4])
    results = []
    for at_once in (2**24, 200):
        monkeypatch.setattr(localized_context, "PRODUCTS_AT_ONCE", at_once)
        model = tiny_model("bert")
        head, tail = embeddings(model, batch)
        (head * tail).sum().backward()
        used = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        results.append([head, tail, *used])
    for whole, pieces in zip(*results, strict=True):
        torch.testing.assert_close(pieces, whole, rtol=1e-10, atol=1e-12)


def test_entities_without_a_shared_window_see_what_either_attends_to():
    model = tiny_model("bert")
    limit = model.encoder.limit
    batch = random_batch([2 * (limit - 1)], [6], mentions=1, pair_rate=1.0)
    expected = PlainATLOP.of(model).embed(batch)
    with torch.no_grad():
        lean = embeddings(model.eval(), batch)
    contexts = localized_context.unordered_contexts(
        model.encoder(batch).states, localized_context.entity_attention(model.encoder(batch), batch)
    )
    assert (contexts.abs().sum(-1) > 0).all()
    for found in (embeddings(model, batch), lean):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near(dtype):
    model = tiny_model("bert", dtype=torch.float32)
    batch = random_batch([30, 20], [5, 4])
    expected = embeddings(model, batch)
    # Without oneDNN: on some virtual machines its bfloat16 kernels use instructions that are not there.
    with torch.autocast("cpu", dtype=dtype), torch.backends.mkldnn.flags(enabled=False):
        found = embeddings(model, batch)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=0.1, atol=0.1)
