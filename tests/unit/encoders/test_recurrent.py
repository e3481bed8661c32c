"""The recurrent encoder: padding changes nothing, and it works wherever an encoder does."""

import pytest
import torch
from torch import nn

from unnoted.encoders import DocumentEncoder, EncoderError, build_encoder, load_encoder
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


def test_a_state_with_mentions_is_that_of_a_stepwise_recurrence():
    torch.manual_seed(0)
    config = RecurrentConfig(
        vocab_size=20, input_size=5, type_size=2, types=3, entity_size=4, entities=6, hidden_size=8
    )
    encoder = RecurrentEncoder(config).eval()
    types, entities = [2, 2, 0], [1, 1, 0]
    words = encoder.embedding.weight
    states = torch.stack(
        [
            torch.cat(
                [
                    words[token],
                    encoder.type_embedding.weight[kind],
                    encoder.entity_embedding.weight[entity],
                ]
            )
            for token, kind, entity in zip([3, 4, 5], types, entities, strict=True)
        ]
    )
    assert states[2, 5:].abs().sum() == 0  # outside mentions nothing is added
    for layer in encoder.layers:
        states = torch.cat([run(layer.ahead, states), run(layer.back, states.flip(0)).flip(0)], 1)
    found = encoder(torch.tensor([[3, 4, 5]]), None, torch.tensor([types]), torch.tensor([entities]))
    torch.testing.assert_close(found.last_hidden_state[0], states)


def test_the_default_encoder_has_the_parameters_it_had():
    torch.manual_seed(3)
    encoder = RecurrentEncoder(RecurrentConfig(vocab_size=7, hidden_size=4, num_hidden_layers=1))
    torch.manual_seed(3)
    embedding = nn.Embedding(7, 4, 0)
    ahead, back = nn.LSTM(4, 2, batch_first=True), nn.LSTM(4, 2, batch_first=True)
    query, key = nn.Linear(4, 4), nn.Linear(4, 4)
    parts = {
        "embedding": embedding,
        "layers.0.ahead": ahead,
        "layers.0.back": back,
        "query": query,
        "key": key,
    }
    expected = {
        f"{part}.{name}": value
        for part, module in parts.items()
        for name, value in module.state_dict().items()
    }
    found = encoder.state_dict()
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], value) for name, value in expected.items())


def test_frozen_words_and_mentions_are_saved_and_loaded(tmp_path):
    config = RecurrentConfig(
        vocab_size=20,
        input_size=5,
        train_words=False,
        type_size=2,
        types=3,
        hidden_size=8,
        num_attention_heads=0,
    )
    encoder = RecurrentEncoder(config).eval()
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    tokens, types = torch.tensor([[3, 4, 5]]), torch.tensor([[0, 1, 2]])
    states = encoder(tokens, None, types).last_hidden_state
    assert torch.equal(loaded(tokens, None, types).last_hidden_state, states)
    for model in (encoder, loaded, build_encoder(encoder.config.to_dict())):
        learnt = {name for name, _ in model.named_parameters()}
        assert "type_embedding.weight" in learnt and "embedding.weight" not in learnt
        assert not hasattr(model, "query")


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(EncoderError, match="type_size 2 with types 0, expected at least 1"):
        RecurrentEncoder(RecurrentConfig(type_size=2))
    with pytest.raises(EncoderError, match="hidden_size 7, expected an even one"):
        RecurrentEncoder(RecurrentConfig(hidden_size=7))


def test_attention_of_an_encoder_without_heads_is_refused():
    encoder = RecurrentEncoder(RecurrentConfig(hidden_size=8, num_attention_heads=0))
    with pytest.raises(
        EncoderError, match=r"RecurrentEncoder cannot give its attention: found .* 0 attention heads"
    ):
        DocumentEncoder(encoder).prepare()
    DocumentEncoder(encoder, attention=False).prepare()
