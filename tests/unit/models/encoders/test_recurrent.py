"""The recurrent encoder: padding changes nothing, and it works wherever an encoder does."""

import pytest
import torch
from tests.reference.docred_bilstm import plain_two_way
from torch import nn

from unnoted.models.encoders import ENCODER_KINDS, DocumentEncoder, EncoderError, build_encoder, load_encoder
from unnoted.models.encoders.recurrent import LockedDropout, RecurrentConfig, RecurrentEncoder


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


TOKENS = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
MASK = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])


def published(**changes):
    """DocRED's BiLSTM in small, with start states as if they had been learnt."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "input_size": 5, "hidden_size": 8, "num_attention_heads": 0}
    config = RecurrentConfig(**sizes | {"locked_dropout": True, "learnt_start": True} | changes)
    encoder = RecurrentEncoder(config).eval()
    with torch.no_grad():
        for layer in encoder.layers:
            if layer.start is not None:
                layer.start.normal_()
    return encoder


@pytest.mark.parametrize("layers", [1, 2])
def test_states_with_a_learnt_start_equal_the_equations(layers):
    encoder = published(num_hidden_layers=layers)
    found = encoder(TOKENS, MASK).last_hidden_state
    for document, length in ((0, 3), (1, 5)):
        states = encoder.embedding.weight[TOKENS[document, :length]]
        for layer in encoder.layers:
            states = plain_two_way(layer, states)
        torch.testing.assert_close(found[document, :length], states)


def test_a_learnt_start_begins_at_0_and_learns():
    encoder = RecurrentEncoder(RecurrentConfig(vocab_size=20, hidden_size=8, learnt_start=True))
    plain = RecurrentEncoder(RecurrentConfig(vocab_size=20, hidden_size=8))
    starts = [f"layers.{layer}.start" for layer in range(2)]
    assert plain.load_state_dict(encoder.state_dict(), strict=False).unexpected_keys == starts
    same = [model.eval()(TOKENS, MASK).last_hidden_state for model in (encoder, plain)]
    assert torch.equal(*same)
    same[0].square().sum().backward()
    for layer in encoder.layers:
        assert (layer.start.grad.abs() > 0).all()


def test_locked_dropout_drops_a_feature_of_a_document_everywhere_or_nowhere():
    torch.manual_seed(0)
    dropout = LockedDropout(nn.Dropout(0.2)).train()
    found = dropout(torch.ones(200, 7, 50))
    assert torch.equal(found, found[:, :1].expand_as(found))
    dropped = (found[:, 0] == 0).float()
    torch.testing.assert_close(found[:, 0][dropped == 0], torch.full((int((1 - dropped).sum()),), 1.25))
    assert dropped.mean().item() == pytest.approx(0.2, abs=0.02)
    assert dropped.std(0).min() > 0  # documents have masks of their own
    assert torch.equal(dropout.eval()(found), found)


def test_locked_dropout_is_where_it_was_published():
    """On what enters each layer, once, and not on what the last one gives; so the states can be redone."""
    encoder = published(num_hidden_layers=2).train()
    drawn = []
    encoder.dropout.register_forward_hook(lambda module, inputs, output: drawn.append((inputs[0], output)))
    found = encoder(TOKENS, MASK).last_hidden_state
    assert [inputs.shape[2] for inputs, _ in drawn] == [5, 8]
    for (_, entering), layer, expected in zip(drawn, encoder.layers, (drawn[1][0], found), strict=True):
        for document, length in ((0, 3), (1, 5)):
            states = plain_two_way(layer, entering[document, :length])
            torch.testing.assert_close(expected[document, :length], states)
    (words, kept), _ = drawn
    assert (kept == 0).any() and (words != 0).any()


def test_padding_does_not_change_what_is_dropped():
    encoder = published().train()
    states = []
    for tokens, mask in ((TOKENS, MASK), (TOKENS[:, :3], MASK[:, :3])):
        torch.manual_seed(1)
        states.append(encoder(tokens, mask).last_hidden_state[0, :3])
    torch.testing.assert_close(*states)


def test_without_training_documents_of_a_batch_do_not_matter_to_each_other():
    encoder = published()
    both = encoder(TOKENS, MASK).last_hidden_state
    torch.testing.assert_close(encoder(TOKENS[:1, :3]).last_hidden_state, both[:1, :3])
    assert torch.equal(encoder(TOKENS, MASK).last_hidden_state, both)


def test_the_published_encoder_is_saved_and_loaded(tmp_path):
    encoder = published()
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    assert torch.equal(loaded(TOKENS, MASK).last_hidden_state, encoder(TOKENS, MASK).last_hidden_state)
    assert loaded.config.locked_dropout and loaded.config.learnt_start


def test_an_encoder_of_an_earlier_version_is_as_it_was():
    """Its configuration says neither key: single values are dropped, of the states too, and it starts at 0."""
    saved = RecurrentConfig(vocab_size=20, hidden_size=8).to_dict()
    saved = {key: value for key, value in saved.items() if key not in ("locked_dropout", "learnt_start")}
    encoder = build_encoder(saved)
    assert type(encoder.dropout) is nn.Dropout and all(layer.start is None for layer in encoder.layers)
    calls = []
    encoder.train().dropout.register_forward_hook(lambda module, inputs, output: calls.append(output))
    found = encoder(TOKENS, MASK).last_hidden_state
    assert len(calls) == 3 and calls[-1] is found


def test_the_encoder_that_is_made_for_bilstm_is_the_published_one():
    config = ENCODER_KINDS["bilstm"]()
    assert config.locked_dropout and config.learnt_start and config.hidden_dropout_prob == 0.2
    assert (config.hidden_size, config.num_hidden_layers, config.input_size) == (256, 1, 100)
    assert (config.type_size, config.entity_size) == (20, 20)
