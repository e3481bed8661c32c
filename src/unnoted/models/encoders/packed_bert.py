"""BERT without padding, in float32 or int8, for prediction on a CPU.

All that BERT does but attention, it does to each token alone. So documents of any lengths stand one after the
other, [N, d], and only attention goes from document to document: nothing is padded, nothing is masked.

In int8 the weights are rounded once, with a scale for each output. Activations are rounded as they come, with
a scale for each token, so that a document's states do not depend on the documents beside it. Products are
summed in 32 bits, exactly. On CPUs with VNNI instructions this is about three times as fast.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import BertModel, PreTrainedModel

from unnoted.models.encoders.attention_rows import attention_rows

TOKENS_PER_ROW = 1024
"""The number of tokens in a row, one document at least: few enough to stay in cache."""

INT8_MULTIPLE = 64
"""In int8 rows are filled up to a multiple of this: torch compiles a kernel for every other number of tokens."""

INT8_MAX = 127

MIN_SCALE = 1e-30
"""So that a row of zeros has a scale."""

SAMPLE_STRIDE = 997
"""`weights_fingerprint` sums every so many-th number of a weight."""


def can_pack(model: PreTrainedModel) -> bool:
    """Whether a model is a BERT on a CPU in which each token attends to all of its document."""
    config = model.config
    positions = getattr(config, "position_embedding_type", "absolute")
    plain = not (getattr(config, "is_decoder", False) or getattr(config, "add_cross_attention", False))
    return type(model) is BertModel and plain and positions == "absolute" and model.device.type == "cpu"


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """What a layer of BERT does to each token alone.

    Attributes:
        heads: the shape of a projection, (-1, H, d / H).
        project: from states [N, d] to queries, keys and values, [N, d] each.
        mix: from attention's output and the states before, [N, d] each, to the states after the layer.
    """

    heads: tuple[int, int, int]
    project: Callable[[Tensor], Sequence[Tensor]]
    mix: Callable[[Tensor, Tensor], Tensor]


class PackedBert:
    """Runs a BERT over a batch whose documents stand in rows; called like `DocumentEncoder.encode`.

    Args:
        model: one that `can_pack`, in evaluation mode.
        with_attention: whether attention rows are wanted.
        layers: the model's own by default.
        multiple: rows are filled up to a multiple of so many tokens.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        with_attention: bool = True,
        layers: Sequence[PackedLayer] | None = None,
        multiple: int = 1,
    ) -> None:
        self._embed: Any = model.embeddings
        self._layers = [_float_layer(layer) for layer in _bert_layers(model)] if layers is None else layers
        self._with_attention = with_attention
        self._multiple = multiple

    @torch.no_grad()
    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The states of a batch's tokens, and the last layer's attention from some of them.

        Returns:
            States [B, T, d] and, if wanted, attention [B, H, M, T]; 0 at padding.
        """
        input_ids = tokens["input_ids"]
        batch, width = input_ids.shape
        lengths = [width] * batch if attention_mask is None else attention_mask.sum(1).tolist()
        states, rows = [], []
        for group in _row_groups(lengths):
            some = lengths[group]
            documents = [ids[:length] for ids, length in zip(input_ids[group], some, strict=True)]
            found, attention = self._run_row(documents, positions[group])
            states += [pad(each, (0, 0, 0, width - len(each))) for each in torch.split(found, some)]
            rows += [pad(each, (0, width - each.shape[2])) for each in attention]
        return torch.stack(states), torch.stack(rows) if rows else None

    def _run_row(self, documents: list[Tensor], positions: Tensor) -> tuple[Tensor, list[Tensor]]:
        """States [N, d] of some documents in a row, and attention [H, M, T] of each at `positions` [B, M]."""
        tokens = sum(len(ids) for ids in documents)
        filling = torch.zeros(-tokens % self._multiple, dtype=torch.int64)  # a document of its own
        in_row = [*documents, filling] if len(filling) else documents
        lengths = [len(each) for each in in_row]
        ids = torch.cat(in_row)  # [N]
        position = torch.cat([*(torch.arange(len(each)) for each in documents), filling])
        states: Tensor = self._embed(
            input_ids=ids[None], position_ids=position[None], token_type_ids=torch.zeros_like(ids)[None]
        )[0]
        parts: list[list[Tensor]] = []
        for layer in self._layers:
            # Query, key and value of each document, [1, H, T, d / H].
            parts = [
                [each.transpose(0, 1)[None] for each in torch.split(part.reshape(layer.heads), lengths)]
                for part in layer.project(states)
            ]
            attended = torch.cat(
                [scaled_dot_product_attention(*qkv)[0].transpose(0, 1) for qkv in zip(*parts, strict=True)]
            )  # [N, H, d / H]
            states = layer.mix(attended.flatten(1), states)
        if not self._with_attention:
            return states[:tokens], []
        rows = [
            attention_rows(query, key, some[None].clamp(max=len(ids) - 1))[0]
            for ids, query, key, some in zip(documents, *parts[:2], positions, strict=False)
        ]
        return states[:tokens], rows


class Int8Bert:
    """Runs a BERT with int8 copies of its layers; made again when the model's weights have changed."""

    def __init__(self, model: PreTrainedModel, with_attention: bool = True) -> None:
        self._model = model
        self._with_attention = with_attention
        self._fingerprint = self._current()
        self._packed = self._quantize()

    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """As `PackedBert`."""
        if (current := self._current()) != self._fingerprint:
            self._packed, self._fingerprint = self._quantize(), current
        return self._packed(tokens, attention_mask, positions)

    def __reduce__(self) -> tuple[type["Int8Bert"], tuple[PreTrainedModel, bool]]:
        """A copy is made from a copy of the model: torch cannot copy packed weights."""
        return type(self), (self._model, self._with_attention)

    def _quantize(self) -> PackedBert:
        layers = [_int8_layer(layer) for layer in _bert_layers(self._model)]
        return PackedBert(self._model, self._with_attention, layers, INT8_MULTIPLE)

    def _current(self) -> tuple[object, ...]:
        return weights_fingerprint(_bert_layers(self._model).parameters())


def weights_fingerprint(weights: Iterator[nn.Parameter]) -> tuple[object, ...]:
    """Values that differ when weights have changed, also by writes through `.data`, which torch does not count."""
    return tuple(
        (w.data_ptr(), w._version, w.dtype, w.detach().flatten()[::SAMPLE_STRIDE].double().sum().item())
        for w in weights
    )


def supports_int8() -> bool:
    """Whether this CPU multiplies 8-bit integers in one instruction (VNNI), and this torch has the kernels."""
    capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    vnni = any(capabilities.get(name, False) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    return vnni and all(hasattr(torch.ops.onednn, name) for name in ("qlinear_prepack", "qlinear_pointwise"))


def quantize_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows [N, n] as integers from -127 to 127 plus 128, uint8 [N, n], and what 1 stands for, [N, 1].

    Example:
        >>> values, scale = quantize_rows(torch.tensor([[1.0, -2.0, 0.0]]))
        >>> [value - 128 for value in values[0].tolist()], round(scale.item(), 4)
        ([64, -127, 0], 0.0157)
    """
    largest = torch.maximum(rows.amax(1, keepdim=True), rows.amin(1, keepdim=True).neg_())
    scale = largest.div_(INT8_MAX).clamp_(min=MIN_SCALE)
    numbers = (rows / scale).round_().to(torch.int8)
    # Torch converts to int8 several times as fast as to uint8; flipping the sign bit adds 128.
    return numbers.view(torch.uint8) ^ 128, scale


class Int8Linear:
    """Linear layers over the same rows, side by side, with weights rounded to 8 bits.

    Args:
        layers: with biases; their outputs follow one another.

    Example:
        >>> layer = nn.Linear(64, 32)
        >>> rows = torch.randn(5, 64)
        >>> bool((Int8Linear(layer)(quantize_rows(rows)) - layer(rows)).abs().max() < 0.1)
        True
    """

    def __init__(self, *layers: nn.Linear) -> None:
        weight = torch.cat([layer.weight.detach() for layer in layers])  # [n_out, n]
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._scale = weight.abs().amax(1).div_(INT8_MAX).clamp_(min=MIN_SCALE)
        numbers = (weight / self._scale[:, None]).round_().to(torch.int8)
        self._weight = torch.ops.onednn.qlinear_prepack(numbers, None)
        self._zero = torch.zeros(len(numbers), dtype=torch.int32)

    def __call__(self, rows: tuple[Tensor, Tensor]) -> Tensor:
        """What the layers give of quantized rows, [N, n_out]."""
        values, scale = rows
        products = torch.ops.onednn.qlinear_pointwise(
            values, 1.0, 128, self._weight, self._scale, self._zero, None,
            1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        return torch.addcmul(self._bias, products, scale)


def _bert_layers(model: PreTrainedModel) -> Any:  # noqa: ANN401 - transformers' layers have no types
    return model.get_submodule("encoder.layer")


def _heads_shape(attention: Any) -> tuple[int, int, int]:  # noqa: ANN401
    return -1, attention.num_attention_heads, attention.attention_head_size


def _float_layer(layer: Any) -> PackedLayer:  # noqa: ANN401
    """A layer as it is."""
    attention = layer.attention.self

    def project(states: Tensor) -> Sequence[Tensor]:
        return attention.query(states), attention.key(states), attention.value(states)

    def mix(attended: Tensor, states: Tensor) -> Tensor:
        states = layer.attention.output(attended, states)
        mixed: Tensor = layer.output(layer.intermediate(states), states)
        return mixed

    return PackedLayer(_heads_shape(attention), project, mix)


def _int8_layer(layer: Any) -> PackedLayer:  # noqa: ANN401
    """A copy of a layer, for evaluation, with int8 products."""
    attention = layer.attention.self
    projections = Int8Linear(attention.query, attention.key, attention.value)
    output, widen, narrow = (
        Int8Linear(each.dense) for each in (layer.attention.output, layer.intermediate, layer.output)
    )

    def project(states: Tensor) -> Sequence[Tensor]:
        return projections(quantize_rows(states)).chunk(3, dim=1)

    def mix(attended: Tensor, states: Tensor) -> Tensor:
        states = layer.attention.output.LayerNorm(output(quantize_rows(attended)).add_(states))
        activated = layer.intermediate.intermediate_act_fn(widen(quantize_rows(states)))
        mixed: Tensor = layer.output.LayerNorm(narrow(quantize_rows(activated)).add_(states))
        return mixed

    return PackedLayer(_heads_shape(attention), project, mix)


def _row_groups(lengths: Sequence[int], most: int = TOKENS_PER_ROW) -> Iterator[slice]:
    """Neighbours that stand in a row together.

    Example:
        >>> [(group.start, group.stop) for group in _row_groups([600, 400, 300, 2000, 10])]
        [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    start = tokens = 0
    for index, length in enumerate(lengths):
        if index > start and tokens + length > most:
            yield slice(start, index)
            start, tokens = index, 0
        tokens += length
    yield slice(start, len(lengths))
