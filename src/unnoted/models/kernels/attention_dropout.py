"""Attention with dropout, faster on a CPU; the same in distribution.

On a CPU torch has no fused attention with dropout. It draws one random number for each entry of the
attention matrix and keeps the matrix three times for the backward pass: a third of a small encoder's training
time. Here the mask is a byte an entry, and it alone is kept: the matrix is made again in the backward pass,
some heads of a sequence at a time. Elsewhere, and without dropout, it is torch's own attention.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from unnoted.models.kernels.dropout import (
    HIGHEST_RATE,
    dropped_bytes,
    kept_share,
    plain_dropout,
    random_bytes,
    write_mask,
)

FAST_DROPOUT = "unnoted_fast_dropout"
"""The name under which transformers knows this attention function."""

TILE = 2**20
"""Entries of attention matrices that are worked on at a time, or one head: 4 MB, for the caches."""


def plain_dropout_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, noise: Tensor, scaling: float, rate: float
) -> Tensor:
    """The plain twin of the attention below, [B, H, T, d], for these random bytes [B, H, T, T]."""
    weights = (query @ key.mT * scaling + bias).softmax(-1)  # [B, H, T, T]
    return plain_dropout(weights, noise, rate) @ value


class _DropoutAttention(torch.autograd.Function):
    """query, key, value [B, H, T, d], bias [B, 1 or H, T or 1, T] -> [B, H, T, d]; some heads at a time."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, bias: Tensor, scaling: float, rate: float  # noqa: ANN401
    ) -> Tensor:  # fmt: skip
        noise = random_bytes(torch.Size([*query.shape[:3], key.shape[2]]))  # [B, H, T, T]
        dropped = dropped_bytes(rate)
        bias = bias.expand(-1, query.shape[1], -1, -1)
        output = torch.empty_like(query)
        for tile, (weights, mask) in _tiles(noise, query, buffers=2):
            _weights(query[tile], key[tile], bias[tile], scaling, weights)
            output[tile] = weights.mul_(write_mask(noise[tile], dropped, mask)) @ value[tile]
        ctx.save_for_backward(query, key, value, bias, noise)
        ctx.scaling, ctx.dropped = scaling, dropped
        return output.div_(kept_share(dropped))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        query, key, value, bias, noise = ctx.saved_tensors
        query_gradient, key_gradient, value_gradient = map(torch.empty_like, (query, key, value))
        for tile, (weights, mask, used, back) in _tiles(noise, query, buffers=4):
            incoming = gradient[tile] / kept_share(ctx.dropped)
            _weights(query[tile], key[tile], bias[tile], ctx.scaling, weights)
            write_mask(noise[tile], ctx.dropped, mask)
            value_gradient[tile] = torch.mul(weights, mask, out=used).mT @ incoming
            torch.bmm(incoming, value[tile].mT, out=used).mul_(mask)
            torch.ops.aten._softmax_backward_data.out(used, weights, -1, used.dtype, grad_input=back)
            query_gradient[tile] = back @ key[tile]
            key_gradient[tile] = back.mT @ query[tile]
        return (
            query_gradient.mul_(ctx.scaling),
            key_gradient.mul_(ctx.scaling),
            value_gradient,
            None,
            None,
            None,
        )


def _tiles(noise: Tensor, like: Tensor, buffers: int) -> Iterator[tuple[tuple[int, slice], list[Tensor]]]:
    """Where some heads of a sequence stand, and so many [heads, T, T] to work in, the same for all."""
    batch, heads, queries, keys = noise.shape
    step = min(heads, max(1, TILE // (queries * keys)))
    room = [like.new_empty(step, queries, keys) for _ in range(buffers)]
    for row in range(batch):
        for first in range(0, heads, step):
            last = min(first + step, heads)
            yield (row, slice(first, last)), [buffer[: last - first] for buffer in room]


def _weights(query: Tensor, key: Tensor, bias: Tensor, scaling: float, out: Tensor) -> None:
    """Attention probabilities of some heads, [heads, T, T], into `out`."""
    torch.baddbmm(bias.expand_as(out), query, key.mT, alpha=scaling, out=out)
    torch.softmax(out, -1, out=out)


def dropout_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **options: Any,  # noqa: ANN401 - the signature that transformers prescribes
) -> tuple[Tensor, None]:
    """Attention as transformers calls it; fast where dropout is applied on a CPU."""
    causal = is_causal if is_causal is not None else getattr(module, "is_causal", True)
    on_cpu = query.device.type == "cpu" and query.dtype in (torch.float32, torch.float64)
    fast = on_cpu and 0 < dropout <= HIGHEST_RATE
    if not fast or key.shape != query.shape or (causal and attention_mask is None):
        output: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, is_causal, **options
        )
        return output
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    bias = additive_mask(attention_mask, query)
    attended: Tensor = _DropoutAttention.apply(query, key, value, bias, scaling, dropout)  # type: ignore[no-untyped-call]
    return attended.transpose(1, 2).contiguous(), None


def additive_mask(mask: Tensor | None, like: Tensor) -> Tensor:
    """A mask as something to add to the logits, [B, 1 or H, T or 1, T], in the type of `like`."""
    if mask is None:
        return like.new_zeros(like.shape[0], 1, 1, like.shape[2])
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=like.dtype).masked_fill_(~mask, torch.finfo(like.dtype).min)
    return mask.to(like.dtype).expand(like.shape[0], -1, -1, -1)


def use_fast_attention_dropout(model: PreTrainedModel) -> None:
    """Let every attention layer of an encoder use this function, if it uses torch's fused attention now."""
    if model.config._attn_implementation == "sdpa":
        model.config._attn_implementation = FAST_DROPOUT


AttentionInterface.register(FAST_DROPOUT, dropout_attention)
AttentionMaskInterface.register(FAST_DROPOUT, sdpa_mask)
