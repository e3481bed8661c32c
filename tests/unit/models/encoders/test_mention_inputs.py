"""What encoders are told of each token: equal to writing mention after mention over the tokens."""

import dataclasses

import pytest
import torch
from tests.reference.batches import random_batch

from unnoted.models.encoders import DocumentEncoder, RecurrentConfig, RecurrentEncoder, document_encoder
from unnoted.models.encoders.mention_inputs import mention_inputs
from unnoted.models.encoders.windows import spans_of
from unnoted.models.kernels.dropout import FastDropout


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


def test_documents_without_mentions_have_none():
    found = mention_inputs(random_batch([6, 4], [0, 0]), 6)
    assert all(values.shape == (2, 6) and not values.any() for values in found.values())


def recurrent(**sizes):
    torch.manual_seed(0)
    sizes = {"type_size": 3, "types": 4, "entity_size": 2, "entities": 6, "hidden_size": 8, **sizes}
    return RecurrentEncoder(RecurrentConfig(vocab_size=50, **sizes)).double().eval()


def test_the_encoder_is_told_only_if_it_asks():
    batch = random_batch([20, 12], [3, 2])
    told, untold = recurrent(), recurrent(type_size=0, entity_size=0)
    assert told.takes_mentions and not untold.takes_mentions
    types, entities = painted(batch, 20)
    expected = told(batch.input_ids, batch.attention_mask, types, entities).last_hidden_state
    torch.testing.assert_close(DocumentEncoder(told)(batch).states, expected)
    assert (told(batch.input_ids, batch.attention_mask).last_hidden_state - expected).abs().max() > 1e-3
    plain = untold(batch.input_ids, batch.attention_mask).last_hidden_state
    torch.testing.assert_close(DocumentEncoder(untold)(batch).states, plain)


def test_windows_carry_the_mentions_of_their_tokens():
    model, limit, length = recurrent(num_attention_heads=0), 16, 40
    batch = random_batch([length, 10], [6, 2])
    types, entities = painted(batch, length)
    found = DocumentEncoder(model, limit=limit, attention=False)(batch)
    states, count = torch.zeros(length, 8, dtype=torch.float64), torch.zeros(length, 1)
    for span in spans_of(0, length, limit):
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


def test_a_recurrence_reads_long_documents_whole(monkeypatch):
    monkeypatch.delattr(document_encoder, "plan_windows")
    encoder = DocumentEncoder(recurrent(num_attention_heads=0, num_hidden_layers=1), attention=False)
    with torch.no_grad():
        states = encoder(random_batch([4200], [3])).states
    assert states.shape == (1, 4200, 8) and states.isfinite().all() and encoder.limit > 10**6


def test_a_document_does_not_depend_on_its_batch():
    encoder = DocumentEncoder(recurrent())
    together, batch = encoder(random_batch([20, 9, 28], [3, 2, 4])), random_batch([20], [3])
    alone = encoder(batch)
    torch.testing.assert_close(together.states[:1, :20], alone.states)
    torch.testing.assert_close(together.rows[: len(batch.mention_position), :, :20], alone.rows)


def test_moved_batches_make_their_inputs_where_they_are():
    batch = random_batch([8], [2]).to("meta")
    assert all(values.device.type == "meta" for values in mention_inputs(batch, 8).values())


def test_every_parameter_gets_a_gradient_under_fast_dropout():
    encoder = DocumentEncoder(recurrent(num_attention_heads=0).float(), attention=False).train()
    batch = random_batch([20, 12], [3, 2])
    encoder(batch).states.sin().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    assert type(encoder.model.dropout) is FastDropout


def test_types_and_entities_beyond_the_tables():
    model = recurrent()
    tokens = torch.tensor([[5, 6, 7]])

    def states(types, entities):
        return model(tokens, None, torch.tensor([types]), torch.tensor([entities])).last_hidden_state

    assert torch.equal(states([1, 9, 0], [1, 2, 0]), states([1, 0, 0], [1, 2, 0]))
    assert torch.equal(states([1, 1, 0], [1, 50, 0]), states([1, 1, 0], [1, 6, 0]))
    assert not torch.equal(states([1, 1, 0], [1, 6, 0]), states([1, 1, 0], [1, 5, 0]))


def test_a_batch_in_another_order_of_mentions_has_another_winner():
    batch = random_batch([8], [2], mentions=1)
    overlap = {"mention_position": torch.tensor([1, 2]), "mention_end": torch.tensor([4, 3])}
    nested = dataclasses.replace(batch, **overlap)
    swapped = dataclasses.replace(batch, **{name: values.flip(0) for name, values in overlap.items()})
    assert mention_inputs(nested, 8)["mention_entities"].tolist() == [[0, 1, 2, 2, 1, 0, 0, 0]]
    assert mention_inputs(swapped, 8)["mention_entities"].tolist() == [[0, 2, 2, 2, 2, 0, 0, 0]]
