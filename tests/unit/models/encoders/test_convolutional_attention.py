"""BRAN's encoder: equal to the plain one, blind to padding, and usable wherever an encoder is."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.bran_encoder import plain_states

from unnoted.models.encoders import (
    ConvolutionalAttentionConfig,
    ConvolutionalAttentionEncoder,
    DocumentEncoder,
    EncoderError,
    build_encoder,
    load_encoder,
)
from unnoted.models.kernels.dropout import FastDropout

SIZES = {"vocab_size": 50, "hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2}


def make(**sizes):
    torch.manual_seed(0)
    config = ConvolutionalAttentionConfig(**{**SIZES, "max_position_embeddings": 32, **sizes})
    encoder = ConvolutionalAttentionEncoder(config).double().eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return encoder


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    "sizes", [{}, {"input_size": 5}, {"convolution_width": 3, "num_hidden_layers": 1}], ids=str
)
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_states_and_attention_are_those_of_plain_loops(sizes, implementation):
    encoder = make(**sizes)
    encoder.config._attn_implementation = implementation
    documents = [[3, 4, 5, 6, 7, 8, 9], [10, 11, 12], [13]]
    tokens = torch.zeros(3, 7, dtype=torch.int64)
    for row, document in enumerate(documents):
        tokens[row, : len(document)] = torch.tensor(document)
    mask = (tokens > 0).long()
    states = encoder(tokens, mask).last_hidden_state
    output = encoder(tokens, mask, output_attentions=True)
    close(output.last_hidden_state, states)
    for row, document in enumerate(documents):
        length = len(document)
        expected, attention = plain_states(encoder, document)
        close(states[row, :length], expected)
        close(output.attentions[-1][row, :, :length, :length], attention)
        assert (output.attentions[-1][row, :, :length, length:] == 0).all()


def test_what_stands_at_padding_changes_nothing():
    encoder = make()
    mask = torch.tensor([[1, 1, 1, 0, 0, 0]])
    one = encoder(torch.tensor([[3, 4, 5, 0, 0, 0]]), mask).last_hidden_state[:, :3]
    other = encoder(torch.tensor([[3, 4, 5, 9, 8, 7]]), mask).last_hidden_state[:, :3]
    assert torch.equal(one, other)


@pytest.mark.parametrize("limit", [32, 12])
def test_a_document_does_not_depend_on_its_batch(limit):
    encoder = DocumentEncoder(make(), limit=limit)
    together = encoder(random_batch([20, 9, 28], [3, 2, 4]))
    batch = random_batch([20], [3])  # drawn first, so it is the same document
    alone = encoder(batch)
    close(together.states[:1, :20], alone.states)
    close(together.rows[: len(batch.mention_position), :, :20], alone.rows)


@pytest.mark.parametrize("lengths", [(20, 32, 5), (70, 20)], ids=str)
def test_the_rows_at_mentions_are_those_of_the_last_attention(lengths):
    fused, plain = make(), make()
    plain.config._attn_implementation = "eager"
    batch = random_batch(lengths, [4] * len(lengths))
    encoders = [DocumentEncoder(model, fast_dropout=False) for model in (fused, plain)]
    found, expected = (encoder(batch) for encoder in encoders)
    assert [encoder._gives_rows for encoder in encoders] == [True, False]
    close(found.rows, expected.rows)
    for document, length in enumerate(lengths):
        close(found.states[document, :length], expected.states[document, :length])


@pytest.mark.parametrize("attention", [True, False])
def test_every_parameter_gets_a_gradient_under_fast_dropout(attention):
    encoder = DocumentEncoder(
        make(input_size=5, hidden_dropout_prob=0.2).float(), attention=attention
    ).train()
    batch = random_batch([20, 12], [3, 2])
    first, second = encoder(batch).states, encoder(batch).states
    assert not torch.equal(first, second)
    assert any(isinstance(module, FastDropout) for module in encoder.modules())
    (first * torch.randn_like(first)).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_gradient_checkpointing_leaves_gradients_as_they_are():
    gradients = []
    for enabled in (False, True):
        model = make(hidden_dropout_prob=0.0).train()
        if enabled:
            model.gradient_checkpointing_enable()
        encoded = DocumentEncoder(model)(random_batch([20, 12], [3, 2]))
        (encoded.states[:, :12].sin().sum() + encoded.rows.square().sum()).backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for plain, recomputed in zip(*gradients, strict=True):
        close(recomputed, plain)


def test_it_is_saved_and_loaded_like_any_encoder(tmp_path):
    encoder = make(input_size=5).float()
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    tokens = torch.tensor([[3, 4, 5]])
    assert torch.equal(loaded(tokens).last_hidden_state, encoder(tokens).last_hidden_state)
    assert isinstance(build_encoder(encoder.config.to_dict()), ConvolutionalAttentionEncoder)
    assert len(load_encoder(tmp_path, layers=1).layers) == 1


def test_sizes_that_do_not_fit_and_too_many_tokens_are_refused():
    with pytest.raises(EncoderError, match="hidden_size 8, expected a multiple of num_attention_heads"):
        make(num_attention_heads=3)
    with pytest.raises(EncoderError, match="convolution_width 4, expected an odd one"):
        make(convolution_width=4)
    with pytest.raises(EncoderError, match="found 33 tokens, expected at most"):
        make()(torch.ones(1, 33, dtype=torch.int64))
