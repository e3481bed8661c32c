"""Documents in calls of like length, or in a row: the same states and rows as padded."""

import pytest
import torch
from transformers import BertConfig, BertModel

from unnoted.models.encoders import DocumentEncoder
from unnoted.models.encoders.calls import calls_of, encode_in_calls
from unnoted.models.encoders.packed_bert import PackedBert, can_pack, groups_of

LENGTHS = [40, 9, 33, 33, 2]


def padded(lengths=LENGTHS):
    width = max(lengths)
    mask = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(5, 30, (len(lengths), width)) * mask
    positions = torch.stack([torch.randint(length, (3,)) for length in lengths])
    return ids, mask, positions


def bert(**changed):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, **changed
    )  # fmt: skip
    return BertModel(config).eval()


@pytest.mark.parametrize("way", ["calls", "row"])
@torch.no_grad()
def test_what_is_not_padded_is_the_same(way):
    model = bert()
    encoder = DocumentEncoder(model).eval()
    encoder.prepare()
    ids, mask, positions = padded()
    states, rows = encoder.encode({"input_ids": ids}, mask, positions)
    if way == "calls":
        found, at_positions = encode_in_calls(encoder.encode, {"input_ids": ids}, mask, positions)
    else:
        found, at_positions = PackedBert.of(model)({"input_ids": ids}, mask, positions)
    assert found.shape == states.shape and at_positions.shape == rows.shape
    real = mask.bool()
    torch.testing.assert_close(found[real], states[real], rtol=0, atol=1e-6)
    torch.testing.assert_close(at_positions, rows, rtol=0, atol=1e-6)
    assert found.isfinite().all()  # what stands at padding is not defined, but a number


def test_every_document_is_in_one_call_and_little_is_padded():
    calls = list(calls_of(LENGTHS, a_call=5))
    assert [place for call in calls for place in range(len(LENGTHS))[call]] == list(range(len(LENGTHS)))
    assert [(call.start, call.stop) for call in calls] == [(0, 1), (1, 2), (2, 4), (4, 5)]
    assert len(list(calls_of(LENGTHS, a_call=1000))) == 1


def test_a_document_longer_than_a_row_stands_alone():
    assert [(group.start, group.stop) for group in groups_of([3, 30, 3, 3], most=10)] == [
        (0, 1),
        (1, 2),
        (2, 4),
    ]


def test_only_a_bert_that_sees_everything_is_packed():
    assert can_pack(bert())
    assert not can_pack(bert(is_decoder=True))


row = PackedBert._row


@torch.no_grad()
def test_in_training_mode_the_encoder_itself_runs(monkeypatch):
    packed = []
    monkeypatch.setattr(PackedBert, "_row", lambda *given: packed.append(1) or row(*given))
    encoder = DocumentEncoder(bert())
    encoder.prepare()
    ids, mask, positions = padded()
    for training in (True, False):
        encoder.train(training)._encode({"input_ids": ids}, mask, positions)
        assert len(packed) == (not training)
