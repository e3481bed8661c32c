"""The recurrent encoder: padding changes nothing, and it works wherever an encoder does."""

import pytest
import torch
from torch import nn

from unnoted.encoders import build_encoder, load_encoder
from unnoted.encoders.recurrent import RecurrentConfig, RecurrentEncoder


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return RecurrentEncoder(RecurrentConfig(vocab_size=20, hidden_size=8, num_attention_heads=2)).eval()


def test_padding_changes_neither_states_nor_attention(encoder):
    tokens = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    both = encoder(tokens, mask, output_attentions=True)
    alone = encoder(tokens[:1, :3], output_attentions=True)
    torch.testing.assert_close(both.last_hidden_state[:1, :3], alone.last_hidden_state)
    torch.testing.assert_close(both.attentions[-1][:1, :, :3, :3], alone.attentions[-1])
    assert (both.attentions[-1][0, :, :, 3:] == 0).all()


def test_attention_is_a_distribution_over_the_tokens(encoder):
    attention = encoder(torch.tensor([[3, 4, 5]]), output_attentions=True).attentions[-1]
    torch.testing.assert_close(attention.sum(3), torch.ones(1, 2, 3))


def test_a_state_is_that_of_a_stepwise_recurrence(encoder):
    tokens = torch.tensor([[3, 4, 5]])
    states = encoder.embedding(tokens)[0]
    for layer in encoder.layers:
        ahead, back = run(layer.ahead, states), run(layer.back, states.flip(0)).flip(0)
        states = torch.cat([ahead, back], 1)
    torch.testing.assert_close(encoder(tokens).last_hidden_state[0], states)


def run(layer, states):
    """An LSTM, step by step."""
    cell = nn.LSTMCell(layer.input_size, layer.hidden_size)
    cell.load_state_dict({name: getattr(layer, f"{name}_l0") for name in cell.state_dict()})
    memory, found = None, []
    for state in states:
        memory = cell(state[None], memory)
        found.append(memory[0][0])
    return torch.stack(found)


def test_it_is_saved_and_loaded_like_any_encoder(encoder, tmp_path):
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    tokens = torch.tensor([[3, 4, 5]])
    assert torch.equal(loaded(tokens).last_hidden_state, encoder(tokens).last_hidden_state)
    assert isinstance(build_encoder(encoder.config.to_dict()), RecurrentEncoder)
    assert len(load_encoder(tmp_path, layers=1).layers) == 1
