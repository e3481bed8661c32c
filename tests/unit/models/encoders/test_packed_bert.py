"""BERT without padding and in int8, against torch and exact integer sums."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.making import eight_bits
from tests.reference.batches import random_batch, tiny_model
from torch import nn

from unnoted.models.encoders.packed_bert import Int8Bert, Int8Linear, quantize_rows


@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=5, max_size=5),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_rows_are_rounded_to_half_a_step(values):
    rows = torch.tensor(values)
    values, scale = quantize_rows(rows)
    numbers = values.double() - 128
    assert numbers.abs().max() <= 127
    step = scale.double()
    assert ((numbers * step - rows.double()).abs() <= step * (0.5 + 1e-4)).all()
    assert (step * 127 <= rows.double().abs().amax(1, keepdim=True) * (1 + 1e-6) + 1e-27).all()


@eight_bits
@torch.no_grad()
def test_products_are_exact_sums_of_rounded_numbers():
    torch.manual_seed(0)
    layers, rows = [nn.Linear(48, width) for width in (20, 7)], torch.randn(9, 48) * 3
    found = Int8Linear(*layers)(quantize_rows(rows))
    expected = []
    for row in rows.double():
        step = float(row.abs().max()) / 127
        numbers = [round(float(value) / step) for value in row]
        outputs = []
        for layer in layers:
            for weights, bias in zip(layer.weight.double(), layer.bias.double(), strict=True):
                unit = float(weights.abs().max()) / 127
                total = sum(n * round(float(w) / unit) for n, w in zip(numbers, weights, strict=True))
                outputs.append(total * step * unit + float(bias))
        expected.append(outputs)
    torch.testing.assert_close(found.double(), torch.tensor(expected).double(), rtol=1e-5, atol=1e-5)


@eight_bits
@torch.no_grad()
def test_a_row_does_not_depend_on_those_beside_it():
    layer, rows = nn.Linear(32, 16), torch.randn(6, 32)
    rows[3] *= 1000
    together = Int8Linear(layer)(quantize_rows(rows))
    alone = torch.cat([Int8Linear(layer)(quantize_rows(row[None])) for row in rows])
    assert together.equal(alone)


@torch.no_grad()
def test_packed_documents_equal_padded_ones():
    encoder = tiny_model("bert", dtype=torch.float32).encoder
    batch = random_batch([20, 5, 31, 12], [4, 2, 5, 3])
    assert encoder.can_pack
    packed = encoder(batch)
    with torch.enable_grad():
        padded = encoder(batch)
    for document, length in enumerate(batch.lengths):
        torch.testing.assert_close(
            packed.states[document, :length], padded.states[document, :length], rtol=1e-4, atol=1e-5
        )
    torch.testing.assert_close(packed.entity_attention, padded.entity_attention, rtol=1e-4, atol=1e-6)


def change_in_place(weight):
    weight.mul_(2)


def change_data(weight):
    weight.data.mul_(2)


def replace_data(weight):
    weight.data = weight.data.half().float() + 0.5


@pytest.mark.parametrize("change", [change_in_place, change_data, replace_data])
@eight_bits
@torch.no_grad()
def test_int8_copies_follow_the_weights(change):
    model = tiny_model("bert", dtype=torch.float32).encoder.model
    run, tokens = Int8Bert(model, with_attention=False), {"input_ids": torch.randint(5, 30, (2, 11))}
    positions = torch.zeros(2, 1, dtype=torch.int64)
    before, _ = run(tokens, None, positions)
    change(model.encoder.layer[0].intermediate.dense.weight)
    after, _ = run(tokens, None, positions)
    fresh, _ = Int8Bert(model, with_attention=False)(tokens, None, positions)
    assert torch.equal(after, fresh) and not torch.equal(after, before)
