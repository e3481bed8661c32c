"""What is mentioned at each token, for encoders that want to be told."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unnoted.models.batch import Batch

PLACES_AT_ONCE = 2**24
"""How many places (documents x mentions x tokens) are looked at in one go."""


@dataclass(frozen=True, slots=True, eq=False)
class MentionTable:
    """Which mention each token belongs to.

    A mention's tokens are those from its position to its end, both included. Where mentions overlap, the one
    that comes last among the mentions of its document counts.

    Attributes:
        batch: the documents.
        latest: int64 [D, T], the mention's slot plus 1; 0 outside mentions.
    """

    batch: Batch
    latest: Tensor

    @classmethod
    def of(cls, batch: Batch, width: int) -> "MentionTable":
        """The mentions at the first `width` tokens (T)."""
        token = torch.arange(width, device=batch.device)
        number = torch.arange(batch.mentions + 1, dtype=torch.int32, device=batch.device)
        first, last = _by_slot(batch, batch.mention_position), _by_slot(batch, batch.mention_end, empty=-1)
        latest = number.new_zeros(len(batch.lengths), width)  # [D, T]
        at_once = max(1, PLACES_AT_ONCE // latest.numel())
        for some in torch.split(number, at_once):
            from_, to = first[:, some, None], last[:, some, None]
            inside = (from_ <= token) & (token <= to)  # [D, some, T]
            latest = torch.maximum(latest, (inside * some[:, None]).amax(1))
        return cls(batch, latest.long())

    def at_tokens(self, values: Tensor) -> Tensor:
        """What is said of mentions, int64 [M], at each of their tokens, [D, T]; 0 outside mentions."""
        return _by_slot(self.batch, values).gather(1, self.latest)


def mention_inputs(batch: Batch, width: int) -> dict[str, Tensor]:
    """The type and the entity that each token belongs to, by the names under which an encoder takes them.

    Args:
        batch: the documents.
        width: how many tokens of them (T).

    Returns:
        `mention_types`, int64 [D, T], the number of the type; 0 outside mentions and for unknown types.
        `mention_entities`, int64 [D, T], the entity's index in its document plus 1; 0 outside mentions.
    """
    table = MentionTable.of(batch, width)
    return {
        "mention_types": table.at_tokens(batch.mention_type),
        "mention_entities": table.at_tokens(batch.entity_slot[batch.mention_entity] + 1),
    }


def _by_slot(batch: Batch, values: Tensor, empty: int = 0) -> Tensor:
    """Values of mentions by document and slot, [D, 1 + mentions]; column 0 stands for no mention."""
    table = values.new_full((len(batch.lengths), batch.mentions + 1), empty)
    table[batch.mention_document, batch.mention_slot + 1] = values
    return table
