"""The LSTM encoder: equal to stepwise recurrences, padding changes nothing, mentions are written over tokens."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.reference.docred_bilstm import plain_two_way
from torch import nn

from unnoted.models.encoders import DocumentEncoder, EncoderError, build_encoder, load_encoder
from unnoted.models.encoders.document_encoder import MAX_MATRIX_TOKENS
from unnoted.models.encoders.lstm import LockedDropout, LSTMConfig, LSTMEncoder, mention_inputs
from unnoted.models.encoders.windows import split_document


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return LSTMEncoder(LSTMConfig(vocab_size=20, hidden_size=8, num_attention_heads=2)).eval()


def run(layer, states):
    """An LSTM, step by step."""
    cell = nn.LSTMCell(layer.input_size, layer.hidden_size)
    cell.load_state_dict({name: getattr(layer, f"{name}_l0") for name in cell.state_dict()})
    memory, found = None, []
    for state in states:
        memory = cell(state[None], memory)
        found.append(memory[0][0])
    return torch.stack(found)


def test_a_state_with_mentions_is_that_of_a_stepwise_recurrence():
    torch.manual_seed(0)
    config = LSTMConfig(
        vocab_size=20, input_size=5, type_size=2, types=3, entity_size=4, entities=6, hidden_size=8
    )
    encoder = LSTMEncoder(config).eval()
    types, entities = [2, 2, 0], [1, 1, 0]
    words = encoder.embedding.weight
    states = torch.stack(
        [
            torch.cat(
                [words[token], encoder.type_embedding.weight[kind], encoder.entity_embedding.weight[entity]]
            )
            for token, kind, entity in zip([3, 4, 5], types, entities, strict=True)
        ]
    )
    assert states[2, 5:].abs().sum() == 0  # outside mentions nothing is added
    for layer in encoder.layers:
        states = torch.cat([run(layer.forwards, states), run(layer.backwards, states.flip(0)).flip(0)], 1)
    found = encoder(torch.tensor([[3, 4, 5]]), None, torch.tensor([types]), torch.tensor([entities]))
    torch.testing.assert_close(found.last_hidden_state[0], states)


def test_frozen_words_and_mentions_are_saved_and_loaded(tmp_path):
    config = LSTMConfig(
        vocab_size=20,
        input_size=5,
        train_words=False,
        type_size=2,
        types=3,
        hidden_size=8,
        num_attention_heads=0,
    )
    encoder = LSTMEncoder(config).eval()
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).eval()
    tokens, types = torch.tensor([[3, 4, 5]]), torch.tensor([[0, 1, 2]])
    states = encoder(tokens, None, types).last_hidden_state
    assert torch.equal(loaded(tokens, None, types).last_hidden_state, states)
    for model in (encoder, loaded, build_encoder(encoder.config.to_dict())):
        learnt = {name for name, _ in model.named_parameters()}
        assert "type_embedding.weight" in learnt and "embedding.weight" not in learnt
        assert not hasattr(model, "query")


@pytest.mark.parametrize("sizes", [{"type_size": 2}, {"hidden_size": 7}], ids=str)
def test_sizes_that_do_not_fit_are_refused(sizes):
    [name] = sizes
    with pytest.raises(EncoderError, match=name):
        LSTMEncoder(LSTMConfig(**sizes))


def test_attention_of_an_encoder_without_heads_is_refused():
    encoder = LSTMEncoder(LSTMConfig(hidden_size=8, num_attention_heads=0))
    with pytest.raises(EncoderError, match="0 attention heads"):
        DocumentEncoder(encoder).prepare()
    DocumentEncoder(encoder, attention=False).prepare()


TOKENS = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
MASK = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])


def published(**changes):
    """DocRED's BiLSTM in small, with start states as if they had been learnt."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "input_size": 5, "hidden_size": 8, "num_attention_heads": 0}
    config = LSTMConfig(**sizes | {"locked_dropout": True, "learnt_start": True} | changes)
    encoder = LSTMEncoder(config).eval()
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


def painted(batch, width):
    types, entities = torch.zeros(2, len(batch.lengths), width, dtype=torch.int64)
    for mention in range(len(batch.mention_position)):
        entity = batch.mention_entity[mention]
        document = batch.entity_document[entity]
        for token in range(batch.mention_position[mention], batch.mention_end[mention] + 1):
            types[document, token] = batch.mention_type[mention]
            entities[document, token] = batch.entity_slot[entity] + 1
    return types, entities


@pytest.mark.parametrize("seed", range(5))
def test_later_mentions_are_written_over_earlier_ones(seed):
    batch = random_batch([12, 30, 5], [6, 4, 0], mentions=4, seed=seed)
    found = mention_inputs(batch, 30)
    types, entities = painted(batch, 30)
    assert torch.equal(found["mention_types"], types)
    assert torch.equal(found["mention_entities"], entities)


def with_mentions(**sizes):
    torch.manual_seed(0)
    sizes = {"type_size": 3, "types": 4, "entity_size": 2, "entities": 6, "hidden_size": 8, **sizes}
    return LSTMEncoder(LSTMConfig(vocab_size=50, **sizes)).double().eval()


def test_windows_carry_the_mentions_of_their_tokens():
    model, limit, length = with_mentions(num_attention_heads=0), 16, 40
    batch = random_batch([length, 10], [6, 2])
    types, entities = painted(batch, length)
    encoder = DocumentEncoder(model, attention=False)
    encoder.limit = limit
    found = encoder(batch)
    states, count = torch.zeros(length, 8, dtype=torch.float64), torch.zeros(length, 1)
    for span in split_document(0, length, limit):
        cover = slice(span.first, span.first + span.count)
        inputs = []
        for values in (batch.input_ids[0], types[0], entities[0]):
            inputs.append(
                torch.cat([values[:1][: span.starts], values[cover], values[-1:][: span.ends]])[None]
            )
        output = model(inputs[0], None, inputs[1], inputs[2]).last_hidden_state[0]
        states[cover] += output[span.starts : span.starts + span.count]
        count[cover] += 1
    torch.testing.assert_close(found.states[0], states / count)
    assert found.attention is None


def test_without_attention_long_documents_are_read_whole_and_with_it_in_windows():
    sizes = {"num_hidden_layers": 1, "hidden_size": 4}
    whole = DocumentEncoder(with_mentions(num_attention_heads=0, **sizes), attention=False)
    assert whole.limit > 10**6
    assert DocumentEncoder(with_mentions(**sizes)).limit == MAX_MATRIX_TOKENS
    with torch.no_grad():
        states = whole(random_batch([4200], [3])).states
    assert states.shape == (1, 4200, 4) and states.isfinite().all()
