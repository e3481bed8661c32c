import pytest
import torch
from tests.reference.atlop import PlainATLOP
from tests.reference.batches import random_batch, tiny_model
from transformers import AutoModel, FNetConfig

from unnoted.models.encoders import DocumentEncoder, EncoderError, document_encoder
from unnoted.models.encoders.windows import split_document


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def entity_attention(batch, attention):
    """The mean over each entity's mentions of one document's attention [H, T, T] at a time, padded, [E, H, T]."""
    rows = [
        attention[document][:, position]
        for document, position in zip(
            batch.mention_document.tolist(), batch.mention_position.tolist(), strict=True
        )
    ]
    means = []
    for entity in range(len(batch.entity_document)):
        own = [rows[m] for m, owner in enumerate(batch.mention_entity.tolist()) if owner == entity]
        mean = torch.stack(own).mean(0)
        means.append(torch.nn.functional.pad(mean, (0, max(batch.lengths) - mean.shape[1])))
    return torch.stack(means)


def assert_encoded(encoded, batch, states, attention):
    for document, length in enumerate(batch.lengths):
        close(encoded.states[document, :length], states[document][:length])
    close(encoded.entity_attention, entity_attention(batch, attention))


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "mpnet"])
@pytest.mark.parametrize("lengths", [(20, 32, 5), (33,), (62, 20, 45)], ids=str)
def test_states_and_attention_equal_the_plain_rule(kind, lengths):
    model = tiny_model(kind)
    batch = random_batch(lengths, [4] * len(lengths))
    assert_encoded(model.encoder(batch), batch, *PlainATLOP.from_model(model).encode(batch))


@pytest.mark.parametrize("length", [63, 64, 100, 200])
def test_more_windows_equal_a_plain_walk(length):
    model = tiny_model("bert")
    batch = random_batch([length], [6])
    tokens = batch.input_ids[0]
    states, count = torch.zeros(length, 16, dtype=torch.float64), torch.zeros(length, 1)
    attention = torch.zeros(4, length, length, dtype=torch.float64)
    eager = PlainATLOP.from_model(model).encoder
    windows = split_document(0, length, 32)
    assert len(windows) > 2
    for window in windows:
        cover = slice(window.first, window.first + window.count)
        ids = torch.cat([tokens[:1][: window.starts], tokens[cover], tokens[-1:][: window.ends]])
        output = eager(input_ids=ids[None], output_attentions=True)
        inner = slice(window.starts, window.starts + window.count)
        states[cover] += output.last_hidden_state[0, inner]
        count[cover] += 1
        attention[:, cover, cover] += output.attentions[-1][0, :, inner, inner]
    attention = attention / (attention.sum(-1, keepdim=True) + 1e-10)
    encoded = model.encoder(batch)
    assert_encoded(encoded, batch, [states / count], [attention])
    total = encoded.entity_attention.sum(-1)
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-8, atol=0)


@pytest.mark.parametrize("limit", [16, 24])
def test_an_encoder_of_matrices_reads_windows_like_one_of_rows(limit, monkeypatch):
    monkeypatch.setattr(document_encoder, "MAX_MATRIX_TOKENS", limit)
    batch = random_batch([40, 13, 60], [4, 2, 5])
    rows = tiny_model("bert").encoder
    rows.limit = limit
    matrices = tiny_model("bert").encoder.model
    matrices.config._attn_implementation = "eager"
    found, expected = DocumentEncoder(matrices)(batch), rows(batch)
    close(found.entity_attention, expected.entity_attention)


def scores_and_gradients(model, batch):
    scores = model(batch).logits
    scores.square().sum().backward()
    return [scores, *(parameter.grad for parameter in model.parameters())]


def test_recomputation_changes_no_bit_in_training_and_spares_calls_that_fit(monkeypatch):
    batch = random_batch([150, 20, 40], [5, 3, 3])
    monkeypatch.setattr(document_encoder, "WINDOWS_PER_CALL", 2)
    results, recomputed = [], []
    checkpoint = document_encoder.checkpoint

    def counting(*inputs, **options):
        recomputed[-1] += 1
        return checkpoint(*inputs, **options)

    monkeypatch.setattr(document_encoder, "checkpoint", counting)
    for kept in (0, document_encoder.STATES_KEPT):
        monkeypatch.setattr(document_encoder, "STATES_KEPT", kept)
        recomputed.append(0)
        torch.manual_seed(3)  # of dropout
        results.append(scores_and_gradients(tiny_model("bert").train(), batch))
    for again, once in zip(*results, strict=True):
        assert torch.equal(again, once)
    assert recomputed[0] > 1 and recomputed[1] == 0


@pytest.mark.parametrize("kind", ["bert", "deberta-v2"])
@pytest.mark.parametrize("lengths", [(20, 32, 5), (70, 20, 150)], ids=str)
def test_without_attention_the_states_are_the_same(kind, lengths):
    batch = random_batch(lengths, [4] * len(lengths))
    with_rows = tiny_model(kind).encoder
    without = DocumentEncoder(tiny_model(kind).encoder.model, attention=False)
    found, expected = without(batch), with_rows(batch)
    for document, length in enumerate(lengths):
        close(found.states[document, :length], expected.states[document, :length])
    assert found.attention is None
    with pytest.raises(EncoderError):
        _ = found.entity_attention


def test_without_attention_an_encoder_that_has_none_is_welcome():
    config = FNetConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, intermediate_size=24)
    model = AutoModel.from_config(config).eval()
    encoder = DocumentEncoder(TokensOnly(model), attention=False)
    batch = random_batch([12], [3])
    assert torch.equal(encoder(batch).states, model(batch.input_ids).last_hidden_state)


class TokensOnly(torch.nn.Module):
    """An encoder that takes no attention mask, under one that does."""

    def __init__(self, model):
        super().__init__()
        self.model, self.config = model, model.config

    def forward(self, input_ids, attention_mask=None):
        return self.model(input_ids)
