"""Dropout that is cheap on a CPU, of values and of attention; the same in distribution.

Drawing one random number for each value takes a fifth of a small encoder's training time on a CPU. Here eight
values share one 64-bit random number, one byte each: the rate is rounded to 1/256, and what is kept is scaled
by the rounded rate, so that it keeps its mean.

On a CPU torch has no fused attention with dropout: it keeps the attention matrix three times for the backward
pass. Here only the mask is kept, one byte per entry; the matrix is computed again in the backward pass, some
heads of a sequence at a time. On other devices, and without dropout, everything is torch's own.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

FAST_DROPOUT = "unnoted_fast_dropout"
"""The name under which transformers knows the attention function."""

MAX_RATE = 255 / 256
"""A byte cannot say "always": above this rate it is torch's own dropout."""

TILE_SIZE = 2**20
"""Entries of attention matrices that are computed at a time, one head at least: 4 MB, to stay in cache."""


def random_bytes(shape: torch.Size) -> Tensor:
    """Independent uniform bytes, uint8."""
    size = shape.numel()
    numbers = torch.empty((size + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    return numbers.view(torch.uint8)[:size].view(shape)


def dropped_bytes(rate: float) -> int:
    """How many of the 256 bytes, the lowest ones, mean "dropped"."""
    return round(rate * 256)


def kept_share(dropped: int) -> float:
    """The share of values that is kept when so many of the 256 bytes mean "dropped"."""
    return 1 - dropped / 256


def _write_mask(noise: Tensor, dropped: int, out: Tensor) -> Tensor:
    """1 where a value is kept, else 0, in the type of `out`: a product with bools takes three times as long."""
    return torch.ge(noise, dropped, out=out)


class FastDropout(nn.Dropout):
    """Dropout by random bytes on a CPU; torch's own elsewhere."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some values set to 0 and the others scaled, in training only."""
        if not (self.training and 0 < self.p <= MAX_RATE and input.device.type == "cpu"):
            return super().forward(input)
        dropped = dropped_bytes(self.p)
        mask = _write_mask(random_bytes(input.shape), dropped, torch.empty_like(input, requires_grad=False))
        return input * mask.div_(kept_share(dropped))


def use_fast_dropout(model: PreTrainedModel) -> None:
    """Replace every dropout layer of an encoder, and its attention where that is torch's fused one."""
    if model.config._attn_implementation == "sdpa":
        model.config._attn_implementation = FAST_DROPOUT
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, FastDropout(child.p).train(child.training))


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
            _write_attention(query[tile], key[tile], bias[tile], scaling, weights)
            output[tile] = weights.mul_(_write_mask(noise[tile], dropped, mask)) @ value[tile]
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
            _write_attention(query[tile], key[tile], bias[tile], ctx.scaling, weights)
            _write_mask(noise[tile], ctx.dropped, mask)
            value_gradient[tile] = torch.mul(weights, mask, out=used).mT @ incoming
            torch.bmm(incoming, value[tile].mT, out=used).mul_(mask)
            torch.ops.aten._softmax_backward_data.out(used, weights, -1, used.dtype, grad_input=back)
            query_gradient[tile] = back @ key[tile]
            key_gradient[tile] = back.mT @ query[tile]
        gradients = query_gradient.mul_(ctx.scaling), key_gradient.mul_(ctx.scaling), value_gradient
        return (*gradients, None, None, None)


def _tiles(noise: Tensor, like: Tensor, buffers: int) -> Iterator[tuple[tuple[int, slice], list[Tensor]]]:
    """Some heads of a sequence at a time, with reused buffers [heads, T, T] to compute in."""
    batch, heads, queries, keys = noise.shape
    step = min(heads, max(1, TILE_SIZE // (queries * keys)))
    storage = [like.new_empty(step, queries, keys) for _ in range(buffers)]
    for row in range(batch):
        for first in range(0, heads, step):
            last = min(first + step, heads)
            yield (row, slice(first, last)), [buffer[: last - first] for buffer in storage]


def _write_attention(query: Tensor, key: Tensor, bias: Tensor, scaling: float, out: Tensor) -> None:
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
    on_cpu = query.device.type == "cpu" and query.dtype in (torch.float32, torch.float64, torch.bfloat16)
    fast = on_cpu and 0 < dropout <= MAX_RATE
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
    """A mask to be added to attention logits, [B, 1 or H, T or 1, T], in the type of `like`."""
    if mask is None:
        return like.new_zeros(like.shape[0], 1, 1, like.shape[2])
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=like.dtype).masked_fill_(~mask, torch.finfo(like.dtype).min)
    return mask.to(like.dtype).expand(like.shape[0], -1, -1, -1)


AttentionInterface.register(FAST_DROPOUT, dropout_attention)
AttentionMaskInterface.register(FAST_DROPOUT, sdpa_mask)
