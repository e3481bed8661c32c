"""The attention of entities in documents too long, or with too many mentions, for a row for each mention.

A row for each mention over the whole document takes mentions x heads x tokens: 12 GB for 5,000 mentions in
50,000 words. Pairs need the mean over each entity's mentions only. So rows are made where they are not 0, in
the windows that a mention stands in, or for some mentions at a time, and added up for each entity at once.

The sums run in another order than those of `merge_rows` and `segment_mean`: last digits differ. Therefore all
documents of ordinary size go the other way.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from unnoted.models.batch import Batch
from unnoted.models.encoders.windows import EPSILON, WindowPlan
from unnoted.models.kernels.attention_rows import attention_rows

ROWS_KEPT = 2**26
"""How many numbers (mentions x heads x tokens) the rows of a batch's mentions may have: 256 MB."""

MATRIX_TOKENS = 2048
"""The longest document whose attention from every token to every other is made whole."""

ROWS_AT_ONCE = 2**23
"""How many numbers of rows are made at a time where they are added up."""


def too_many_rows(batch: Batch, heads: int) -> bool:
    """Whether the rows of all mentions, padded to documents of equal size, are more than are kept."""
    return len(batch.lengths) * batch.mentions * heads * max(batch.lengths) > ROWS_KEPT


def too_long_for_matrices(tokens: int) -> bool:
    """Whether attention from every token to every other is not to be made."""
    return tokens > MATRIX_TOKENS


@dataclass(frozen=True, slots=True, eq=False)
class MentionPlaces:
    """Where mentions stand in windows: K places by window, since a mention may stand in several.

    Attributes:
        mention: int64 [K], row into the batch's mentions.
        window: int64 [K], ascending.
        rank: int64 [K], the number of the place among those of its window.
        place: int64 [K], the place in the window.
        windows: how many windows there are.
    """

    mention: Tensor
    window: Tensor
    rank: Tensor
    place: Tensor
    windows: int

    @classmethod
    def of(cls, plan: WindowPlan, batch: Batch) -> "MentionPlaces":
        """The places of all mentions of a batch."""
        document, position = batch.mention_document, batch.mention_position
        mention, layer = plan.used[document, position].nonzero(as_tuple=True)  # [K]
        slot = plan.slot[document, position][mention, layer]
        window = slot // plan.width
        order = window.argsort(stable=True)
        window = window[order]
        count = window.bincount(minlength=len(plan.widths))
        rank = torch.arange(len(window), device=window.device) - (count.cumsum(0) - count)[window]
        return cls(mention[order], window, rank, slot[order] % plan.width, len(plan.widths))

    def within(self, start: int, stop: int) -> "MentionPlaces":
        """Those of some windows."""
        chosen = (self.window >= start) & (self.window < stop)
        return MentionPlaces(
            self.mention[chosen], self.window[chosen], self.rank[chosen], self.place[chosen], self.windows
        )

    @property
    def table(self) -> Tensor:
        """The places in each window by their rank, int64 [W, most in a window]; 0 where there are fewer."""
        most = int(self.rank.max()) + 1 if len(self.rank) else 1
        table = self.place.new_zeros(self.windows, most)
        table[self.window, self.rank] = self.place
        return table


def merge_entity_rows(plan: WindowPlan, places: MentionPlaces, rows: Tensor, batch: Batch) -> Tensor:
    """The mean over each entity's mentions of what `merge_rows` gives, [N, H, T].

    Args:
        plan: of the windows.
        places: of the mentions.
        rows: [K, H, L], the attention from each place over its window.
        batch: the documents.
    """
    spans = list(zip(plan.first.tolist(), plan.count.tolist(), plan.offset.tolist(), strict=True))
    bounds = [0, *places.window.bincount(minlength=places.windows).cumsum(0).tolist()]
    inner = [
        (slice(bounds[window], bounds[window + 1]), slice(first, first + count), first - offset)
        for window, (first, count, offset) in enumerate(spans)
        if bounds[window] < bounds[window + 1]
    ]
    mass = rows.new_zeros(len(batch.mention_entity), rows.shape[1])  # [M, H]
    for chosen, tokens, start in inner:
        inside = rows[chosen, :, start : start + tokens.stop - tokens.start]
        mass = mass.index_add(0, places.mention[chosen], inside.sum(2))
    split = plan.split[batch.mention_document].unsqueeze(1)
    weight = _shares(batch, rows.dtype).unsqueeze(1) / torch.where(split, mass + EPSILON, 1)  # [M, H]
    total = rows.new_zeros(batch.entity_document.shape[0], rows.shape[1], max(batch.lengths))
    for chosen, tokens, start in inner:
        mention = places.mention[chosen]
        inside = rows[chosen, :, start : start + tokens.stop - tokens.start] * weight[mention].unsqueeze(2)
        total[:, :, tokens].index_add_(0, batch.mention_entity[mention], inside)
    return total


def own_entity_rows(query: Tensor, key: Tensor, mask: Tensor, batch: Batch) -> Tensor:
    """The mean over each entity's mentions of the attention of some queries, [N, H, T].

    Args:
        query: [D, H, T, d].
        key: [D, H, T, d].
        mask: int64 [D, T], 0 at padding.
        batch: the documents.
    """
    _, heads, tokens, _ = query.shape
    share = _shares(batch, torch.promote_types(query.dtype, torch.float32))
    at_once = max(1, ROWS_AT_ONCE // (heads * tokens))
    total = share.new_zeros(batch.entity_document.shape[0], heads, tokens)
    for document in range(len(query)):
        own = (batch.mention_document == document).nonzero().squeeze(1)
        one = slice(document, document + 1)
        for mention in torch.split(own, at_once):
            parts = query[one], key[one], mask[one], batch.mention_position[mention], share[mention]
            if torch.is_grad_enabled():
                rows = checkpoint(_weighted_rows, *parts, use_reentrant=False)
            else:
                rows = _weighted_rows(*parts)
            total = total.index_add_(0, batch.mention_entity[mention], rows)
    return total


def _weighted_rows(query: Tensor, key: Tensor, mask: Tensor, position: Tensor, share: Tensor) -> Tensor:
    """The rows [m, H, T] of one document's queries at some positions, each times its share."""
    rows = attention_rows(query, key, position.unsqueeze(0), mask[:, None, None] == 1)  # [1, H, m, T]
    return rows.squeeze(0).transpose(0, 1) * share.to(rows.dtype)[:, None, None]


def _shares(batch: Batch, dtype: torch.dtype) -> Tensor:
    """One divided by the number of mentions of its entity, for each mention, [M]."""
    count = batch.mention_entity.bincount(minlength=batch.entity_document.shape[0])
    return 1 / count.to(dtype)[batch.mention_entity]
