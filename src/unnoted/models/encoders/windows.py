"""Documents longer than the encoder's limit: overlapping windows, and how their outputs become one.

Between the limit and what two windows cover, this is the rule of ATLOP's authors: the first window holds the
document's first tokens and an inserted end token, the second an inserted start token and the document's last
tokens. Longer documents get evenly spaced windows between the two, each with both tokens inserted. Where
windows overlap, states are averaged; attention rows are added, without the columns of inserted tokens, and
renormalised to sum 1. Every token lies in a window, so no mention is lost.

A plan is made on the CPU from the documents' lengths alone; applying it is indexing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

EPSILON = 1e-10
"""Keeps the renormalisation of a row finite."""


@dataclass(frozen=True, slots=True)
class Span:
    """A window: `count` tokens of a document from token `first` on, between inserted tokens.

    Attributes:
        document: row into the batch's documents.
        first: the first token of the document that the window covers.
        count: how many tokens of the document it covers.
        starts: how many start tokens are inserted before them (0 or 1).
        ends: how many end tokens are inserted after them (0 or 1).
    """

    document: int
    first: int
    count: int
    starts: int = 0
    ends: int = 0

    @property
    def width(self) -> int:
        """How many tokens the encoder sees."""
        return self.starts + self.count + self.ends


def spans_of(document: int, length: int, limit: int) -> list[Span]:
    """The windows of one document, in order.

    Example:
        >>> [(span.first, span.count) for span in spans_of(0, 600, limit=512)]
        [(0, 511), (89, 511)]
        >>> [(span.first, span.count) for span in spans_of(0, 1024, limit=512)]
        [(0, 511), (256, 510), (513, 511)]
    """
    if length <= limit:
        return [Span(document, 0, length)]
    if limit < 4:
        raise ValueError(f"found an encoder limit of {limit} tokens, expected at least 4 to cut windows")
    outer, inner = limit - 1, limit - 2
    farthest = length - outer  # where the last window starts
    windows = 2
    if length > 2 * outer:
        overlap = max(1, limit // 8)
        windows = 1 + -(-farthest // (inner - overlap))
    middle = [
        Span(document, farthest * step // (windows - 1), inner, starts=1, ends=1)
        for step in range(1, windows - 1)
    ]
    return [Span(document, 0, outer, ends=1), *middle, Span(document, farthest, outer, starts=1)]


@dataclass(frozen=True, slots=True, eq=False)
class WindowPlan:
    """The windows of a batch as index tensors; W windows of L tokens, C the most windows over one token.

    Attributes:
        widths: how many tokens each window has.
        document: int64 [W], row into the batch's documents.
        first: int64 [W], the first token of the document that the window covers.
        count: int64 [W], how many tokens of the document it covers.
        offset: int64 [W]; token t of the document stands at t - offset in the window.
        source: int64 [W, L], the token of the document at each place of the window.
        mask: int64 [W, L], 0 at padding.
        slot: int64 [D, T, C], where token t's states are: window * L + place in it.
        used: bool [D, T, C], False where fewer than C windows cover the token.
        split: bool [D], whether the document has more than one window.
    """

    widths: tuple[int, ...]
    document: Tensor
    first: Tensor
    count: Tensor
    offset: Tensor
    source: Tensor
    mask: Tensor
    slot: Tensor
    used: Tensor
    split: Tensor

    @property
    def width(self) -> int:
        """L, the number of tokens of the widest window."""
        return self.source.shape[1]


def plan_windows(lengths: Sequence[int], limit: int, device: torch.device | str = "cpu") -> WindowPlan:
    """Plan the windows of documents of these lengths for an encoder that takes `limit` tokens."""
    spans = [span for document, length in enumerate(lengths) for span in spans_of(document, length, limit)]
    document = torch.tensor([span.document for span in spans])
    first = torch.tensor([span.first for span in spans])
    count = torch.tensor([span.count for span in spans])
    offset = first - torch.tensor([span.starts for span in spans])
    widths = tuple(span.width for span in spans)
    place = torch.arange(max(widths))  # [L]
    source = place + offset[:, None]  # [W, L]
    last = torch.tensor(lengths)[document][:, None] - 1
    source = torch.where(source < first[:, None], 0, source)
    source = torch.where(source >= (first + count)[:, None], last, source)
    mask = (place < torch.tensor(widths)[:, None]).long()
    slot, used = _token_slots(document, first, count, offset, len(lengths), max(lengths), max(widths))
    split = torch.bincount(document, minlength=len(lengths)) > 1
    tensors = (document, first, count, offset, source, mask, slot, used, split)
    return WindowPlan(widths, *(tensor.to(device, non_blocking=True) for tensor in tensors))


def _token_slots(
    document: Tensor, first: Tensor, count: Tensor, offset: Tensor, documents: int, tokens: int, width: int
) -> tuple[Tensor, Tensor]:
    # A list of what is covered rather than a table of windows by tokens, which grows with the square.
    window = torch.repeat_interleave(count)  # [sum of counts]
    where = torch.arange(len(window)) - (count.cumsum(0) - count - first)[window]  # the token it covers
    token = document[window] * tokens + where
    order = token.argsort(stable=True)  # by token, then by window
    total = torch.bincount(token, minlength=documents * tokens)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order)) - (total.cumsum(0) - total)[token[order]]
    slot = torch.zeros(documents, tokens, int(total.max()), dtype=torch.int64)
    used = torch.zeros(slot.shape, dtype=torch.bool)
    index = (document[window], where, rank)
    slot[index] = window * width + where - offset[window]
    used[index] = True
    return slot, used


def merge_states(plan: WindowPlan, states: Tensor) -> Tensor:
    """The windows' states [W, L, d] as the documents' states [D, T, d]: the mean over the windows."""
    flat = states.flatten(0, 1)
    used = plan.used.to(states.dtype)
    total = flat[plan.slot[:, :, 0]] * used[:, :, :1]
    for layer in range(1, plan.slot.shape[2]):
        total = total + flat[plan.slot[:, :, layer]] * used[:, :, layer : layer + 1]
    return total / used.sum(2, keepdim=True).clamp(min=1)  # nothing covers padding


def mention_places(plan: WindowPlan, positions: Tensor) -> Tensor:
    """Where mentions at `positions` [D, M] stand in each window, [W, M]; clamped where outside it."""
    return (positions[plan.document] - plan.offset[:, None]).clamp(0, plan.width - 1)


def merge_rows(
    plan: WindowPlan, rows: Tensor, mention_document: Tensor, mention_position: Tensor, mention_slot: Tensor
) -> Tensor:
    """The windows' rows [W, H, Mmax, L] as the mentions' rows over their whole documents [M, H, T].

    A row is the sum over the windows in which its mention lies, renormalised where the document was split.
    """
    token = torch.arange(plan.slot.shape[1], device=rows.device)
    at_mention = plan.slot[mention_document, mention_position]  # [M, C]
    used = plan.used[mention_document, mention_position]  # [M, C]
    merged = rows.new_zeros(())
    for layer in range(at_mention.shape[1]):
        window = at_mention[:, layer] // plan.width
        first, count = plan.first[window, None], plan.count[window, None]
        inside = (token >= first) & (token < first + count) & used[:, layer, None]  # [M, T]
        place = (token - plan.offset[window, None]).clamp(0, plan.width - 1)  # [M, T]
        row = rows[window, :, mention_slot]  # [M, H, L]
        row = row.gather(2, place[:, None].expand(-1, row.shape[1], -1))  # [M, H, T]
        merged = merged + row * inside[:, None]
    renormalised = merged / (merged.sum(-1, keepdim=True) + EPSILON)
    return torch.where(plan.split[mention_document][:, None, None], renormalised, merged)
