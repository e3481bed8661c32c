"""BERT with 8-bit copies of its layers, when facts are looked for on a CPU."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from transformers import PreTrainedModel

from unnoted.models.encoders.packed_bert import PackedBert, PackedLayer, heads_of, stack_of
from unnoted.models.kernels.eight_bits import EightBitLinear, round_rows

ROWS_OF_8_BITS = 64
"""Rows have a multiple of so many tokens where products are of 8 bits: for every other number of them, torch
makes another program, and keeps a thousand."""


def eight_bit_layer(layer: Any) -> PackedLayer:  # noqa: ANN401 - transformers' layers have no types
    """A copy of a layer, for evaluation, whose matrix products are of 8-bit numbers."""
    attention = layer.attention.self
    projections = EightBitLinear(attention.query, attention.key, attention.value)
    attended_to, wide, narrow = (
        EightBitLinear(each.dense) for each in (layer.attention.output, layer.intermediate, layer.output)
    )

    def project(states: Tensor) -> Sequence[Tensor]:
        return projections(round_rows(states)).chunk(3, dim=1)

    def mix(attended: Tensor, states: Tensor) -> Tensor:
        states = layer.attention.output.LayerNorm(attended_to(round_rows(attended)).add_(states))
        activated = layer.intermediate.intermediate_act_fn(wide(round_rows(states)))
        mixed: Tensor = layer.output.LayerNorm(narrow(round_rows(activated)).add_(states))
        return mixed

    return PackedLayer(heads_of(attention), project, mix)


class EightBitBert:
    """Runs a BERT with 8-bit copies of its layers; if its weights change, the copies are made anew.

    Args:
        model: one that `can_pack`.
        rows: whether attention rows are wanted.
    """

    digest = "int8"
    """What results were made by."""

    def __init__(self, model: PreTrainedModel, rows: bool = True) -> None:
        self._model = model
        self._wants_rows = rows
        self._versions = self._current()
        self._packed = self._copied()

    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """As `PackedBert`."""
        if (current := self._current()) != self._versions:
            self._packed, self._versions = self._copied(), current
        return self._packed(tokens, attention_mask, positions)

    def __reduce__(self) -> tuple[type["EightBitBert"], tuple[PreTrainedModel, bool]]:
        """A copy is made from a copy of the model: torch cannot copy what it has packed."""
        return type(self), (self._model, self._wants_rows)

    def _copied(self) -> PackedBert:
        layers = [eight_bit_layer(layer) for layer in stack_of(self._model).layer]
        return PackedBert(self._model, layers, self._wants_rows, ROWS_OF_8_BITS)

    def _current(self) -> list[int]:
        return [weight._version for weight in stack_of(self._model).parameters()]
