"""Heads: from the embeddings of pairs to logits.

The grouped bilinear cuts head and tail into blocks, and is bilinear within each block. Written plainly, this
makes the outer product of every block of every pair: 300 MB for 1,500 pairs, kept several times over for the
backward pass. Here the outer products of a few hundred pairs and one block are made in a small buffer that
stays in cache, used at once, and made again in the backward pass.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import linear, pad

PAIRS_AT_ONCE = {"cpu": 256}
"""How many pairs' outer products are held at a time, by kind of device: on a CPU they should stay in cache
(256 and 512 measured fastest), a GPU wants large products."""

PAIRS_AT_ONCE_ELSEWHERE = 4096

NARROW_AT_ONCE = 2**18
"""How many products (pairs x classes x values of a block) are held at a time where only some classes are
wanted."""

CLASSES_MULTIPLE = 16
"""The products are made for a multiple of so many classes, the rest filled with 0: with 95 or 97 columns a
matrix product on two CPU cores takes almost twice the time that it takes with 96 or 112."""


class GroupedBilinear(nn.Module):
    """Logits of K + 1 classes for each pair: f_k = sum over blocks b of z_h[b]^T W[b, k] z_t[b] + bias_k.

    Args:
        pair_dim: of the embeddings of head and tail, a multiple of `block_size`.
        num_labels: how many logits a pair gets (K + 1, the threshold class first).
        block_size: of a block.
        bias: whether there is a bias_k.
    """

    def __init__(self, pair_dim: int, num_labels: int, block_size: int = 64, *, bias: bool = True) -> None:
        super().__init__()
        if pair_dim % block_size:
            raise ValueError(f"pair embeddings of {pair_dim} do not divide into blocks of {block_size}")
        self.block_size = block_size
        bound = 1 / math.sqrt(pair_dim * block_size)
        shape = pair_dim // block_size, block_size**2, num_labels
        self.weight = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(num_labels).uniform_(-bound, bound)) if bias else None

    def forward(self, head: Tensor, tail: Tensor) -> Tensor:
        """Logits [P, K + 1] of embeddings [P, pair_dim] each, in float32 at least."""
        device = head.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else head.dtype
        blocks = (len(head), len(self.weight), self.block_size)
        classes = self.weight.shape[2]
        weight = pad(self.weight.to(dtype), (0, -classes % CLASSES_MULTIPLE))
        logits: Tensor = _GroupedBilinear.apply(  # type: ignore[no-untyped-call]
            head.to(dtype).reshape(blocks), tail.to(dtype).reshape(blocks), weight
        )
        logits = logits[:, :classes]
        return logits if self.bias is None else logits + self.bias

    @torch.no_grad()
    def logits_of_classes(self, head: Tensor, tail: Tensor, weight: Tensor, classes: Tensor) -> Tensor:
        """Logits [P, c] of some classes alone, on a CPU and without a gradient.

        For few classes z_h^T W is far smaller than the outer products of head and tail: it is made first.

        Args:
            head: [P, pair_dim].
            tail: [P, pair_dim].
            weight: what `select_class_weights` gave of the classes.
            classes: int64 [c].
        """
        blocks, block, width = weight.shape
        count = width // block
        heads, tails = head.view(-1, blocks, block), tail.view(-1, blocks, 1, block)
        step = max(1, min(len(head), NARROW_AT_ONCE // width))
        product, total = head.new_empty(step, width), head.new_empty(step, count, block)
        pieces = [head.new_empty(0, count)]
        for start in range(0, len(head), step):
            piece = slice(start, start + step)
            some = heads[piece]
            joined = total[: len(some)].zero_()
            for number in range(blocks):
                out = torch.mm(some[:, number], weight[number], out=product[: len(some)])
                joined.addcmul_(out.view(-1, count, block), tails[piece, number])
            pieces.append(joined.sum(2))
        logits = torch.cat(pieces)
        return logits if self.bias is None else logits.add_(self.bias[classes])


def select_class_weights(weight: Tensor, classes: Tensor) -> Tensor:
    """The weights of some classes, laid out for `logits_of_classes`: [blocks, block of the head, c * block].

    Args:
        weight: of a grouped bilinear, [blocks, block * block, K + 1].
        classes: int64 [c].

    Example:
        >>> select_class_weights(torch.arange(12.0).view(1, 4, 3), torch.tensor([0, 2]))
        tensor([[[ 0.,  3.,  2.,  5.],
                 [ 6.,  9.,  8., 11.]]])
    """
    blocks, size, _ = weight.shape
    block = math.isqrt(size)
    chosen = weight.index_select(2, classes).view(blocks, block, block, len(classes))
    return chosen.transpose(2, 3).reshape(blocks, block, -1)


class LinearHead(nn.Module):
    """Logits of K + 1 classes for each pair: f = W x + b.

    After a pair encoder that ends in a hidden layer it is the last layer of a perceptron.
    """

    def __init__(self, pair_dim: int, num_labels: int) -> None:
        super().__init__()
        self.layer = nn.Linear(pair_dim, num_labels)

    def forward(self, pairs: Tensor) -> Tensor:
        """Logits [P, K + 1] of vectors [P, pair_dim], in float32 at least."""
        dtype = torch.promote_types(pairs.dtype, torch.float32)
        with torch.autocast(pairs.device.type, enabled=False):
            return linear(pairs.to(dtype), self.layer.weight.to(dtype), self.layer.bias.to(dtype))


class _GroupedBilinear(torch.autograd.Function):
    """head, tail [P, B, b], weight [B, b * b, C] -> [P, C]."""

    @staticmethod
    def forward(ctx: FunctionCtx, head: Tensor, tail: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(head, tail, weight)
        pairs, blocks, _ = head.shape
        scores = head.new_zeros(pairs, weight.shape[2], dtype=torch.promote_types(head.dtype, torch.float32))
        with torch.autocast(head.device.type, enabled=False):
            step = _pairs_at_once(head)
            buffer = _outer_buffer(head, step)
            for start in range(0, pairs, step):
                piece = slice(start, start + step)
                for block in range(blocks):
                    outer = _outer(head[piece, block], tail[piece, block], buffer)
                    _add_product(scores[piece], outer.flatten(1), weight[block])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:  # noqa: ANN401
        head, tail, weight = ctx.saved_tensors
        head_gradient, tail_gradient = torch.empty_like(head), torch.empty_like(tail)
        weight_gradient = torch.zeros_like(weight, dtype=gradient.dtype) if ctx.needs_input_grad[2] else None
        gradient = gradient.to(head.dtype)
        with torch.autocast(head.device.type, enabled=False):
            step = _pairs_at_once(head)
            buffer = _outer_buffer(head, step)
            for start in range(0, len(head), step):
                piece = slice(start, start + step)
                for block in range(head.shape[1]):
                    one, other = head[piece, block], tail[piece, block]  # [p, b]
                    if weight_gradient is not None:
                        outer = _outer(one, other, buffer).flatten(1)  # [p, b * b]
                        _add_product(weight_gradient[block], outer.t(), gradient[piece])
                    back = buffer[: len(one)]  # the outer products are used: their place is free
                    torch.mm(gradient[piece], weight[block].t(), out=back.flatten(1))
                    head_gradient[piece, block] = (back @ other.unsqueeze(2)).squeeze(2)
                    tail_gradient[piece, block] = (one.unsqueeze(1) @ back).squeeze(1)
        return head_gradient, tail_gradient, weight_gradient


def _pairs_at_once(head: Tensor) -> int:
    return max(1, min(len(head), PAIRS_AT_ONCE.get(head.device.type, PAIRS_AT_ONCE_ELSEWHERE)))


def _outer_buffer(head: Tensor, pairs: int) -> Tensor:
    return head.new_empty(pairs, head.shape[2], head.shape[2])


def _outer(head: Tensor, tail: Tensor, buffer: Tensor) -> Tensor:
    """Outer products [p, b, b] of [p, b] each, in `buffer`."""
    return torch.mul(head.unsqueeze(2), tail.unsqueeze(1), out=buffer[: len(head)])


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add left @ right to `total`, which may be of higher precision than they are."""
    if total.dtype == left.dtype:
        total.addmm_(left, right)
    else:
        total.add_(left @ right)
