"""Products of 8-bit numbers against the same sums in whole numbers of Python's size."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.making import eight_bits
from torch import nn

from unnoted.models.kernels.eight_bits import EightBitLinear, round_rows


@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=5, max_size=5),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_rows_are_rounded_to_half_a_step(values):
    rows = torch.tensor(values)
    rounded = round_rows(rows)
    numbers = rounded.values.double() - 128
    assert numbers.abs().max() <= 127
    step = rounded.scale.double()
    assert ((numbers * step - rows.double()).abs() <= step * (0.5 + 1e-4)).all()
    assert (step * 127 <= rows.double().abs().amax(1, keepdim=True) * (1 + 1e-6) + 1e-27).all()


@eight_bits
@torch.no_grad()
def test_products_are_exact_sums_of_rounded_numbers():
    torch.manual_seed(0)
    layers, rows = [nn.Linear(48, width) for width in (20, 7)], torch.randn(9, 48) * 3
    found = EightBitLinear(*layers)(round_rows(rows))
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
    together = EightBitLinear(layer)(round_rows(rows))
    alone = torch.cat([EightBitLinear(layer)(round_rows(row[None])) for row in rows])
    assert together.equal(alone)


@eight_bits
@torch.no_grad()
def test_zeros_give_the_bias():
    layer = nn.Linear(8, 4)
    layer.weight[1] = 0
    assert EightBitLinear(layer)(round_rows(torch.zeros(2, 8))).equal(layer.bias.expand(2, 4))
