"""The last layer's attention at chosen positions, without every layer's attention matrix.

A pair needs the attention *from* its mentions only: a few dozen rows of one layer. Asking transformers for
`output_attentions` would turn fused attention off in every layer and keep every matrix. Instead the last
layer's attention module gets an attention function of its own: it computes the layer's output as before, and
besides it the softmax rows of the positions that were requested, without dropout.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import sdpa_mask

from unnoted.models.encoders.fast_dropout import FAST_DROPOUT, dropout_attention


@dataclass(slots=True)
class RowRequest:
    """The query positions whose attention is wanted and, after the forward pass, that attention.

    Attributes:
        positions: int64 [B, M], for each sequence of the call.
        rows: [B, H, M, T], set by the last attention layer.
        modules: the attention modules that ran, in order.
    """

    positions: Tensor
    rows: Tensor | None = None
    modules: list[nn.Module] = field(default_factory=list)


# A context variable, because a service runs one model from several threads at once.
_request: ContextVar[RowRequest | None] = ContextVar("unnoted_row_request", default=None)


@contextmanager
def request_rows(positions: Tensor) -> Iterator[RowRequest]:
    """Within this context the prepared attention module also gives the rows at `positions` [B, M]."""
    request = RowRequest(positions)
    token = _request.set(request)
    try:
        yield request
    finally:
        _request.reset(token)


def attention_rows(
    query: Tensor,
    key: Tensor,
    positions: Tensor,
    attention_mask: Tensor | None = None,
    scaling: float | None = None,
    is_causal: bool = False,
) -> Tensor:
    """Softmax attention of some query positions over all keys.

    Args:
        query: [B, H, T, d].
        key: [B, G, T, d], where G divides H (grouped-query attention).
        positions: int64 [B, M].
        attention_mask: bool (True is attended to) or additive, [B or 1, 1 or H, T or 1, T].
        scaling: factor on the products; 1/sqrt(d) by default.
        is_causal: whether a position attends only to itself and the positions before it.

    Returns:
        [B, H, M, T], in float32 at least.

    Example:
        >>> query = key = torch.eye(3).reshape(1, 1, 3, 3)
        >>> attention_rows(query, key, torch.tensor([[2]]), scaling=1.0).squeeze().round(decimals=2)
        tensor([0.2100, 0.2100, 0.5800])
    """
    index = positions[:, None, :, None]  # [B, 1, M, 1]
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    if key.shape[1] != query.shape[1]:
        key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
    chosen = query.gather(2, index.expand(-1, query.shape[1], -1, query.shape[3]))  # [B, H, M, d]
    logits = (chosen * scaling) @ key.transpose(2, 3)  # [B, H, M, T]
    if is_causal and attention_mask is None:
        attention_mask = torch.arange(key.shape[2], device=key.device) <= index  # [B, 1, M, T]
    elif attention_mask is not None and attention_mask.shape[2] > 1:
        attention_mask = attention_mask.expand(positions.shape[0], -1, -1, -1)
        rows = index.expand(-1, attention_mask.shape[1], -1, attention_mask.shape[3])
        attention_mask = attention_mask.gather(2, rows)
    if attention_mask is not None and attention_mask.dtype == torch.bool:
        logits = logits.masked_fill(~attention_mask, torch.finfo(logits.dtype).min)
    elif attention_mask is not None:
        logits = logits + attention_mask
    return logits.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))


def attend_with_rows(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, is_causal: bool | None = None,
    **options: Any,  # noqa: ANN401 - the signature that transformers prescribes
) -> tuple[Tensor, None]:  # fmt: skip
    """`dropout_attention`, which also answers the current request, if there is one."""
    request = _request.get()
    if request is not None:
        request.modules.append(module)
        causal = is_causal if is_causal is not None else getattr(module, "is_causal", True)
        request.rows = attention_rows(query, key, request.positions, attention_mask, scaling, causal)
    return dropout_attention(
        module, query, key, value, attention_mask, scaling=scaling, is_causal=is_causal, **options
    )


WITH_ROWS = "unnoted_fast_dropout_rows"
"""The name under which transformers knows `attend_with_rows`."""

AttentionInterface.register(WITH_ROWS, attend_with_rows)
AttentionMaskInterface.register(WITH_ROWS, sdpa_mask)


def can_give_rows(model: PreTrainedModel) -> bool:
    """Whether a model's attention function can give rows; whether it is called, `last_attention` finds out."""
    return bool(model.config._attn_implementation == FAST_DROPOUT)


def last_attention(model: PreTrainedModel) -> nn.Module | None:
    """The attention module that runs last, or None where the model does not use the attention interface.

    Found by running two tokens through the model, so that it depends on no architecture's names.
    """
    if not can_give_rows(model):
        return None
    config, training = model.config, model.training
    tokens = torch.zeros(1, 2, dtype=torch.int64, device=model.device)
    config._attn_implementation = WITH_ROWS
    try:
        model.train(False)
        with torch.no_grad(), request_rows(torch.zeros_like(tokens)) as request:
            model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
    finally:
        config._attn_implementation = FAST_DROPOUT
        model.train(training)
    return request.modules[-1] if request.modules else None


def hook_rows(attention: nn.Module) -> None:
    """Make one attention module answer requests, and no other module of its model."""
    config: Any = copy(attention.config)
    config._attn_implementation = WITH_ROWS
    attention.config = config
