"""The encoder behind BRAN's figure on ChemDisGene: equal to the plain one, and usable wherever an encoder is."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.bran_encoder import plain_bran_states

from unnoted.models.encoders import (
    BRANConfig,
    BRANEncoder,
    DocumentEncoder,
    EncoderError,
    build_encoder,
    load_encoder,
)

SIZES = {
    "vocab_size": 50,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
}


def make(**sizes):
    torch.manual_seed(0)
    encoder = BRANEncoder(BRANConfig(**{**SIZES, **sizes}))
    encoder = encoder.double().eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return encoder


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("sizes", [{}, {"convolution_width": 3, "num_hidden_layers": 1}], ids=str)
def test_states_are_those_of_plain_loops(sizes):
    encoder = make(**sizes)
    documents = [[3, 4, 5, 6, 7, 8, 9], [10, 11, 12], [13]]
    tokens = torch.zeros(3, 7, dtype=torch.int64)
    for row, document in enumerate(documents):
        tokens[row, : len(document)] = torch.tensor(document)
    states = encoder(tokens, (tokens > 0).long()).last_hidden_state
    for row, document in enumerate(documents):
        close(states[row, : len(document)], plain_bran_states(encoder, document)[0])


def test_it_is_torch_s_own_transformer_layer_with_convolutions_after_it():
    """An oracle that nobody here wrote: the program is made of these two."""
    encoder = make(num_hidden_layers=1)
    block = encoder.layers[0]
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True).double()
    layer.load_state_dict(
        {
            "self_attn.in_proj_weight": block.attention.projection.weight,
            "self_attn.in_proj_bias": block.attention.projection.bias,
            "self_attn.out_proj.weight": block.attention.output.weight,
            "self_attn.out_proj.bias": block.attention.output.bias,
            "linear1.weight": block.widen.weight,
            "linear1.bias": block.widen.bias,
            "linear2.weight": block.narrow.weight,
            "linear2.bias": block.narrow.bias,
            "norm1.weight": block.attention_norm.weight,
            "norm1.bias": block.attention_norm.bias,
            "norm2.weight": block.norm.weight,
            "norm2.bias": block.norm.bias,
        }
    )
    tokens = torch.tensor([[3, 4, 5, 6, 7, 8]])
    inputs = encoder.embedding(tokens) * 8**0.5 + torch.tensor([0.0, 1.0] * 4)
    states = layer(inputs).transpose(1, 2)
    for width, weight, bias in (
        (1, block.before.weight[:, :, None], block.before.bias),
        (5, block.convolve.weight, block.convolve.bias),
        (1, block.after.weight[:, :, None], block.after.bias),
    ):
        states = torch.nn.functional.conv1d(states, weight, bias, padding=width // 2)
    close(encoder(tokens).last_hidden_state, states.transpose(1, 2))


@pytest.mark.parametrize("limit", [32, 12])
def test_a_document_does_not_depend_on_its_batch(limit):
    encoder = DocumentEncoder(make())
    encoder.limit = limit
    together = encoder(random_batch([20, 9, 28], [3, 2, 4]))
    batch = random_batch([20], [3])  # drawn first, so it is the same document
    alone = encoder(batch)
    close(together.states[:1, :20], alone.states)
    close(together.entity_attention[: len(batch.entity_document), :, :20], alone.entity_attention)


def test_it_is_saved_and_loaded_like_any_encoder(tmp_path):
    encoder = make().float()
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    tokens = torch.tensor([[3, 4, 5]])
    assert torch.equal(loaded(tokens).last_hidden_state, encoder(tokens).last_hidden_state)
    assert isinstance(build_encoder(encoder.config.to_dict()), BRANEncoder)
    assert len(load_encoder(tmp_path, layers=1).layers) == 1


@pytest.mark.parametrize("sizes", [{"num_attention_heads": 3}, {"convolution_width": 4}], ids=str)
def test_sizes_that_do_not_fit_are_refused(sizes):
    [name] = sizes
    with pytest.raises(EncoderError, match=name):
        make(**sizes)


def test_more_tokens_than_positions_are_refused():
    with pytest.raises(EncoderError, match="max_position_embeddings"):
        make()(torch.ones(1, 33, dtype=torch.int64))
