"""From a model's encoder to an ONNX graph: token states and attention rows, for any length and any batch.

What is exported is what the document encoder asks of its encoder for one call: windows, pairs and scores stay
in torch. As exported, attention takes many small steps (mask, soft-max, guards against rows without a key).
Where the encoder uses the attention interface of transformers, each layer is written as one fused operation
instead. Whether that is the same function is tried out, not assumed.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from unnoted.models.encoders import DocumentEncoder
from unnoted.models.kernels.attention_rows import with_rows

FUSED = "unnoted_exported_attention"
"""The name, in transformers, of the attention that is exported as one operation."""

EXAMPLE = (3, 21, 5)
"""Documents, tokens and mentions of the batch that is exported with; no two alike, and none is 1."""

# Transformers gives a layer a mask of its own form: the padding is passed on beside it.
_padding: ContextVar[Tensor | None] = ContextVar("unnoted_exported_padding", default=None)


class Encoding(nn.Module):
    """One call of an encoder as a module of tensors.

    Args:
        encoder: prepared, and in evaluation mode.
    """

    def __init__(self, encoder: DocumentEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, positions: Tensor) -> tuple[Tensor, ...]:
        """States [B, T, d] and, if wanted, rows [B, H, M, T]."""
        token = _padding.set(attention_mask)
        try:
            states, rows = self.encoder.encode(({"input_ids": input_ids}), attention_mask, positions)
        finally:
            _padding.reset(token)
        return (states,) if rows is None else (states, rows)


def write_graph(encoder: DocumentEncoder, path: Path, fused: bool) -> None:
    """Export an encoder.

    Args:
        encoder: prepared, in float32 and in evaluation mode.
        path: the file to write.
        fused: write each layer's attention as one operation of ONNX Runtime.
    """
    names = ["states", "rows"] if encoder.attention else ["states"]
    documents, length, mentions = (torch.export.Dim(name) for name in ("documents", "length", "mentions"))
    shapes = ({0: documents, 1: length}, {0: documents, 1: length}, {0: documents, 1: mentions})
    with torch.no_grad(), quiet_exporters(), _fused_attention(encoder.model, fused):
        torch.onnx.export(
            Encoding(encoder),
            example(EXAMPLE),
            path,
            input_names=["input_ids", "attention_mask", "positions"],
            output_names=names,
            dynamic_shapes=shapes,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def example(sizes: tuple[int, int, int], tokens: int = 50, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Token ids, mask and positions of some documents, of which all but the first are shorter.

    Example:
        >>> ids, mask, positions = example((2, 8, 3))
        >>> ids.shape, mask.sum(1).tolist(), positions.shape
        (torch.Size([2, 8]), [8, 6], torch.Size([2, 3]))
    """
    documents, length, mentions = sizes
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(tokens, (documents, length), generator=random)
    mask = torch.ones_like(ids)
    mask[1:, length - max(1, length // 4) :] = 0
    positions = torch.randint(max(1, length // 2), (documents, mentions), generator=random)
    return ids, mask, positions


@contextmanager
def quiet_exporters() -> Iterator[None]:
    """Keep to themselves what exporters say of packages that nobody needs."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _fused_attention(model: nn.Module, wanted: bool) -> Iterator[None]:
    """Within this context every layer's attention is the fused one."""
    modules: Any = [module for module in model.modules() if hasattr(module, "config")] if wanted else []
    configs = {id(module.config): module.config for module in modules}
    before = {key: config._attn_implementation for key, config in configs.items()}
    try:
        for config in configs.values():
            config._attn_implementation = FUSED
        yield
    finally:
        for key, config in configs.items():
            config._attn_implementation = before[key]


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None,
    **options: Any,  # noqa: ANN401 - the signature that transformers prescribes
) -> tuple[Tensor, None]:  # fmt: skip
    """One layer's attention over what is no padding, with the rows that are asked for."""
    padding = _padding.get()
    assert padding is not None, "only an export comes here"
    return _ROWS(module, query, key, value, padding[:, None, None, :] == 1, scaling=scaling, is_causal=False)


def _one_operation(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None,
    **options: Any,  # noqa: ANN401
) -> tuple[Tensor, None]:  # fmt: skip
    """`MultiHeadAttention` of ONNX Runtime: from [B, H, T, d] each to [B, T, H, d]."""
    padding = _padding.get()
    assert padding is not None, "only an export comes here"
    documents, heads, tokens, size = query.shape
    flat = [part.transpose(1, 2).reshape(documents, tokens, heads * size) for part in (query, key, value)]
    found: Tensor = torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        (*flat, None, padding.to(torch.int32)),
        {"num_heads": heads, "scale": float(size**-0.5 if scaling is None else scaling)},
        dtype=query.dtype,
        shape=(documents, tokens, heads * size),
        version=1,
    )
    return found.view(documents, tokens, heads, size), None


_ROWS = with_rows(_one_operation)
AttentionInterface.register(FUSED, _attend)
AttentionMaskInterface.register(FUSED, sdpa_mask)
