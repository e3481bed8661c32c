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
from typing import NamedTuple

import torch
from torch import Tensor

from unnoted.models.batch import Batch
from unnoted.models.pooling import segment_mean

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


class WindowPlan(NamedTuple):
    """The windows of a batch of D documents and T tokens as index tensors; W windows of L tokens.

    Attributes:
        windows: in order.
        lengths: the number of tokens of each document.
        document: int64 [W], row into the batch's documents.
        first: int64 [W], the first token of the document in the window.
        offset: int64 [W], token t of the document is at position t - offset of the window.
        source: int64 [W, L], the token of the document at each position: its first at an inserted start token and
            its last at an inserted end token.
        mask: int64 [W, L], 0 at padding.
        place: int64 [W, L], where the state of each position goes: the token of the document; T from inserted
            tokens and padding.
    """

    windows: tuple[Window, ...]
    lengths: tuple[int, ...]
    document: Tensor
    first: Tensor
    offset: Tensor
    source: Tensor
    mask: Tensor
    place: Tensor


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
    offset = first - torch.tensor([window.starts for window in windows])
    widths = torch.tensor([window.width for window in windows])
    position = torch.arange(int(widths.max()))  # [L]
    token = position + offset[:, None]  # [W, L]
    before, after = token < first[:, None], token >= (first + count)[:, None]
    last = torch.tensor(lengths)[document][:, None] - 1
    source = token.where(~before, 0).where(~after, last)
    place = token.masked_fill(before | after, max(lengths))
    mask = (position < widths[:, None]).long()
    tensors = (each.to(device, non_blocking=True) for each in (document, first, offset, source, mask, place))
    return WindowPlan(windows, tuple(lengths), *tensors)


def merge_states(plan: WindowPlan, states: Tensor) -> Tensor:
    """The windows' states [W, L, d] as the documents' states [D, T, d]: the mean over the windows."""
    documents, width = len(plan.lengths), max(plan.lengths) + 1  # the last place is for what counts nowhere
    row = (plan.document[:, None] * width + plan.place).flatten()
    merged = segment_mean(states.flatten(0, 1), row, documents * width)
    return merged.view(documents, width, states.shape[2])[:, :-1]


class MentionPositions(NamedTuple):
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
        token = batch.mention_position - plan.first[:, None]  # [W, M]
        count = torch.tensor([window.count for window in plan.windows], device=batch.device)
        covers = (plan.document[:, None] == batch.mention_document) & (token >= 0) & (token < count[:, None])
        window, mention = covers.nonzero(as_tuple=True)  # [N], by window
        rank = covers.long().cumsum(1)[window, mention] - 1
        table = token.new_zeros(len(plan.windows), max(1, int(covers.sum(1).max())))
        table[window, rank] = batch.mention_position[mention] - plan.offset[window]
        return cls(mention, window, rank, table)


def merge_attention(plan: WindowPlan, positions: MentionPositions, rows: Tensor, batch: Batch) -> Tensor:
    """The attention of each entity over its document, [E, H, T]: the mean over its mentions.

    A mention's attention is the sum over the windows in which it lies, without inserted tokens, renormalised
    where the document was split. Nothing of size mentions x tokens of the document is made.

    Args:
        plan: of the windows.
        positions: of the mentions.
        rows: [N, H, L], the attention from each position over its window.
        batch: the documents.
    """
    entities, width = len(batch.entity_document), max(plan.lengths) + 1
    place = plan.place[positions.window]  # [N, L]
    rows = rows.masked_fill((place == width - 1).unsqueeze(1), 0)
    mass = rows.new_zeros(len(batch.mention_entity), rows.shape[1])  # [M, H]
    mass = mass.index_add(0, positions.mention, rows.sum(2))
    is_split = plan.document.bincount(minlength=len(plan.lengths)) > 1  # [D]
    mass = torch.where(is_split[batch.mention_document].unsqueeze(1), mass + EPSILON, 1)
    size = batch.mention_entity.bincount(minlength=entities)[batch.mention_entity].unsqueeze(1)  # [M, 1]
    weighted = rows / (mass * size)[positions.mention].unsqueeze(2)  # [N, H, L]
    row = batch.mention_entity[positions.mention].unsqueeze(1) * width + place  # [N, L]
    total = rows.new_zeros(entities * width, rows.shape[1])
    total = total.index_add(0, row.flatten(), weighted.transpose(1, 2).flatten(0, 1))
    return total.view(entities, width, rows.shape[1])[:, :-1].transpose(1, 2)
