"""Documents longer than the encoder's limit: overlapping windows, and how their outputs are merged.

Between the limit and what two windows cover, this is the rule of ATLOP's authors: the first window holds the
document's first tokens and an inserted end token, the second an inserted start token and the document's last
tokens. Longer documents get evenly spaced windows between the two, each with both tokens inserted. Where
windows overlap, states are averaged; attention is added, without the columns of inserted tokens, and
renormalised to sum 1. Every token lies in a window, so no mention is lost.

A plan is made on the CPU from the documents' lengths alone; applying it is indexing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unnoted.models.batch import Batch

EPSILON = 1e-10
"""Keeps the renormalisation of attention finite."""


@dataclass(frozen=True, slots=True)
class Window:
    """`count` tokens of a document from token `first` on, between inserted tokens.

    Attributes:
        document: row into the batch's documents.
        first: the first token of the document in the window.
        count: the number of tokens of the document.
        starts: the number of start tokens inserted before them (0 or 1).
        ends: the number of end tokens inserted after them (0 or 1).
    """

    document: int
    first: int
    count: int
    starts: int = 0
    ends: int = 0

    @property
    def width(self) -> int:
        """The number of tokens that the encoder sees."""
        return self.starts + self.count + self.ends


def split_document(document: int, length: int, limit: int) -> list[Window]:
    """The windows of one document, in order.

    Example:
        >>> [(window.first, window.count) for window in split_document(0, 600, limit=512)]
        [(0, 511), (89, 511)]
        >>> [(window.first, window.count) for window in split_document(0, 1024, limit=512)]
        [(0, 511), (256, 510), (513, 511)]
    """
    if length <= limit:
        return [Window(document, 0, length)]
    if limit < 4:
        raise ValueError(f"windows need an encoder limit of at least 4 tokens, not {limit}")
    outer, inner = limit - 1, limit - 2
    last_first = length - outer
    windows = 2
    if length > 2 * outer:
        overlap = max(1, limit // 8)
        windows = 1 + -(-last_first // (inner - overlap))
    middle = [
        Window(document, last_first * step // (windows - 1), inner, starts=1, ends=1)
        for step in range(1, windows - 1)
    ]
    return [Window(document, 0, outer, ends=1), *middle, Window(document, last_first, outer, starts=1)]


@dataclass(frozen=True, slots=True, eq=False)
class WindowPlan:
    """The windows of a batch as index tensors; W windows of L tokens, C the most windows over one token.

    Attributes:
        windows: in order.
        document: int64 [W], row into the batch's documents.
        source: int64 [W, L], the token of the document at each position of the window.
        mask: int64 [W, L], 0 at padding.
        slot: int64 [D, T, C], where token t's states are: window * L + position in it.
        used: bool [D, T, C], False where fewer than C windows cover the token.
        is_split: bool [D], whether the document has more than one window.
    """

    windows: tuple[Window, ...]
    document: Tensor
    source: Tensor
    mask: Tensor
    slot: Tensor
    used: Tensor
    is_split: Tensor

    @property
    def width(self) -> int:
        """L, the number of tokens of the widest window."""
        return self.source.shape[1]


def plan_windows(lengths: Sequence[int], limit: int, device: torch.device | str = "cpu") -> WindowPlan:
    """Plan the windows of documents of these lengths for an encoder that takes `limit` tokens."""
    windows = tuple(
        window
        for document, length in enumerate(lengths)
        for window in split_document(document, length, limit)
    )
    document = torch.tensor([window.document for window in windows])
    first = torch.tensor([window.first for window in windows])
    count = torch.tensor([window.count for window in windows])
    offset = first - torch.tensor([window.starts for window in windows])  # token t is at position t - offset
    widths = torch.tensor([window.width for window in windows])
    position = torch.arange(int(widths.max()))  # [L]
    source = position + offset[:, None]  # [W, L]
    last = torch.tensor(lengths)[document][:, None] - 1
    source = torch.where(source < first[:, None], 0, source)
    source = torch.where(source >= (first + count)[:, None], last, source)
    mask = (position < widths[:, None]).long()
    slot, used = _token_slots(document, first, count, offset, len(lengths), max(lengths), len(position))
    is_split = torch.bincount(document, minlength=len(lengths)) > 1
    tensors = (document, source, mask, slot, used, is_split)
    return WindowPlan(windows, *(tensor.to(device, non_blocking=True) for tensor in tensors))


def _token_slots(
    document: Tensor, first: Tensor, count: Tensor, offset: Tensor, documents: int, tokens: int, width: int
) -> tuple[Tensor, Tensor]:
    # A list of what is covered rather than a table of windows by tokens, which grows with the square.
    window = torch.repeat_interleave(count)  # [sum of counts]
    covered = torch.arange(len(window)) - (count.cumsum(0) - count - first)[window]  # the token
    token = document[window] * tokens + covered
    order = token.argsort(stable=True)  # by token, then by window
    total = torch.bincount(token, minlength=documents * tokens)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order)) - (total.cumsum(0) - total)[token[order]]
    slot = torch.zeros(documents, tokens, int(total.max()), dtype=torch.int64)
    used = torch.zeros(slot.shape, dtype=torch.bool)
    index = (document[window], covered, rank)
    slot[index] = window * width + covered - offset[window]
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


@dataclass(frozen=True, slots=True, eq=False)
class MentionPositions:
    """The positions of mentions in windows: N by window, since a mention may lie in several.

    Attributes:
        mention: int64 [N], row into the batch's mentions.
        window: int64 [N], ascending.
        rank: int64 [N], index among those of the window.
        table: int64 [W, most in a window], the positions in each window by their rank; 0 where there are fewer.
    """

    mention: Tensor
    window: Tensor
    rank: Tensor
    table: Tensor

    @classmethod
    def from_plan(cls, plan: WindowPlan, batch: Batch) -> "MentionPositions":
        """The positions of all mentions of a batch."""
        document, position = batch.mention_document, batch.mention_position
        mention, layer = plan.used[document, position].nonzero(as_tuple=True)  # [N]
        slot = plan.slot[document, position][mention, layer]
        window, order = (slot // plan.width).sort(stable=True)
        count = window.bincount(minlength=len(plan.windows))
        rank = torch.arange(len(window), device=window.device) - (count.cumsum(0) - count)[window]
        table = slot.new_zeros(len(plan.windows), max(1, int(count.max())))
        table[window, rank] = slot[order] % plan.width
        return cls(mention[order], window, rank, table)


def merge_attention(plan: WindowPlan, positions: MentionPositions, rows: Tensor, batch: Batch) -> Tensor:
    """The attention of each entity over its document, [E, H, T]: the mean over its mentions.

    A mention's attention is the sum over the windows in which it lies, renormalised where the document was
    split. Nothing of size mentions x tokens of the document is made.

    Args:
        plan: of the windows.
        positions: of the mentions.
        rows: [N, H, L], the attention from each position over its window.
        batch: the documents.
    """
    counts = positions.window.bincount(minlength=len(plan.windows)).tolist()
    pieces = []  # the positions of each window, and their attention to tokens of the document
    for window, mentions, own in zip(
        plan.windows, torch.split(positions.mention, counts), torch.split(rows, counts), strict=True
    ):
        if len(mentions):
            pieces.append((window, mentions, own[:, :, window.starts : window.starts + window.count]))
    mass = rows.new_zeros(len(batch.mention_entity), rows.shape[1])  # [M, H]
    for _, mentions, inside in pieces:
        mass = mass.index_add(0, mentions, inside.sum(2))
    size = batch.mention_entity.bincount(minlength=len(batch.entity_document)).to(rows.dtype)  # [E]
    is_split = plan.is_split[batch.mention_document].unsqueeze(1)
    weight = 1 / (
        size[batch.mention_entity].unsqueeze(1) * torch.where(is_split, mass + EPSILON, 1)
    )  # [M, H]
    total = rows.new_zeros(len(batch.entity_document), rows.shape[1], max(batch.lengths))
    for window, mentions, inside in pieces:
        tokens = slice(window.first, window.first + window.count)
        weighted = inside * weight[mentions].unsqueeze(2)
        total[:, :, tokens].index_add_(0, batch.mention_entity[mentions], weighted)
    return total
